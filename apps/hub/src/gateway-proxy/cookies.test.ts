import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cookieFromGateway,
  cookiesToGateway,
  overlongCookies,
  sessionCookie,
  sessionTokens,
  type CookieJar,
} from './cookies.ts'

const ID = 'abcdefgh2345'
const OTHER = 'zzzzzzzz7777'
const jars: CookieJar[] = [
  { mode: 'localhost', gatewayId: ID },
  { mode: 'ports', gatewayId: ID },
  { mode: 'tls-ports', gatewayId: ID },
  { mode: 'wildcard', gatewayId: ID },
]
const ports: CookieJar = { mode: 'ports', gatewayId: ID }
const tlsPorts: CookieJar = { mode: 'tls-ports', gatewayId: ID }
const wildcard: CookieJar = { mode: 'wildcard', gatewayId: ID }

describe('the session cookie', () => {
  it('is bound to the host, and to https or localhost where possible', () => {
    const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=3600'
    expect(sessionCookie(wildcard, 'T')).toBe(`__Host-gws=T; ${attributes}`)
    expect(sessionCookie({ mode: 'localhost', gatewayId: ID }, 'T')).toBe(`__Host-gws=T; ${attributes}`)
    expect(sessionCookie(tlsPorts, 'T')).toBe(`__Host-gws_${ID}=T; ${attributes}`)
    expect(sessionCookie(ports, 'T')).toBe(`gws_${ID}=T; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600`)
  })

  it('is found among others, also when a page planted a second one', () => {
    expect(sessionTokens(`a=1; gws_${ID}=planted;gws_${OTHER}=x; gws_${ID}=real`, ports)).toEqual(['planted', 'real'])
    expect(sessionTokens('gws=1; __Host-gws=real', wildcard)).toEqual(['real'])
    expect(sessionTokens(undefined, wildcard)).toEqual([])
  })
})

describe("a gateway's Set-Cookie", () => {
  it.each([
    ['sid=1; Domain=example.net; Path=/', 'sid=1; Path=/'],
    ['sid=1;dOmAiN = .example.net;Secure', 'sid=1; Secure'],
    ['sid=1; Domain', 'sid=1'],
    ['sid=a=b; HttpOnly', 'sid=a=b; HttpOnly'],
    ['sid=; Max-Age=0', 'sid=; Max-Age=0'],
  ])('%s is restricted to this host', (cookie, passed) => {
    expect(cookieFromGateway(cookie, wildcard)).toBe(passed)
    expect(cookieFromGateway(cookie, ports)).toBe(`g${ID}.${passed}`)
    const secured = passed.endsWith('; Secure') ? passed : `${passed}; Secure`
    expect(cookieFromGateway(cookie, tlsPorts)).toBe(`__Secure-g${ID}.${secured}`)
  })

  it.each([
    '__Host-gws=stolen; Path=/; Secure',
    '__host-anything=1',
    ' __HOST-gws =1',
    'gws=1',
    `gws_${OTHER}=1; Path=/`,
    'GWS_x=1',
    '=__Host-gws=1',
    ' =x',
    '__Host-gws',
    '',
  ])('%s is refused', (cookie) => {
    for (const jar of jars) expect(cookieFromGateway(cookie, jar)).toBeUndefined()
  })
})

describe('the Cookie header for a gateway', () => {
  it('holds its own cookies under their own names, and none of the hub’s', () => {
    expect(cookiesToGateway('__Host-gws=T; a=1;b=2', wildcard)).toBe('a=1; b=2')
    expect(cookiesToGateway(`gws_${ID}=T; g${ID}.a=1; g${OTHER}.a=2; gws_${OTHER}=U; hub=3`, ports)).toBe('a=1')
  })

  it('is left out when nothing remains', () => {
    expect(cookiesToGateway(`__Host-gws=T`, wildcard)).toBeUndefined()
    expect(cookiesToGateway(`a=1; g${ID}.=x; g${ID}.gws_x=1`, ports)).toBeUndefined()
    expect(cookiesToGateway(undefined, ports)).toBeUndefined()
  })

  it('returns exactly what the gateway set', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}$/).filter((text) => !/^(__host-|gws)/i.test(text))
    const value = fc.stringMatching(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{0,30}$/)
    fc.assert(
      fc.property(name, value, fc.constantFrom(...jars), (cookieName, cookieValue, jar) => {
        const stored = cookieFromGateway(`${cookieName}=${cookieValue}; Path=/`, jar)?.split(';')[0]
        expect(cookiesToGateway(`${sessionCookie(jar, 'T').split(';')[0]}; ${stored}`, jar)).toBe(
          `${cookieName}=${cookieValue}`,
        )
      }),
    )
  })

  it('never contains the session cookie, whatever else the browser sends', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom(...jars), (before, after, jar) => {
        const secret = 'Zq7-session-token'
        fc.pre(!before.includes(secret) && !after.includes(secret))
        const header = `${before.replaceAll(/[;=]/g, '')}=1; ${sessionCookie(jar, secret).split(';')[0]}; ${after}`
        expect(cookiesToGateway(header, jar) ?? '').not.toContain(secret)
      }),
    )
  })
})

describe('cookies that are together too long for a server', () => {
  const long = 'x'.repeat(4_000)

  it('are listed by their names in the browser, and only those of this gateway', () => {
    const mine = [1, 2, 3].map((n) => `g${ID}.a${n}=${long}`).join('; ')
    expect(overlongCookies(`gws_${ID}=T; ${mine}`, ports)).toEqual([`g${ID}.a1`, `g${ID}.a2`, `g${ID}.a3`])
    expect(overlongCookies([1, 2, 3].map((n) => `g${OTHER}.a${n}=${long}`).join('; '), ports)).toBeUndefined()
    expect(overlongCookies(`a=${long}; b=${long}`, wildcard)).toBeUndefined()
    expect(overlongCookies(`a=${long}; b=${long}; c=${long}`, wildcard)).toEqual(['a', 'b', 'c'])
  })
})
