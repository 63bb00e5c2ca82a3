import { isIP } from 'node:net'
import type { Vpn } from './tunnel.ts'

/** A DNS name as people use them on their networks: letters, digits, hyphens and underscores. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i

/**
 * Where gateways reach the hub's VPN, as `host:port` in the order to try: the configured host, or else the host of this
 * request. Empty when neither is a valid host: a `Host` header is the caller's claim, and the result ends up in
 * configuration files.
 */
export function vpnEndpoints(options: {
  configuredHost: string | undefined
  /** The `Host` header, with or without a port. */
  requestHost: string | undefined
  port: number
}): string[] {
  const host = options.configuredHost ?? hostOf(options.requestHost ?? '')
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(bare) === 6) return [`[${bare}]:${options.port}`]
  return isIP(bare) === 4 || HOST_NAME.test(bare) ? [`${bare}:${options.port}`] : []
}

/** Reading this machine's addresses is slow, and the list needs the result for each gateway. */
const WORDS_KEPT_MS = 10_000

/**
 * The host and port that gateways' UDP must reach, as `port 51820 of hub.example.org`; `requestHost` as for
 * `endpoints`.
 */
export function createPortWords({ endpoints, port }: Pick<Vpn, 'endpoints' | 'port'>, requestHost: () => string) {
  let cached: { words: string; untilMs: number } | undefined
  return (): string => {
    const now = performance.now()
    if (cached === undefined || now > cached.untilMs) {
      const host = endpoints(requestHost())[0]?.replace(/:\d+$/, '') ?? 'the hub'
      cached = { words: `port ${port} of ${host}`, untilMs: now + WORDS_KEPT_MS }
    }
    return cached.words
  }
}

function hostOf(header: string): string {
  return header.replace(/:\d{1,5}$/, '')
}
