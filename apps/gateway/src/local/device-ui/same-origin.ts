import type { IncomingMessage } from 'node:http'

/**
 * Whether a page of this device sent the request, or a person typed its address. A browser adds `Origin` to every
 * request that is not a plain GET, and `Sec-Fetch-Site` where it trusts the address; a page can forge neither (Fetch
 * standard, forbidden request-headers).
 */
export function isOfThisOrigin({ method, headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  const { origin, host } = headers
  if (site !== undefined && site !== 'same-origin' && !(site === 'none' && method === 'GET')) return false
  if (origin === undefined) return method === 'GET'
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === hostOf(host)
}

/** The host as URLs have it: without the default port of http. */
function hostOf(host: string): string | undefined {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : undefined
}
