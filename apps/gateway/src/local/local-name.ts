import { isIP } from 'node:net'

/** Names that do not exist in public DNS (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`), or that routers use. */
const LOCAL_SUFFIXES = ['.local', '.localhost', '.lan', '.home', '.home.arpa', '.internal', '.fritz.box']

/**
 * Whether a `Host` header is an address, a bare name or a name under a local suffix. Only the device's own network uses
 * these, so a page on the internet that rebinds its name to this device (DNS rebinding) is refused.
 */
export function isLocalName(host: string | undefined): boolean {
  if (host === undefined) return false
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return true
  return /^[a-z0-9_-]+$/.test(name) || LOCAL_SUFFIXES.some((suffix) => name.endsWith(suffix))
}
