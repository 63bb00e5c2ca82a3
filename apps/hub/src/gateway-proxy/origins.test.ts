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
    ['http://localhost:8080', undefined, `http://gw-${ID}.localhost:8080`, 'localhost'],
    ['http://localhost', undefined, `http://gw-${ID}.localhost`, 'localhost'],
    ['http://192.168.1.5:8080', 8100, 'http://192.168.1.5:8100', 'ports'],
    ['http://127.0.0.1:8080', 8100, 'http://127.0.0.1:8100', 'ports'],
    ['http://[fd00::5]:8080', 8100, 'http://[fd00::5]:8100', 'ports'],
    ['http://hub.lan', 8101, 'http://hub.lan:8101', 'ports'],
  ])('for a hub at %s is a name of localhost or a port of the same host', (hub, port, origin, mode) => {
    expect(plain.originOf({ gatewayId: ID }, new URL(hub), port)).toBe(origin)
    expect(plain.modeFor(new URL(hub))).toBe(mode)
  })

  it.each(['http://localhost:8080', 'http://192.168.1.5', 'https://hub.example.org'])(
    'is that of HUB_GATEWAY_ORIGIN, also for a hub at %s',
    (hub) => {
      expect(wildcard.modeFor(new URL(hub))).toBe('wildcard')
      expect(wildcard.originOf({ gatewayId: ID }, new URL(hub))).toBe(`https://gw-${ID}.example.net`)
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
          const origin = origins.originOf(shown, new URL(`http://localhost:${port}`))
          expect(origins.locate(new URL(origin).host)).toMatchObject(shown)
        }
      }),
    )
  })
})

describe('form-action of the hub', () => {
  it.each([
    ['localhost:8080', ['http://*.localhost:8080']],
    ['192.168.1.5:8080', ['http://192.168.1.5:*']],
    ['[fd00::5]:8080', ['http:']],
    ['evil; script-src *', []],
    [undefined, []],
  ])('for a page at %s allows its gateways and nothing that breaks the policy', (host, sources) => {
    expect(plain.formActionSources(host)).toEqual(sources)
  })

  it('allows the wildcard, or both the public and the direct address', () => {
    expect(wildcard.formActionSources('whatever')).toEqual(['https://*.example.net'])
    const origins = createOrigins({ publicUrl: 'http://hub.lan' })
    expect(origins.formActionSources('10.0.0.1:8080')).toEqual(['http://10.0.0.1:*', 'http://hub.lan:*'])
  })

  it('never holds a character that ends a source or a directive', () => {
    fc.assert(
      fc.property(fc.string(), (host) => {
        for (const source of plain.formActionSources(host)) expect(source).toMatch(/^http:(\/\/[a-z0-9._*:-]+)?$/)
      }),
    )
  })
})

it('reads a Host header strictly', () => {
  expect(parseHost('Hub.LAN:80')).toEqual({ hostname: 'hub.lan', port: '80', authority: 'hub.lan:80' })
  for (const host of ['a b', 'a/b', 'a@b', 'a:b', 'a:123456', ':80', 'a..b', 'a.'])
    expect(parseHost(host)).toBeUndefined()
})
