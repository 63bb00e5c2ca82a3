import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOrigins, parseHost, type Place } from './origins.ts'

const ID = 'abcdefgh2345'
const plain = createOrigins({})
const wildcard = createOrigins({ gatewayOrigin: 'https://gw-{id}.example.net' })
const suffixed = createOrigins({ gatewayOrigin: 'https://{id}-gw.example.net' })
const place: fc.Arbitrary<Place> = fc.record({
  gatewayId: fc.stringMatching(/^[a-z2-7]{12}$/),
  application: fc.option(fc.stringMatching(/^[a-z](?:[a-z0-9-]{0,22}[a-z0-9])?$/), { nil: undefined }),
})

describe('the origin of a gateway', () => {
  it.each([
    ['http://localhost:8080', { localhost: `http://gw-${ID}.localhost:8080`, ports: 'http://localhost:8100' }],
    ['http://localhost', { localhost: `http://gw-${ID}.localhost`, ports: 'http://localhost:8100' }],
    ['http://192.168.1.5:8080', { ports: 'http://192.168.1.5:8100' }],
    ['http://127.0.0.1:8080', { ports: 'http://127.0.0.1:8100', localhost: `http://gw-${ID}.localhost:8080` }],
    ['http://[::1]:8080', { ports: 'http://[::1]:8100', localhost: `http://gw-${ID}.localhost:8080` }],
    ['http://[fd00::5]:8080', { ports: 'http://[fd00::5]:8100' }],
    ['http://hub.lan', { ports: 'http://hub.lan:8100' }],
    ['https://localhost:8443', { 'tls-ports': 'https://localhost:8100' }],
    ['https://127.0.0.1:8443', { 'tls-ports': 'https://127.0.0.1:8100' }],
    ['https://[fd00::5]:8443', { 'tls-ports': 'https://[fd00::5]:8100' }],
    ['https://hub.lan', { 'tls-ports': 'https://hub.lan:8100' }],
  ])('for a hub at %s has the scheme of the hub, the best way first: %o', (hub, origins) => {
    const modes = plain.modesFor(new URL(hub))
    const made = modes.map((mode) => [mode, plain.originOf({ gatewayId: ID }, mode, new URL(hub), 8100)])
    expect(made).toEqual(Object.entries(origins))
  })

  it.each(['http://localhost:8080', 'http://192.168.1.5', 'https://hub.example.org'])(
    'is that of HUB_GATEWAY_ORIGIN, also for a hub at %s',
    (hub) => {
      expect(wildcard.modesFor(new URL(hub))).toEqual(['wildcard'])
      expect(wildcard.originOf({ gatewayId: ID }, 'wildcard', new URL(hub))).toBe(`https://gw-${ID}.example.net`)
    },
  )

  it.each([
    'https://example.net',
    'https://gw.{id}.net',
    'ftp://gw-{id}.example.net',
    'https://gw-{id}.example.net/x',
    'gw-{id}',
  ])('cannot be made from %s', (gatewayOrigin) =>
    expect(() => createOrigins({ gatewayOrigin })).toThrow(/HUB_GATEWAY_ORIGIN must look like/),
  )

  it('is refused over plain http to another machine, where the session cookie is unsafe', () => {
    expect(() => createOrigins({ gatewayOrigin: 'http://gw-{id}.lan' })).toThrow(/must be https/)
    expect(
      createOrigins({ gatewayOrigin: 'http://gw-{id}.localhost:8080' }).locate(`gw-${ID}.localhost:8080`)?.mode,
    ).toBe('wildcard')
  })
})

describe('the gateway of a Host', () => {
  it.each([
    [`gw-${ID}.localhost:8080`, 'localhost'],
    [`GW-${ID.toUpperCase()}.LOCALHOST`, 'localhost'],
    [`gw-${ID}.example.net`, 'wildcard'],
    [`gw-${ID}.example.net:443`, 'wildcard'],
  ])('finds %s', (host, mode) => {
    expect(wildcard.locate(host)).toEqual({ gatewayId: ID, mode, authority: host.toLowerCase() })
  })

  it.each([
    undefined,
    '',
    'localhost:8080',
    'hub.example.net',
    `gw-${ID}.localhost.`,
    `gw-${ID}.localhost.evil.net`,
    `x.gw-${ID}.localhost`,
    `gw-${ID}x.localhost`,
    `gw-${ID}.exampleXnet`,
    `gw-${ID}.localhost:8080@hub`,
    `gw-${ID}.localhost, hub`,
  ])('leaves %s to the hub', (host) => expect(wildcard.locate(host)).toBeUndefined())

  it('finds every origin that it makes, of a gateway and of an application', () => {
    fc.assert(
      fc.property(place, fc.integer({ min: 1, max: 65535 }), (shown, port) => {
        for (const origins of [plain, wildcard, suffixed]) {
          const hub = new URL(`http://localhost:${port}`)
          const origin = origins.originOf(shown, origins.modesFor(hub)[0], hub)
          expect(origins.locate(new URL(origin).host)).toMatchObject(shown)
        }
      }),
    )
  })
})

describe('the policy of the hub', () => {
  it.each([
    ['localhost:8080', ['https://localhost:*', 'http://localhost:*', 'http://*.localhost:8080']],
    ['127.0.0.1:8080', ['https://127.0.0.1:*', 'http://127.0.0.1:*', 'http://*.localhost:8080']],
    ['192.168.1.5:8080', ['https://192.168.1.5:*', 'http://192.168.1.5:*']],
    ['[fd00::5]:8080', ['https:', 'http:']],
    ['evil; script-src *', []],
    [undefined, []],
  ])('for a page at %s allows its gateways and nothing that breaks it; over TLS only https', (host, sources) => {
    expect(plain.sourcesFor(host, false)).toEqual(sources)
    expect(plain.sourcesFor(host, true)).toEqual(sources.filter((source) => source.startsWith('https:')))
  })

  it('allows the wildcard, or both the public and the direct address', () => {
    expect(wildcard.sourcesFor('whatever', false)).toEqual(['https://*.example.net'])
    const origins = createOrigins({ publicUrl: 'http://hub.lan' })
    expect(origins.sourcesFor('10.0.0.1:8080', true)).toEqual(['https://10.0.0.1:*', 'https://hub.lan:*'])
  })

  it('never holds a character that ends a source or a directive', () => {
    fc.assert(
      fc.property(fc.string(), (host) => {
        for (const source of plain.sourcesFor(host, false)) expect(source).toMatch(/^https?:(\/\/[a-z0-9._*:-]+)?$/)
      }),
    )
  })
})

it('reads a Host header strictly', () => {
  expect(parseHost('Hub.LAN:80')).toEqual({ hostname: 'hub.lan', port: '80', authority: 'hub.lan:80' })
  for (const host of ['a b', 'a/b', 'a@b', 'a:b', 'a:123456', ':80', 'a..b', 'a.'])
    expect(parseHost(host)).toBeUndefined()
})
