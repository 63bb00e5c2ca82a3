/**
 * The headers between a browser and a gateway. Pure, on raw header lists (name, value, name, value …), so order, case
 * and repetition survive. RFC 9110 §7.6.1 for what belongs to one hop.
 */
import { createHash } from 'node:crypto'
import { APPLICATION_HEADER, DEVICE_INTERFACE, GATEWAY_PORT } from '@hedgerow/contract'
import { hopByHopIn, ordersAProxy, rememberedByName, saysWhoAsks, valuesOf } from '@hedgerow/http'
import { REFUSAL_HEADER } from './refusal-page.ts'
import { cookieFromGateway, cookiesToGateway, type CookieJar } from './cookies.ts'

/** Headers with which a gateway could affect the whole host, its other ports or other gateways. */
const NOT_FROM_GATEWAYS = new Set([
  'clear-site-data',
  'strict-transport-security',
  'service-worker-allowed',
  'alt-svc',
  'cross-origin-resource-policy',
  REFUSAL_HEADER.toLowerCase(),
])

/**
 * No other origin may frame a gateway's answers or load them as a script, image or style: to a browser, gateways of one
 * host or domain are one site. The application's own policy stays, because browsers apply every policy.
 */
const FOR_THIS_ORIGIN_ONLY = Object.entries({
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "frame-ancestors 'self'",
}).flat()

/** The person and address of a request, as the gateway sees them. */
export type Visitor = {
  username: string
  role: string
  /** Names the person's session on this gateway, and no other gateway's. */
  session: string
  sourceIp: string
  /** The gateway's own origin, as the browser sees it. */
  origin: string
}

/** Besides the request itself, this decides which of its headers a gateway gets. */
export type ForGateway = { jar: CookieJar; visitor: Visitor; dropAuthorization: boolean }
/**
 * Besides the answer itself, this decides which of its headers the browser gets. `address`: the gateway's in the
 * tunnel.
 */
export type ForBrowser = { jar: CookieJar; origin: string; address: string }

type Fate = 'passes' | 'dropped' | 'authorization'
const fateOf = rememberedByName((name): Fate => {
  if (saysWhoAsks(name) || /^(?:host|cookie)$/i.test(name)) return 'dropped'
  return name.toLowerCase() === 'authorization' ? 'authorization' : 'passes'
})

/**
 * The header list for the gateway. Host stays the gateway origin's, so an application that compares Origin with Host,
 * or builds absolute addresses, works. `dropAuthorization` keeps the hub's token out.
 */
export function headersToGateway(raw: readonly string[], { jar, visitor, dropAuthorization }: ForGateway): string[] {
  const [scheme = '', host = ''] = visitor.origin.split('://')
  const isHopByHop = hopByHopIn(raw)
  const sent = ['Host', host]
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!
    const fate = fateOf(name)
    if (fate === 'dropped' || (fate === 'authorization' && dropAuthorization) || isHopByHop(name)) continue
    sent.push(name, raw[i + 1]!)
  }
  const cookies = isHopByHop('cookie') ? undefined : cookiesToGateway(valuesOf(raw, 'cookie').join(';'), jar)
  if (cookies !== undefined) sent.push('Cookie', cookies)
  sent.push('X-Forwarded-For', visitor.sourceIp, 'X-Forwarded-Host', host, 'X-Forwarded-Proto', scheme)
  sent.push('X-Hub-User', asHeaderText(visitor.username), 'X-Hub-Role', visitor.role)
  if (jar.application === undefined) sent.push('X-Hub-Session', visitor.session)
  sent.push(APPLICATION_HEADER, jar.application ?? DEVICE_INTERFACE)
  return sent
}

/** The header list for the browser. */
export function headersFromGateway(raw: readonly string[], { jar, origin, address }: ForBrowser): string[] {
  const isHopByHop = hopByHopIn(raw)
  const passed: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i]!, raw[i + 1]!]
    if (isHopByHop(name) || ordersAProxy(name)) continue
    const allowed = allowedFromGateway(name, value)
    if (allowed !== undefined) passed.push(name, allowed)
  }
  passed.push(...FOR_THIS_ORIGIN_ONLY)
  return passed

  /** The value that the browser gets; undefined when the header is not for it. */
  function allowedFromGateway(name: string, value: string): string | undefined {
    const lower = name.toLowerCase()
    if (NOT_FROM_GATEWAYS.has(lower)) return undefined
    if (lower === 'set-cookie') return cookieFromGateway(value, jar)
    if (lower === 'location') return rewriteLocation(value, origin, address)
    // Under no-referrer a page's own forms send `Origin: null`, which looks like another site's.
    if (lower === 'referrer-policy' && value.trim().toLowerCase() === 'no-referrer') return 'same-origin'
    return value
  }
}

/** Redirects between the gateway's own addresses stay on its origin; others stay unchanged. */
function rewriteLocation(location: string, origin: string, address: string): string {
  const [start = '', authority] = /^(?:https?:)?\/\/([^/?#\\]*)/i.exec(location) ?? []
  if (authority === undefined) return location
  if (![`${address}:${GATEWAY_PORT}`, new URL(origin).host].includes(authority.toLowerCase())) return location
  return `${origin}${location.slice(start.length)}`
}

/** Percent-encodes characters that a header cannot carry, and the percent sign. */
const asHeaderText = rememberedByName((text) =>
  text.replace(/[^\x21-\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed())),
)

/** A name of a person's session that says nothing of it, another one for each gateway. */
export function sessionMark({ sessionId, gatewayId }: { sessionId: string; gatewayId: string }): string {
  return createHash('sha256').update(`${sessionId} ${gatewayId}`).digest('base64url')
}
