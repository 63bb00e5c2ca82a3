/**
 * Which headers of an HTTP message a proxy keeps to itself: the hub between a browser and a gateway, and the gateway before the
 * device's own application. Names are lower-case everywhere here.
 */

/** What concerns one connection (RFC 9110 §7.6.1), and what older programs send of that kind. */
export const HOP_BY_HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** `Connection` may not name these away: without them the message would be another one. */
const NEVER_NAMED_AWAY = new Set(['content-length', 'content-type', 'host'])

/** The further headers of one connection that a `Connection` header names. */
export function namedByConnection(connection: string): Set<string> {
  const names = connection.split(',').map((name) => name.trim().toLowerCase())
  return new Set(names.filter((name) => !NEVER_NAMED_AWAY.has(name)))
}

/**
 * Whether a header says who asks and from where, which only the hub, or the gateway in its own network, may say. Many servers
 * read `X_Hub_User` as `X-Hub-User`, so it counts as the same.
 */
export function saysWhoAsks(name: string): boolean {
  return /^(forwarded$|x-forwarded|x-real-ip$|x-hub-)/.test(name.replaceAll('_', '-'))
}
