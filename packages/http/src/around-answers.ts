/**
 * The parts that a proxy forwards around an answer: early hints before it (RFC 8297) and trailers after it (RFC 9110
 * §6.5).
 */
import type { ServerResponse } from 'node:http'
import { isFieldText, isToken } from './fields.ts'
import { headerPairs, hopByHopIn, namesIn, ordersAProxy, saysWhoAsks, valuesOf } from './forwarding.ts'

/** Fields that a recipient must read before the body, or that would give it other rights (RFC 9110 §6.5.1). */
const NEVER_TRAILERS = new Set(
  namesIn(`
  age alt-svc cache-control clear-site-data date expires host link location pragma referrer-policy refresh
  retry-after service-worker-allowed set-cookie strict-transport-security vary www-authenticate
`),
)
/** The same of requests: what decides about the request, or whose it is. */
const OF_REQUESTS = new Set(['accept', 'authorization', 'cookie', 'from', 'max-forwards', 'origin', 'range', 'referer'])
const NEVER_TRAILERS_BEGIN = ['access-control-', 'content-', 'cross-origin-', 'sec-', 'x-frame-', 'x-hub-']

/** The trailers of an answer that a proxy may forward. */
export function forwardedTrailers(raw: readonly string[]): string[] {
  const isHopByHop = hopByHopIn(raw)
  return headerPairs(raw).flatMap((field) => {
    const name = field[0].toLowerCase()
    const isRefused =
      isHopByHop(name) ||
      ordersAProxy(name) ||
      NEVER_TRAILERS.has(name) ||
      NEVER_TRAILERS_BEGIN.some((start) => name.startsWith(start))
    return isRefused ? [] : field
  })
}

/** The trailers of a request that a proxy may forward. They say nothing about who asks, and carry no secret. */
export function forwardedRequestTrailers(raw: readonly string[]): string[] {
  const isSafe = (name: string, value: string) =>
    !saysWhoAsks(name) && !OF_REQUESTS.has(name.toLowerCase()) && isToken(name) && isFieldText(value)
  return headerPairs(forwardedTrailers(raw)).flatMap((field) => (isSafe(...field) ? field : []))
}

/** Adds trailers to an answer; Node sends them when its body is chunked. */
export function addTrailers(response: ServerResponse, raw: readonly string[]): void {
  const trailers = forwardedTrailers(raw)
  if (trailers.length === 0) return
  // An object by name, because HTTP/2 accepts no list.
  const byName: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of headerPairs(trailers)) byName[name] = name in byName ? `${byName[name]}, ${value}` : value
  response.addTrailers(byName)
}

/** Forwards the links of an answer 103; its other headers are not for browsers. */
export function sendEarlyHints(response: ServerResponse, raw: readonly string[]): void {
  const links = valuesOf(raw, 'link')
  const { httpVersionMajor, httpVersionMinor } = response.req
  const isTooOld = httpVersionMajor === 1 && httpVersionMinor === 0
  if (links.length === 0 || isTooOld || response.headersSent || response.destroyed) return
  response.writeInformation(103, { Link: links.join(', ') })
}
