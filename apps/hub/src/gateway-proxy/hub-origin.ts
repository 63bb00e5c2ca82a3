/**
 * The origin of the hub's own pages for a request: the only one that may hand over, and the one to send people back to.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { HubError } from '../kernel/hub-error.ts'
import { isPortMode, parseHost, type GatewayHost } from './origins.ts'

export type HubOrigins = {
  /** The origin of the hub's page that asks for a ticket. It is checked against Host, so no other site can be named. */
  calling(headers: IncomingHttpHeaders): URL
  /**
   * Where a person without a session signs in: at the host and with the scheme that they use. Unknown behind a wildcard
   * without HUB_PUBLIC_URL.
   */
  behind(host: GatewayHost, isTls: boolean): string | undefined
}

/** The ports of the hub's own listeners. */
export type HubPorts = { port: number; httpsPort?: number | undefined }

export function createHubOrigins(
  config: { publicUrl?: string | undefined; gatewayOrigin?: string | undefined },
  hubPorts: () => HubPorts,
): HubOrigins {
  const publicOrigin = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).origin
  const isPublic = (scheme: string, hostname: string) =>
    publicOrigin !== undefined &&
    new URL(`${scheme}://${hostname}`).hostname === new URL(publicOrigin).hostname &&
    publicOrigin.startsWith(`${scheme}:`)

  return {
    calling(headers) {
      // The gateways' origins do not depend on Host here, so Host may not decide which page hands over.
      if (config.gatewayOrigin !== undefined && publicOrigin !== undefined) return new URL(publicOrigin)
      const authority = parseHost(headers.host)?.authority
      if (authority === undefined) throw new HubError('invalid_request')
      const own = [`http://${authority}`, `https://${authority}`].map((candidate) => new URL(candidate))
      const origins = publicOrigin === undefined ? own : [new URL(publicOrigin), ...own]
      const calling = origins.find(({ origin, protocol, host }) =>
        headers.origin === undefined
          ? host === new URL(`${protocol}//${authority}`).host
          : origin === headers.origin.toLowerCase(),
      )
      if (calling) return calling
      const message =
        "The hub does not know itself by this page's address: set HUB_PUBLIC_URL, or let the proxy in front of " +
        'it pass Host on.'
      throw new HubError('invalid_request', { message })
    },

    behind({ mode, authority }, isTls) {
      const { hostname = '', port = '' } = parseHost(authority) ?? {}
      const scheme = isTls ? 'https' : 'http'
      if (mode === 'localhost') return `${scheme}://localhost${port && `:${port}`}`
      if (!isPortMode(mode) || isPublic(scheme, hostname)) return publicOrigin
      const { port: httpPort, httpsPort } = hubPorts()
      return `${scheme}://${hostname}:${isTls ? httpsPort : httpPort}`
    },
  }
}
