import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { valuesOf } from '@hedgerow/http'
import { headersFromGateway, headersToGateway } from './headers.ts'

const ID = 'abcdefgh2345'
const origin = `http://gw-${ID}.localhost:8080`
const jar = { mode: 'localhost', gatewayId: ID } as const
const visitor = { username: 'ada', role: 'admin', session: 's1', sourceIp: '192.0.2.7', origin }

const toGateway = (...raw: string[]) => headersToGateway(raw, { jar, visitor, dropAuthorization: false })
const ISOLATION = ['Cross-Origin-Resource-Policy', 'same-origin', 'Content-Security-Policy', "frame-ancestors 'self'"]
/** The gateway's own headers that reach the browser. */
function fromGateway(...raw: string[]): string[] {
  const sent = headersFromGateway(raw, { jar, origin, address: '100.64.0.2' })
  expect(sent.slice(-ISOLATION.length)).toEqual(ISOLATION)
  return sent.slice(0, -ISOLATION.length)
}

it.each([
  'X-Accel-Redirect',
  'X_Accel_Redirect',
  'X-Accel-Buffering',
  'x-accel-limit-rate',
  'X-Sendfile',
  'X-SENDFILE',
  'X-Sendfile-Type',
  'X-Sendfile2',
  'X-LIGHTTPD-send-file',
  'X-LiteSpeed-Location',
  'X-Reproxy-URL',
  'X-Archive-Files',
  'Surrogate-Control',
  'CDN-Cache-Control',
])('%s of a gateway does not instruct the proxy in front of the hub', (name) =>
  expect(fromGateway(name, '/etc/passwd', 'X-Own', '1')).toEqual(['X-Own', '1']),
)

describe('a request on its way to the gateway', () => {
  it('names the visitor, the address and the host that the browser sees', () => {
    const sent = [
      ['Host', `gw-${ID}.localhost:8080`],
      ['Accept', '*/*'],
      ['X-Forwarded-For', '192.0.2.7'],
      ['X-Forwarded-Host', `gw-${ID}.localhost:8080`],
      ['X-Forwarded-Proto', 'http'],
      ['X-Hub-User', 'ada'],
      ['X-Hub-Role', 'admin'],
      ['X-Hub-Session', 's1'],
      ['x-hub-application', 'device'],
    ]
    expect(toGateway('Host', 'ignored', 'Accept', '*/*')).toEqual(sent.flat())
    const application = headersToGateway([], {
      jar: { ...jar, application: 'frigate' },
      visitor,
      dropAuthorization: false,
    })
    expect(application).not.toContain('s1')
  })

  it.each([
    'X-Hub-User',
    'x-hub-role',
    'X_Hub_User',
    'X-Hub-Session',
    'X-Hub-Anything',
    'X-Forwarded-For',
    'X-Forwarded-Prefix',
    'x_forwarded_for',
    'Forwarded',
    'X-Real-IP',
    'Remote-User',
    'REMOTE_USER',
    'Remote-Groups',
    'Remote-Name',
    'Remote-Email',
    'X-Remote-User',
    'X-Forwarded-User',
    'X-Auth-Request-User',
    'X-Auth-Request-Access-Token',
    'X-WebAuth-User',
    'X-Authenticated-User',
    'X-Authenticated-Groups',
    'X-authentik-username',
    'Ssl-Client-Cert',
    'SSL_CLIENT_S_DN',
    'X-SSL-Client-Verify',
    'Client-Cert',
    'Cf-Access-Authenticated-User-Email',
    'Tailscale-User-Login',
    'OIDC_CLAIM_sub',
    'X-Original-URL',
    'True-Client-IP',
    'X-Envoy-External-Address',
    'X-Token-Subject',
    'Impersonate-User',
    'Proxy',
  ])('accepts no %s from outside', (name) => {
    expect(toGateway(name, 'forged')).not.toContain('forged')
  })

  it.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
  ])('drops %s, which is for one hop', (name) => expect(toGateway(name, 'x')).not.toContain(name))

  it('drops headers that Connection names, but not the visitor’s, the host’s and the length’s', () => {
    const named = 'close, X-Own, x-hub-user, X-Forwarded-For, Content-Length, host, cookie'
    const sent = toGateway('Connection', named, 'X-Own', '1', 'Content-Length', '5', 'Cookie', 'a=1')
    expect(valuesOf(sent, 'x-own')).toEqual([])
    expect(valuesOf(sent, 'cookie')).toEqual([])
    expect(valuesOf(sent, 'content-length')).toEqual(['5'])
    expect(valuesOf(sent, 'x-hub-user')).toEqual(['ada'])
    expect(valuesOf(sent, 'x-forwarded-for')).toEqual(['192.0.2.7'])
    expect(valuesOf(sent, 'host')).toHaveLength(1)
  })

  it("keeps an application's own Authorization and drops the hub's", () => {
    expect(toGateway('Authorization', 'Basic YTpi')).toContain('Basic YTpi')
    const sent = headersToGateway(['authorization', 'Bearer hub'], { jar, visitor, dropAuthorization: true })
    expect(sent).not.toContain('Bearer hub')
  })

  it('percent-encodes a name that no header can carry', () => {
    const said = (username: string) =>
      valuesOf(
        headersToGateway([], { jar, visitor: { ...visitor, username }, dropAuthorization: false }),
        'x-hub-user',
      )[0]
    expect(said('Zoë 100%')).toBe('Zo%C3%AB%20100%25')
    expect(said('a\r\nX-Hub-Role: admin')).toBe('a%0D%0AX-Hub-Role:%20admin')
    // `unit: 'binary'` makes a map of all code points, which takes two seconds; this draws from the same.
    const unit = fc.nat({ max: 0x10ffff }).map((point) => String.fromCodePoint(point))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit }), fc.string()), (username) => {
        expect(said(username)).toMatch(/^[\x21-\x7e]*$/)
        expect(decodeURIComponent(said(username) ?? '')).toBe(username.toWellFormed())
      }),
    )
  })

  it('has one value for each visitor header, whatever is sent', () => {
    const name = fc.oneof(
      fc.constantFrom('X-Hub-User', 'x_hub-user', 'Connection', 'X-Forwarded-For'),
      fc.stringMatching(/^[\w-]{1,12}$/),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.stringMatching(/^[\x20-\x7e]{0,20}$/))), (headers) => {
        const sent = toGateway(...headers.flat())
        for (const own of ['x-hub-user', 'x-hub-role', 'x-forwarded-for', 'host'])
          expect(valuesOf(sent, own)).toHaveLength(1)
        expect(valuesOf(sent, 'x-hub-user')).toEqual(['ada'])
      }),
    )
  })
})

