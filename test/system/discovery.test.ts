import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer } from 'dns-packet'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listPendingRegistrations } from '@hedgerow/contract'
import { findHubs } from '../../apps/gateway/src/hub/discovery.ts'
import { startGateway, type Gateway, type GatewayOptions } from '../../apps/gateway/src/gateway.ts'
import { createNameService } from '../../apps/gateway/src/kernel/name-service.ts'
import { pino } from 'pino'
import { startDnsServer, type DnsServer } from '../harness/dns-server.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const SERVICE = '_hedgerow._tcp.example.test'
const STRANGER = 'AAAA BBBB CCCC DDDD EEEE FFFF GGGG HHHH'

let dns: DnsServer

const srv = (
  target: string,
  port: number,
  options: { priority?: number; weight?: number; name?: string } = {},
): Answer => ({
  type: 'SRV',
  name: options.name ?? SERVICE,
  data: { target, port, priority: options.priority ?? 0, weight: options.weight ?? 0 },
})
const txt = (...data: string[]): Answer => ({ type: 'TXT', name: SERVICE, data })
const host = (name: string): Answer => ({ type: 'A', name, data: '127.0.0.1' })

beforeEach(async () => {
  dns = await startDnsServer()
})

afterEach(() => dns.stop())

describe('candidates from DNS', () => {
  const find = (domains: { hubDomain?: string; searchDomains?: string[] } = { hubDomain: 'example.test' }) => {
    const options = { hubUrl: undefined, hubDomain: domains.hubDomain, searchDomains: domains.searchDomains ?? [] }
    return findHubs(options, createNameService([dns.address]), () => 0.99)
  }

  test('are ordered by priority, then weight, over https unless TXT says otherwise, with the pins of TXT', async () => {
    dns.serve([
      srv('backup.example.test', 443, { priority: 20, weight: 100 }),
      srv('small.example.test', 8443, { priority: 10, weight: 1 }),
      srv('large.example.test', 8443, { priority: 10, weight: 99 }),
      txt(`fp=${STRANGER.toLowerCase()}`, 'future=thing'),
    ])
    const { candidates, problems } = await find()
    expect(problems).toEqual([])
    expect(candidates.map(({ url }) => url.origin)).toEqual([
      'https://large.example.test:8443',
      'https://small.example.test:8443',
      'https://backup.example.test',
    ])
    expect(candidates[0]).toMatchObject({ pins: [STRANGER], source: `DNS SRV ${SERVICE}` })
    dns.serve([srv('plain.example.test', 8080), txt('scheme=http')])
    expect((await find()).candidates[0]).toMatchObject({ url: new URL('http://plain.example.test:8080'), pins: [] })
  })

  test('the given domain comes before the search domains, each queried once', async () => {
    dns.serve([
      srv('a.example.test', 443, { name: '_hedgerow._tcp.a.example.test' }),
      srv('b.example.test', 443, { name: '_hedgerow._tcp.b.example.test' }),
    ])
    const found = await find({
      hubDomain: 'b.example.test',
      searchDomains: ['none.example.test', 'a.example.test', 'b.example.test'],
    })
    expect(found.candidates.map(({ url }) => url.hostname)).toEqual(['b.example.test', 'a.example.test'])
    expect(found.problems).toEqual([
      'DNS SRV _hedgerow._tcp.none.example.test: there is no such record: add the zone line ' +
        '_hedgerow._tcp.none.example.test. SRV 10 60 8443 HUB-NAME.',
    ])
    expect(dns.questions.filter((question) => question.startsWith('SRV'))).toEqual([
      'SRV _hedgerow._tcp.b.example.test',
      'SRV _hedgerow._tcp.none.example.test',
      'SRV _hedgerow._tcp.a.example.test',
    ])
  })

  test.each([
    ['says that it has no hub', [srv('.', 0)], 'the domain says that it has no hub'],
    ['pins something unreadable', [srv('hub.example.test', 443), txt('fp=1234')], 'fp= that is not a fingerprint'],
    ['names another scheme', [srv('hub.example.test', 443), txt('scheme=gopher')], 'other than http or https'],
  ])('a domain that %s has none, with the reason', async (_, records, reason) => {
    dns.serve(records)
    const { candidates, problems } = await find()
    expect(candidates).toEqual([])
    expect(problems).toEqual([expect.stringContaining(reason)])
  })
})

