/**
 * The headers of an HTTP message that a proxy does not forward: the hub between a browser and a gateway, and the
 * gateway in front of the device's own application. Many programs read `X_Hub_User` as `X-Hub-User`, so an underscore
 * counts as a hyphen.
 */

/** Names between spaces. */
export const namesIn = (text: string): string[] => text.trim().split(/\s+/)

/** Headers for one connection only (RFC 9110 §7.6.1), and similar ones of older programs. */
const HOP_BY_HOP = new Set(
  namesIn(`
  connection expect http2-settings keep-alive proxy-authenticate proxy-authentication-info proxy-authorization
  proxy-connection te trailer transfer-encoding upgrade
`),
)

/** `Connection` can't remove these: the message would change its meaning. */
const NEVER_NAMED_AWAY = new Set(['content-length', 'content-type', 'host'])

type Rule = {
  /** `request`: never from a client to an application. `answer`: never from an application to a client. */
  from: 'request' | 'answer'
  why: string
  /** Lower case. A name that ends in `*` matches every name with that prefix. */
  names: readonly string[]
}

/** Headers that only the hub, or a proxy of the operator, may set. */
const RULES: readonly Rule[] = [
  {
    from: 'request',
    why: 'where a request comes from',
    names: namesIn(`
      forwarded x-forwarded* x-real-ip x-client-ip x-cluster-client-ip x-originating-ip true-client-ip
      cf-connecting-ip* fastly-client-ip fly-client-ip x-azure-* x-envoy-*
    `),
  },
  {
    from: 'request',
    why: 'the identity of the caller, set by the hub',
    names: ['x-hub-*'],
  },
  {
    from: 'request',
    why: 'the identity of the caller, set by proxies that sign people in',
    names: namesIn(`
      remote-* x-remote-* x-auth-request-* x-auth-user* x-token-subject x-token-user-* x-userinfo impersonate-*
      x-auth-email x-auth-groups x-auth-roles x-authenticated-* x-authentik-* x-authelia-* x-webauth-* x-vouch-*
      x-pomerium-* x-proxy-* x-user x-username x-email x-groups auth-user oidc-* x-oidc-* mellon-* shib-*
      cf-access-* tailscale-* x-goog-authenticated-* x-goog-iap-* x-ms-client-principal* x-ms-token-*
      x-amzn-oidc-*
    `),
  },
  {
    from: 'request',
    why: 'the client certificate that a proxy has seen',
    names: namesIn(`
      client-cert* ssl-* x-ssl-* x-client-cert* x-client-dn x-client-verify* x-tls-client-* x-arr-clientcert
      x-amzn-mtls-*
    `),
  },
  {
    from: 'request',
    why: 'CGI programs read it as HTTP_PROXY, the proxy of their own calls',
    names: ['proxy'],
  },
  {
    from: 'request',
    why: 'another address than the requested one',
    names: ['x-original-*', 'x-rewrite-url', 'x-accel-*'],
  },
  {
    from: 'answer',
    why: 'orders to a proxy in front: which file to send, what to request instead, what to cache',
    names: namesIn(`
      x-accel-* x-sendfile* x-lighttpd-* x-litespeed-* x-reproxy-* x-archive-files x-archive-charset surrogate-*
      edge-control cdn-cache-control cloudflare-cdn-cache-control
    `),
  },
]

const isToKeepFrom = (from: Rule['from']): ((name: string) => boolean) => {
  const names = RULES.filter((rule) => rule.from === from).flatMap((rule) => rule.names)
  const whole = new Set(names.filter((name) => !name.endsWith('*')))
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return rememberedByName((name) => {
    const plain = name.toLowerCase().replaceAll('_', '-')
    return whole.has(plain) || beginnings.some((beginning) => plain.startsWith(beginning))
  })
}

const REMEMBERED_NAMES = 1_000
const LONGEST_REMEMBERED_NAME = 64

/**
 * Calls `decide` once for each text: a header's name, a host, an address. Strangers choose them, so the number of
 * remembered texts is limited.
 */
export function rememberedByName<T>(decide: (name: string) => T): (name: string) => T {
  const decided = new Map<string, T>()
  return (name) => {
    const verdict = decided.get(name)
    if (verdict !== undefined || decided.has(name)) return verdict as T
    const decision = decide(name)
    if (decided.size >= REMEMBERED_NAMES) decided.clear()
    // A copy, because a part of a head would keep the whole head in memory.
    if (name.length <= LONGEST_REMEMBERED_NAME) decided.set(Buffer.from(name).toString(), decision)
    return decision
  }
}

/** Whether only the hub, or the gateway in its own network, may set this request header. */
export const saysWhoAsks = isToKeepFrom('request')
/** Whether a header of an answer is an order to a proxy in front of the hub. */
export const ordersAProxy = isToKeepFrom('answer')

/**
 * Whether a header is for one connection only, by its name or because `Connection` lists it; `raw` is the whole list.
 */
export function hopByHopIn(raw: readonly string[]): (name: string) => boolean {
  const values = valuesOf(raw, 'connection')
  if (values.length === 0 || (values.length === 1 && values[0] === 'keep-alive')) return isHopByHop
  const named = values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !HOP_BY_HOP.has(name) && !NEVER_NAMED_AWAY.has(name))
  return (name) => isHopByHop(name) || (named.length > 0 && named.includes(name.toLowerCase()))
}

const isHopByHop = rememberedByName((name) => HOP_BY_HOP.has(name.toLowerCase()))

/** All values of a header of a raw list, in order. `wanted` is in lower case. */
export function valuesOf(raw: readonly string[], wanted: string): string[] {
  const values: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!
    if (name.length === wanted.length && name.toLowerCase() === wanted) values.push(raw[i + 1]!)
  }
  return values
}

/** A raw header list (name, value, name, value …) as pairs. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  const list: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) list.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return list
}
