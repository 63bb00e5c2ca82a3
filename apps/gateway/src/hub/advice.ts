/**
 * Advice when a hub was found but cannot be used: the missing or wrong zone line, or the setting to change where an
 * address was given. Pure.
 */
import { txtLine, type HubCandidate } from './discovery.ts'
import { codeOf } from '../kernel/failure.ts'

const NO_TLS = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])
const UNKNOWN_CERTIFICATE = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])
/** Errors of a plain HTTP request to an HTTPS port. */
const NO_HTTP = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_CONSTANT', 'HPE_INVALID_VERSION'])

/** `isSettled`: the hub's key is pinned or remembered. */
export function adviceFor(error: unknown, candidate: HubCandidate, isSettled: boolean): string | undefined {
  const code = codeOf(error) ?? ''
  const { url, domain } = candidate
  if (NO_TLS.has(code))
    return domain === undefined
      ? 'give its address as http://, or with the port of its HTTPS (8443 unless it was changed)'
      : `add the zone line ${txtLine(domain, 'scheme=http')}, or let the SRV line name the hub's HTTPS port (8443 ` +
          'unless it was changed)'
  if (UNKNOWN_CERTIFICATE.has(code)) {
    if (isSettled)
      return 'the hub did not sign it (an older hub, or a proxy in front of it): name the CA in GATEWAY_HUB_CA_FILE'
    return domain === undefined
      ? "set GATEWAY_HUB_FINGERPRINT to the hub's fingerprint, or name the CA in GATEWAY_HUB_CA_FILE"
      : `add the zone line ${txtLine(domain, 'fp=FINGERPRINT')} with the hub's fingerprint, or name the CA in ` +
          'GATEWAY_HUB_CA_FILE'
  }
  if (domain === undefined) return undefined
  if (url.protocol === 'http:' && NO_HTTP.has(code))
    return `if ${url.port} is the hub's HTTPS port, remove the zone line ${txtLine(domain, 'scheme=http')}`
  if (code === 'ECONNREFUSED')
    return `the SRV line must name the hub's port: 8443 for HTTPS, or 8080 with ${txtLine(domain, 'scheme=http')}`
  if (code === 'ENOTFOUND' || code === 'ENODATA') return `add the zone line ${url.hostname}. A ADDRESS`
  return undefined
}
