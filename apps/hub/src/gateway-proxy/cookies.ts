/**
 * Separates the hub's cookies from the gateway's on a gateway's origin. Pure. The hub has one there, the session; all
 * others are the gateway's. In port mode all gateways and applications of a host share one cookie jar, so the cookies
 * of each have its prefix in the browser. Pages with TLS and pages without share the jar, too: with TLS the names are
 * ones that browsers accept and send over TLS only.
 */
import { isPortMode, labelOf, type GatewayUiMode, type Place } from './origins.ts'

export const UI_SESSION_LIFETIME_SECONDS = 3600

/** The origin whose cookies are read or written: its mode and place. */
export type CookieJar = Place & { mode: GatewayUiMode }

type Pair = { name: string; value: string }

export function sessionCookieName(jar: CookieJar): string {
  if (!isPortMode(jar.mode)) return '__Host-gws'
  return `${jar.mode === 'tls-ports' ? '__Host-' : ''}gws_${labelOf(jar)}`
}

/** The Set-Cookie value that starts a session on the gateway's origin. */
export function sessionCookie(jar: CookieJar, token: string): string {
  const secure = jar.mode === 'ports' ? '' : ' Secure;'
  return (
    `${sessionCookieName(jar)}=${token}; Path=/;${secure} HttpOnly; SameSite=Lax; ` +
    `Max-Age=${UI_SESSION_LIFETIME_SECONDS}`
  )
}

/** Every value that the browser sent for the session cookie. More than one means that a page planted some. */
export function sessionTokens(cookieHeader: string | undefined, jar: CookieJar): string[] {
  const wanted = sessionCookieName(jar)
  return parsePairs(cookieHeader)
    .filter(({ name }) => name === wanted)
    .map(({ value }) => value)
}

/** The Cookie header for the gateway: its own cookies under their own names; undefined when none is left. */
export function cookiesToGateway(cookieHeader: string | undefined, jar: CookieJar): string | undefined {
  const prefix = portPrefix(jar)
  const own = parsePairs(cookieHeader).flatMap(({ name, value }) => {
    if (!name.startsWith(prefix)) return []
    const bare = name.slice(prefix.length)
    return bare === '' || isReserved(bare) ? [] : [`${bare}=${value}`]
  })
  return own.length === 0 ? undefined : own.join('; ')
}

/**
 * A gateway's Set-Cookie as it is passed to the browser: restricted to this host, and in port mode with the gateway's
 * prefix. Undefined when it is refused: a cookie with one of the hub's names, or without a name, because a browser
 * could send that back as any other.
 */
export function cookieFromGateway(setCookie: string, jar: CookieJar): string | undefined {
  const [first = '', ...attributes] = setCookie.split(';')
  const pair = parsePair(first)
  if (!pair || isReserved(pair.name)) return undefined
  const lines = attributes
    .map((attribute) => attribute.trim())
    .filter((attribute) => !/^domain\s*(=|$)/i.test(attribute))
  if (jar.mode === 'tls-ports' && !lines.some((attribute) => /^secure$/i.test(attribute))) lines.push('Secure')
  return [`${portPrefix(jar)}${pair.name}=${pair.value}`, ...lines].join('; ')
}

/** Servers' common limit; with more, planted cookies for example, a browser never gets an answer. */
const COOKIES_MAX_LENGTH = 8 * 1024

/**
 * The browser's names of the cookies for this gateway when together they are too long for its server. A page of another
 * gateway on the host can plant such cookies.
 */
export function overlongCookies(cookieHeader: string | undefined, jar: CookieJar): string[] | undefined {
  if (cookieHeader === undefined || cookieHeader.length <= COOKIES_MAX_LENGTH) return undefined
  if ((cookiesToGateway(cookieHeader, jar)?.length ?? 0) <= COOKIES_MAX_LENGTH) return undefined
  const prefix = portPrefix(jar)
  return parsePairs(cookieHeader).flatMap(({ name }) => (name.startsWith(prefix) ? [name] : []))
}

function portPrefix(jar: CookieJar): string {
  if (!isPortMode(jar.mode)) return ''
  return `${jar.mode === 'tls-ports' ? '__Secure-' : ''}g${labelOf(jar)}.`
}

/** Browsers ignore the case of the `__Host-` prefix. */
function isReserved(name: string): boolean {
  return /^(__host-|gws)/i.test(name)
}

function parsePairs(cookieHeader: string | undefined): Pair[] {
  return (cookieHeader ?? '').split(';').flatMap((part) => parsePair(part) ?? [])
}

function parsePair(part: string): Pair | undefined {
  const equals = part.indexOf('=')
  if (equals < 0) return undefined
  const name = part.slice(0, equals).trim()
  return name === '' ? undefined : { name, value: part.slice(equals + 1).trim() }
}
