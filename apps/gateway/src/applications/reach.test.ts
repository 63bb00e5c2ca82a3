import { networkInterfaces } from 'node:os'
import type { LookupAddress } from 'node:dns'
import { describe, expect, test } from 'vitest'
import { applicationsSettings } from './schema.ts'
import { lookupFor, refusalOf } from './reach.ts'

const OWN_PORT = 8080
const [ownAddress] = Object.values(networkInterfaces()).flatMap((all) => all ?? [])

describe('an application cannot be', () => {
  test.each([
    ['169.254.169.254', 80],
    ['::ffff:169.254.169.254', 80],
    ['fe80::a9fe:a9fe', 80],
    ['fd00:ec2::254', 80],
    ['100.100.100.200', 80],
    ['0.0.0.0', 5000],
    ['::', 5000],
    ['224.0.0.251', 80],
    ['255.255.255.255', 80],
    ['127.0.0.1', OWN_PORT],
    ['127.1.2.3', OWN_PORT],
    ['::1', OWN_PORT],
    ['::ffff:127.0.0.1', OWN_PORT],
    [ownAddress!.address, OWN_PORT],
  ])('at %s, port %i', (address, port) => expect(refusalOf(address, port, OWN_PORT)).toMatch(/\w/))

  test.each([
    'http://169.254.169.254',
    'http://[fe80::1]',
    'http://2852039166',
    'http://0',
    'http://0x7f.1:80/x',
    'ftp://127.0.0.1',
    'http://user:pass@127.0.0.1',
  ])('at %s: an error of gateway.yaml', (url) => {
    expect(applicationsSettings.safeParse({ evil: { url } }).error?.issues).toMatchObject([{ path: ['evil', 'url'] }])
  })

  test.each([
    [{ user: 'host' }, ['user']],
    [{ user: 'X-Hub-User' }, ['user']],
    [{ user: 'content-length' }, ['user']],
    [{ user: 'a b' }, ['user']],
    [{ user: 'x-user', role: 'X-USER' }, []],
    [{ role: 'x-role' }, ['user']],
  ])('configured to learn who asks by %j', (headerMap, path) => {
    const parsed = applicationsSettings.safeParse({ grafana: { url: 'http://127.0.0.1', headerMap } })
    expect(parsed.error?.issues).toMatchObject([{ path: ['grafana', 'headerMap', ...path] }])
  })

  test.each(['Frigate', 'a.b', '-a', 'a-', '', 'device', 'ui-target', 'a'.repeat(25), 'ü', 'a b'])(
    'named %j',
    (name) => {
      expect(applicationsSettings.safeParse({ [name]: { url: 'http://127.0.0.1' } }).success).toBe(false)
    },
  )
})

test.each([
  ['127.0.0.1', 5000],
  ['::1', 8971],
  ['192.168.1.1', OWN_PORT],
  ['10.0.0.1', 80],
  ['2001:db8::1', 443],
])('an application may be at %s, port %i', (address, port) =>
  expect(refusalOf(address, port, OWN_PORT)).toBeUndefined(),
)

test('a name leads only to addresses that an application may have', async () => {
  const resolve = (own: number) =>
    new Promise<LookupAddress[]>((done, fail) =>
      lookupFor(new URL(`http://localhost:${OWN_PORT}`), () => own)('localhost', { all: true }, (error, found) =>
        error ? fail(error) : done(found as LookupAddress[]),
      ),
    )
  expect((await resolve(1)).length).toBeGreaterThan(0)
  await expect(resolve(OWN_PORT)).rejects.toThrow(/own interface/)
})
