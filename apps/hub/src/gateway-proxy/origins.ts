/**
 * The web origin of each gateway's pages, and the gateway that a request's Host names. Pure. HUB_GATEWAY_ORIGIN comes
 * before localhost, and localhost before a port for each gateway; docs/security.md says why only a separate origin
 * isolates.
 */
export type GatewayUiMode = 'localhost' | 'ports' | 'wildcard'

/**
 * A request that belongs to a gateway's origin. `authority` is its Host in lower case, with the port if it names one.
 */
export type GatewayHost = { gatewayId: string; mode: GatewayUiMode; authority: string }

export type Origins = {
  /** How gateways are reached from a hub page at `hubOrigin`. */
  modeFor(hubOrigin: URL): GatewayUiMode
  /** The origin of a gateway for a person whose hub page is at `hubOrigin`; `port` is the gateway's, in port mode. */
  originOf(gatewayId: string, hubOrigin: URL, port?: number): string
  /** The gateway whose origin `host` names, except in port mode, where the listener knows it. */
  locate(host: string | undefined): GatewayHost | undefined
  /** The form-action sources that the handover needs in the Content-Security-Policy of a hub page at `host`. */
  formActionSources(host: string | undefined): string[]
}

const MAX_PORT = 65_535
const GATEWAY_ID = '[a-z2-7]{12}'
const LOCALHOST_GATEWAY = new RegExp(`^gw-(${GATEWAY_ID})\\.localhost$`)
const TEMPLATE = /^(https?):\/\/([a-z0-9-]*)\{id\}([a-z0-9-]*)((?:\.[a-z0-9-]+)+)(:\d{1,5})?$/

/**
 * `gatewayOrigin` is HUB_GATEWAY_ORIGIN, such as `https://gw-{id}.example.net`. Throws when `{id}` is not in the first
 * label, or when it is plain http to another machine: browsers store the session cookie only over a trusted transport.
 */
export function createOrigins(config: { gatewayOrigin?: string | undefined; publicUrl?: string | undefined }): Origins {
  const template = config.gatewayOrigin === undefined ? undefined : parseTemplate(config.gatewayOrigin)
  const publicHost = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).host

  const modeFor = (hubOrigin: URL): GatewayUiMode =>
    template ? 'wildcard' : isLocalhost(hubOrigin.hostname) ? 'localhost' : 'ports'

  return {
    modeFor,

    originOf(gatewayId, hubOrigin, port) {
      if (template) return template.originOf(gatewayId)
      if (isLocalhost(hubOrigin.hostname)) {
        return `${hubOrigin.protocol}//gw-${gatewayId}.localhost${hubOrigin.port && `:${hubOrigin.port}`}`
      }
      return `http://${hubOrigin.hostname}:${port}`
    },

    locate(host) {
      const parsed = parseHost(host)
      if (!parsed) return undefined
      const wildcardId = template?.pattern.exec(parsed.hostname)?.[1]
      if (wildcardId) return { gatewayId: wildcardId, mode: 'wildcard', authority: parsed.authority }
      const localhostId = LOCALHOST_GATEWAY.exec(parsed.hostname)?.[1]
      return localhostId ? { gatewayId: localhostId, mode: 'localhost', authority: parsed.authority } : undefined
    },

    formActionSources(host) {
      if (template) return [template.source]
      const sources = [host, publicHost].flatMap((candidate) => {
        const parsed = parseHost(candidate)
        return parsed ? [sourceFor(parsed.hostname, parsed.port)] : []
      })
      return [...new Set(sources)]
    },
  }
}

/** The parts of a Host header, in lower case; undefined when it is invalid. */
export function parseHost(host: string | undefined): { hostname: string; port: string; authority: string } | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::(\d{1,5}))?$/.exec(host?.toLowerCase() ?? '')
  if (!match?.[1] || Number(match[2] ?? 0) > MAX_PORT) return undefined
  return { hostname: match[1], port: match[2] ?? '', authority: match[0] }
}

function isLocalhost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

/**
 * A policy can name any port of a host, but no IPv6 address, so pages at an IPv6 address allow every plain-http form
 * target.
 */
function sourceFor(hostname: string, port: string): string {
  if (isLocalhost(hostname)) return `http://*.localhost${port && `:${port}`}`
  return hostname.startsWith('[') ? 'http:' : `http://${hostname}:*`
}

function parseTemplate(text: string) {
  const [, scheme, before, after, domain, port = ''] = TEMPLATE.exec(text.replace(/\/$/, '')) ?? []
  if (scheme === undefined || before === undefined || after === undefined || domain === undefined) {
    throw new Error('HUB_GATEWAY_ORIGIN must look like https://gw-{id}.example.net, with {id} in the first label')
  }
  if (scheme === 'http' && !domain.endsWith('.localhost')) {
    throw new Error('HUB_GATEWAY_ORIGIN must be https: browsers keep its session cookie only there')
  }
  const literal = (part: string) => part.replaceAll('.', '\\.')
  return {
    pattern: new RegExp(`^${before}(${GATEWAY_ID})${after}${literal(domain)}$`),
    originOf: (gatewayId: string) => new URL(`${scheme}://${before}${gatewayId}${after}${domain}${port}`).origin,
    source: `${scheme}://*${domain}${port}`,
  }
}
