import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findHubs, readHints, readSearchDomains } from './discovery.ts'
import { parseFingerprint } from './hub-trust.ts'
import { createNameService } from '../kernel/name-service.ts'
import { parseEndpoint } from '../tunnel/tunnel.ts'

describe('finding a hub', () => {
  test('a given address is the only candidate, without a DNS query', async () => {
    // No name server listens there: a query would take seconds and become a problem.
    const names = createNameService(['127.0.0.1:9'])
    const hubUrl = new URL('https://hub.example.net')
    const found = await findHubs({ hubUrl, hubDomain: 'example.net', searchDomains: ['lan'] }, names)
    expect(found).toEqual({ candidates: [{ url: hubUrl, pins: [], source: 'its address' }], problems: [] })
  })

  test('without an address and without a domain, the problem names the setting', async () => {
    const found = await findHubs({ hubUrl: undefined, hubDomain: undefined, searchDomains: [] }, createNameService([]))
    expect(found.candidates).toEqual([])
    expect(found.problems).toEqual([expect.stringContaining('--hub')])
  })

  test.each([
    ['search a.example b.example.\n', ['a.example', 'b.example']],
    ['# search no.example\nnameserver 192.0.2.1\ndomain one.example\nsearch two.example', ['two.example']],
    ['search .\n', []],
    ['', []],
  ])('search domains of resolv.conf %j', async (content, domains) => {
    const directory = await mkdtemp(join(tmpdir(), 'hedgerow-resolv-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    await writeFile(join(directory, 'resolv.conf'), content)
    expect(await readSearchDomains(join(directory, 'resolv.conf'))).toEqual(domains)
    expect(await readSearchDomains(join(directory, 'missing'))).toEqual([])
  })
})

const PIN = 'ABCD EFGH IJKL MNOP QRST UVWX YZ23 4567'

test.each([
  `fp=${PIN}`,
  `FP=${PIN}`,
  `Fp=${PIN.toLowerCase()}`,
  ` fp =${PIN}`,
  `ｆｐ=${PIN}`,
  // As forms of DNS providers store what people copy from a zone file or a document.
  `"fp=${PIN}"`,
  ` "fp=${PIN}" `,
  `'fp=${PIN}'`,
  `“fp=${PIN}”`,
  `„fp=${PIN}“`,
  `«fp=${PIN}»`,
  String.raw`\"fp=${PIN}\"`,
  `fp="${PIN}"`,
])('the TXT record %j pins the hub', (text) => {
  expect(readHints(['SCHEME=http', 'note=ours', 'v=1', text])).toEqual({ scheme: 'http', pins: [PIN] })
})

test.each([
  [`fp:${PIN}`],
  [`fp ${PIN}`],
  [PIN],
  [`fps=${PIN}`],
  [`fingerprint=${PIN}`],
  [`sha256=${PIN}`],
  ['fp'],
  ['fp='],
  ['fp1=short'],
  ['pin=short'],
  ['schema=http'],
  ['sheme=http'],
  ['shceme=http'],
  ['skeme=http'],
  ['scheme:http'],
  ['scheme http'],
  ['scheme=HTTP'],
  ['scheme'],
  [`v=hedgerow1 fp=${PIN}`],
  [`v=1; fp=${PIN}`],
  ['v=1; fp=short'],
  ['v=1 fp : short'],
  [`key="${PIN}"`],
  [`key=the hub shows ${PIN}.`],
  [`key=${PIN.replaceAll(' ', ':')}`],
  [`&quot;fp=${PIN}&quot;`],
  [`fp=${PIN};`],
])('the TXT record %j is refused: without its pin a hub would be trusted unseen', (text) => {
  expect(() => readHints([text])).toThrow('its TXT record has')
})

test('a refused TXT record is named with its text', () => {
  expect(() => readHints(['v=1; fp=short'])).toThrow('its TXT record has "v=1; fp=short", which is neither')
  expect(() => readHints(['fp=sh\nort'])).toThrow(String.raw`its TXT record has "fp=sh\nort"`)
})

test('other keys are skipped', () => {
  const others = ['v=1', 'note="ours"', 'contact=it@farm.example', 'owner=Hill farm, the north barn and its yard']
  expect(readHints(others)).toEqual({ scheme: 'https', pins: [] })
})

test('a fingerprint is accepted in every spelling, and nothing else is', () => {
  const written = 'ABCD EFGH IJKL MNOP QRST UVWX YZ23 4567'
  expect(parseFingerprint('abcd-efgh-ijkl-mnop-qrst-uvwx-yz23-4567')).toBe(written)
  expect(parseFingerprint('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')).toBe(written)
  expect(parseFingerprint(`${written} A`)).toBeUndefined()
  expect(parseFingerprint(written.replace('A', '1'))).toBeUndefined()
  expect(parseFingerprint('')).toBeUndefined()
})

test('endpoints name a host and a port, IPv6 in brackets', () => {
  expect(parseEndpoint('hub.example.net:51820')).toEqual({ host: 'hub.example.net', port: 51_820 })
  expect(parseEndpoint('[2001:db8::1]:51820')).toEqual({ host: '2001:db8::1', port: 51_820 })
})