describe('an answer on its way to the browser', () => {
  it.each([
    'Clear-Site-Data',
    'Strict-Transport-Security',
    'service-worker-allowed',
    'Alt-Svc',
    'Cross-Origin-Resource-Policy',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
  ])('loses %s', (name) => expect(fromGateway(name, 'x', 'ETag', 'y')).toEqual(['ETag', 'y']))

  it('drops headers that Connection names, and otherwise keeps order and repetitions', () => {
    expect(fromGateway('Connection', 'X-Hop', 'X-Hop', '1', 'Vary', 'a', 'vary', 'b')).toEqual([
      'Vary',
      'a',
      'vary',
      'b',
    ])
  })

  it('keeps only cookies that are for this host', () => {
    expect(fromGateway('Set-Cookie', 'a=1; Domain=localhost', 'Set-Cookie', '__Host-gws=x')).toEqual([
      'Set-Cookie',
      'a=1',
    ])
  })

  it.each([
    ['http://100.64.0.2:8080/login?x=1#y', `${origin}/login?x=1#y`],
    ['https://100.64.0.2:8080', origin],
    ['//100.64.0.2:8080/x', `${origin}/x`],
    ['HTTP://100.64.0.2:8080\\x', `${origin}\\x`],
    [`https://gw-${ID}.localhost:8080/x`, `${origin}/x`],
  ])('redirects from one of the addresses of the gateway (%s) to its origin', (location, rewritten) => {
    expect(fromGateway('Location', location)).toEqual(['Location', rewritten])
  })

  it.each([
    '/login',
    'login',
    '?x',
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1:8080/',
    'http://localhost:8080/api/v1/auth/logout',
    'http://100.64.0.2:8081/',
    'http://100.64.0.2:8080.evil.net/',
    'http://100.64.0.2:8080@evil.net/',
    'http://user@100.64.0.2:8080/',
    '//evil.net/100.64.0.2:8080',
    'javascript:alert(1)',
  ])('leaves the redirect %s unchanged', (location) => {
    expect(fromGateway('Location', location)).toEqual(['Location', location])
  })

  it('keeps the application’s own policy beside the hub’s', () => {
    const own = ['Content-Security-Policy', "default-src 'self'; frame-ancestors *", 'X-Frame-Options', 'DENY']
    expect(fromGateway(...own)).toEqual(own)
  })

  it('lets a page’s own forms send their origin', () => {
    expect(fromGateway('Referrer-Policy', 'No-Referrer')).toEqual(['Referrer-Policy', 'same-origin'])
    expect(fromGateway('Referrer-Policy', 'origin')).toEqual(['Referrer-Policy', 'origin'])
  })
})
