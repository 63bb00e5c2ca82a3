/**
 * The web origin of each gateway's pages, and the gateway that a request's Host names. Pure. docs/security.md says
 * which of the modes is for whom, and why only a separate origin isolates.
 */
import type { GatewayWay } from '@hedgerow/contract'
import { rememberedByName } from '@hedgerow/http'

/** `ports` and `tls-ports` are the same ports, without TLS and with it. */
export type GatewayUiMode = 'localhost' | 'ports' | 'tls-ports' | 'wildcard'

/** What an origin shows: a gateway's own interface, or the application of this name. */
export type Place = { gatewayId: string; application?: string | undefined }

/**
 * A request that belongs to a gateway's origin. `authority` is its Host in lower case, with the port if it names one.
 */
export type GatewayHost = Readonly<Place & { mode: GatewayUiMode; authority: string }>

export type Origins = {
  /** How gateways are reached from a hub page at `hubOrigin`, the best way first. */
  modesFor(hubOrigin: URL): [GatewayUiMode, ...GatewayUiMode[]]
  /**
   * The origin of a place, in one of these modes, for a person whose hub page is at `hubOrigin`; `port` is the place's,
   * in port mode.
   */
  originOf(place: Place, mode: GatewayUiMode, hubOrigin: URL, port?: number): string
  /** The place whose origin `host` names, except in port mode, where the listener knows it. */
  locate(host: string | undefined): GatewayHost | undefined
  /** The sources that the handover needs in the Content-Security-Policy of a hub page at `host`. */
  sourcesFor(host: string | undefined, isTls: boolean): string[]
}

const MAX_PORT = 65_535
const GATEWAY_ID = '[a-z2-7]{12}'
/** All gateway ids are equally long, so no two places have one label. */
const LABEL = `(${GATEWAY_ID})(?:-([a-z](?:[a-z0-9-]{0,22}[a-z0-9])?))?`
const LOCALHOST_GATEWAY = new RegExp(`^gw-${LABEL}\\.localhost$`)
const TEMPLATE = /^(https?):\/\/([a-z0-9-]*)\{id\}([a-z0-9-]*)((?:\.[a-z0-9-]+)+)(:\d{1,5})?$/

/**
 * `gatewayOrigin` is HUB_GATEWAY_ORIGIN, such as `https://gw-{id}.example.net`. Throws when `{id}` is not in the first
 * label, or when it is plain http to another machine: browsers store the session cookie only over a trusted transport.
 */
export function createOrigins(config: { gatewayOrigin?: string | undefined; publicUrl?: string | undefined }): Origins {
  const template = config.gatewayOrigin === undefined ? undefined : parseTemplate(config.gatewayOrigin)
  const publicHost = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).host

  const located = rememberedByName((host): GatewayHost | undefined => {
    const parsed = parseHost(host)
    if (!parsed) return undefined
    const { hostname, authority } = parsed
    const wildcard = template && placeIn(template.pattern.exec(hostname))
    if (wildcard) return { ...wildcard, mode: 'wildcard', authority }
    const localhost = placeIn(LOCALHOST_GATEWAY.exec(hostname))
    return localhost && { ...localhost, mode: 'localhost', authority }
  })

  return {
    modesFor({ protocol, hostname }) {
      if (template) return ['wildcard']
      // No certificate covers the names below localhost: browsers accept no wildcard directly below it.
      if (protocol === 'https:') return ['tls-ports']
      if (isLocalhost(hostname)) return ['localhost', 'ports']
      return isLoopback(hostname) ? ['ports', 'localhost'] : ['ports']
    },

    originOf(place, mode, { hostname, port: hubPort }, port) {
      switch (mode) {
        case 'wildcard':
          return template!.originOf(labelOf(place))
        case 'localhost':
          return `http://gw-${labelOf(place)}.localhost${hubPort && `:${hubPort}`}`
        default:
          return new URL(`${mode === 'ports' ? 'http' : 'https'}://${hostname}:${port}`).origin
      }
    },

    locate: (host) => (host === undefined ? undefined : located(host)),

    sourcesFor(host, isTls) {
      if (template) return [template.source]
      const sources = [host, publicHost].flatMap((candidate) => {
        const parsed = parseHost(candidate)
        if (!parsed) return []
        const { hostname, port } = parsed
        const names = isLocalhost(hostname) || isLoopback(hostname) ? [`http://*.localhost${port && `:${port}`}`] : []
        // A page that came without TLS may have it between the browser and a proxy.
        return [portSource('https', hostname), ...(isTls ? [] : [portSource('http', hostname), ...names])]
      })
      return [...new Set(sources)]
    },
  }
}

/**
 * A place's part of a host name or of a cookie's name. Different places have different labels, and none is the
 * beginning of another.
 */
export function labelOf({ gatewayId, application }: Place): string {
  return application === undefined ? gatewayId : `${gatewayId}-${application}`
}

export function isSamePlace(a: Place, b: Place): boolean {
  return a.gatewayId === b.gatewayId && a.application === b.application
}

function placeIn(found: RegExpExecArray | null): Place | undefined {
  const [, gatewayId, application] = found ?? []
  return gatewayId === undefined ? undefined : { gatewayId, application }
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

function isLoopback(hostname: string): boolean {
  return /^(?:127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

/** A policy can name any port of a host, but no IPv6 address, so pages at one allow every target of the scheme. */
function portSource(scheme: 'http' | 'https', hostname: string): string {
  return hostname.startsWith('[') ? `${scheme}:` : `${scheme}://${hostname}:*`
}

export function isPortMode(mode: GatewayUiMode): boolean {
  return mode === 'ports' || mode === 'tls-ports'
}

/** What a browser needs for this mode: names that lead to the hub, or ports of the hub. */
export function wayOf(mode: GatewayUiMode): GatewayWay {
  return isPortMode(mode) ? 'ports' : 'names'
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
    pattern: new RegExp(`^${before}${LABEL}${after}${literal(domain)}$`),
    originOf: (label: string) => new URL(`${scheme}://${before}${label}${after}${domain}${port}`).origin,
    source: `${scheme}://*${domain}${port}`,
  }
}
