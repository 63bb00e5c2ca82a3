/**
 * Distinguishes requests of a gateway's own pages (or the person) from requests that another page makes with the
 * person's cookie. Pure. To a browser all gateways of a host or of a domain are one site, so SameSite is not enough.
 */
import type { IncomingHttpHeaders } from 'node:http'

/** Whether a page of another origin caused this request, other than by a link that the person followed. */
export function isCrossOriginRequest(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  origin: string,
): boolean {
  const site = headers['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return false
  if (site !== undefined) return !isTopLevelVisit(method, headers)
  if (headers.origin !== undefined) return headers.origin !== origin
  // Over plain http a browser sends no Sec-Fetch headers. A page can hide its address, so this check can be evaded
  // there.
  return headers.referer !== undefined && !isAt(headers.referer, origin) && !isNavigation(method, headers)
}

/** Whether the answer to this request is a page that a person looks at. */
export function isNavigation(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (headers['sec-fetch-mode'] !== undefined) return isTopLevelVisit(method, headers)
  return /\btext\/html\b/i.test(headers.accept ?? '')
}

function isTopLevelVisit(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}

function isAt(address: string, origin: string): boolean {
  return URL.canParse(address) && new URL(address).origin === origin
}
