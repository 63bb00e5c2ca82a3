import { isIP } from 'node:net'

/** Names that public DNS does not hand out (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`), or that routers use. */
const LOCAL_SUFFIXES = ['.local', '.localhost', '.lan', '.home', '.home.arpa', '.internal', '.fritz.box']

/**
 * Whether a `Host` header names this device in a way that only its own network can: an address, a bare name, or a name
 * under a local suffix. A page on the internet that rebinds its own name to this device fails here.
 */
export function isLocalName(host: string | undefined): boolean {
  if (host === undefined) return false
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return true
  return /^[a-z0-9_-]+$/.test(name) || LOCAL_SUFFIXES.some((suffix) => name.endsWith(suffix))
}