describe('a gateway that knows only a domain', () => {
  let hub: Hub
  let dataDir: string
  let gateway: Gateway | undefined

  beforeAll(async () => {
    hub = await startHub()
  })
  afterAll(() => hub.stop())
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-discovery-'))
  })
  afterEach(async () => {
    await gateway?.stop()
    gateway = undefined
    await rm(dataDir, { recursive: true, force: true })
  })

  async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
    gateway = await startGateway({
      name: 'Found by DNS',
      dataDir,
      host: '127.0.0.1',
      port: 0,
      hubDomain: 'example.test',
      searchDomains: [],
      dnsServers: [dns.address],
      log: pino({ level: 'silent' }),
      pace: { retryFirstMs: 100, retryMaxMs: 200 },
      ...options,
    })
    return gateway
  }
  const conditionOf = (step: string) => gateway!.state().conditions.find((condition) => condition.step === step)!

  test('finds the hub by its SRV record, skips a target that does not answer, and registers', async () => {
    const deadPort = await freeTcpPort()
    dns.serve([
      srv('dead.example.test', deadPort, { priority: 1 }),
      srv('hub.example.test', hub.port, { priority: 2 }),
      host('dead.example.test'),
      host('hub.example.test'),
      txt('scheme=http'),
    ])
    await start()
    const own = gateway!.state().fingerprint
    const pending = await waitFor(
      async () => (await hub.api(listPendingRegistrations)).find(({ fingerprint }) => fingerprint === own),
      { for: 'the registration of the gateway' },
    )
    await waitFor(() => conditionOf('registered').state === 'done', {
      for: 'the gateway to know that it is registered',
    })
    expect(pending.deviceName).toBe('Found by DNS')
    expect(gateway!.state()).toMatchObject({
      hubUrl: `http://hub.example.test:${hub.port}`,
      hubFingerprint: pending.hubFingerprint,
    })
    expect(conditionOf('hubFound')).toMatchObject({
      state: 'done',
      detail: expect.stringContaining(`DNS SRV ${SERVICE}`),
    })
  })

  test('keeps looking while the record is missing, and uses the hub as soon as it appears', async () => {
    await start()
    await waitFor(() => conditionOf('hubFound').state === 'failed', { for: 'the search to fail' })
    expect(conditionOf('hubFound').detail).toContain('there is no such record')
    dns.serve([srv('hub.example.test', hub.port), host('hub.example.test'), txt('scheme=http')])
    await waitFor(() => conditionOf('registered').state === 'done', { for: 'the registration' })
  })

  test('refuses a hub that is not the one pinned in the TXT record, naming both fingerprints', async () => {
    dns.serve([srv('hub.example.test', hub.port), host('hub.example.test'), txt('scheme=http', `fp=${STRANGER}`)])
    await start()
    await waitFor(() => conditionOf('hubFound').state === 'failed', { for: 'the hub to be refused' })
    const { detail } = conditionOf('hubFound')
    expect(detail).toContain(STRANGER)
    const shown = /it shows ((?:[A-Z2-7]{4} ?){8})/.exec(detail)?.[1]?.trim()
    expect(conditionOf('registered').state).toBe('waiting')
    dns.serve([srv('hub.example.test', hub.port), host('hub.example.test'), txt('scheme=http', `fp=${shown}`)])
    await waitFor(() => conditionOf('registered').state === 'done', { for: 'the registration under the right pin' })
    expect(gateway!.state().hubFingerprint).toBe(shown)
  })

  test('uses the given address, whatever DNS says', async () => {
    dns.serve([srv('elsewhere.example.test', await freeTcpPort())])
    await start({ hubUrl: new URL(hub.url) })
    await waitFor(() => conditionOf('registered').state === 'done', { for: 'the registration' })
    expect(dns.questions.filter((question) => question.startsWith('SRV'))).toEqual([])
  })
})
