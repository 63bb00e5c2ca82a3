/**
 * Which headers of an HTTP message a proxy keeps to itself: the hub between a browser and a gateway, and the gateway
 * before the device's own application. Many programs read `X_Hub_User` as `X-Hub-User`, so an underscore counts as a
 * hyphen.
 */

/** What concerns one connection (RFC 9110 §7.6.1), and what older programs send of that kind. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** `Connection` may not name these away: without them the message would be another one. */
const NEVER_NAMED_AWAY = new Set(['content-length', 'content-type', 'host'])

type Rule = {
  /** `request`: never to an application from whoever asks. `answer`: never from an application to whoever asked. */
  from: 'request' | 'answer'
  why: string
  /** Lower case. One that ends in `*` stands for every name that begins so. */
  names: readonly string[]
}

/** What only the hub, or a proxy of the operator's, may say. */
const RULES: readonly Rule[] = [
  {
    from: 'request',
    why: 'where a request comes from',
    names: [
      'forwarded',
      'x-forwarded*',
      'x-real-ip',
      'x-client-ip',
      'x-cluster-client-ip',
      'x-originating-ip',
      'true-client-ip',
      'cf-connecting-ip*',
      'fastly-client-ip',
    ],
  },
  {
    from: 'request',
    why: 'who asks, as the hub says it',
    names: ['x-hub-*'],
  },
  {
    from: 'request',
    why: 'who asks, as proxies that sign people in say it',
    names: [
      'remote-*',
      'x-remote-*',
      'x-auth-request-*',
      'x-auth-user*',
      'x-auth-email',
      'x-auth-groups',
      'x-auth-roles',
      'x-authenticated-*',
      'x-authentik-*',
      'x-authelia-*',
      'x-webauth-*',
      'x-vouch-*',
      'x-pomerium-*',
      'x-proxy-*',
      'x-user',
      'x-username',
      'x-email',
      'x-groups',
      'auth-user',
      'oidc-*',
      'x-oidc-*',
      'mellon-*',
      'shib-*',
      'cf-access-*',
      'tailscale-*',
      'x-goog-authenticated-*',
      'x-goog-iap-*',
      'x-ms-client-principal*',
      'x-ms-token-*',
      'x-amzn-oidc-*',
    ],
  },
  {
    from: 'request',
    why: 'whose certificate a proxy has seen',
    names: [
      'client-cert*',
      'ssl-*',
      'x-ssl-*',
      'x-client-cert*',
      'x-client-dn',
      'x-client-verify*',
      'x-tls-client-*',
      'x-arr-clientcert',
      'x-amzn-mtls-*',
    ],
  },
  {
    from: 'request',
    why: 'another address than the one that was asked for',
    names: ['x-original-*', 'x-rewrite-url', 'x-accel-*'],
  },
  {
    from: 'answer',
    why: 'orders to a proxy in front: which file to send, what to ask instead, what to keep',
    names: [
      'x-accel-*',
      'x-sendfile*',
      'x-lighttpd-*',
      'x-litespeed-*',
      'x-reproxy-*',
      'x-archive-files',
      'x-archive-charset',
      'surrogate-*',
      'edge-control',
      'cdn-cache-control',
      'cloudflare-cdn-cache-control',
    ],
  },
]

const isToKeepFrom = (from: Rule['from']): ((name: string) => boolean) => {
  const names = RULES.filter((rule) => rule.from === from).flatMap((rule) => rule.names)
  const whole = new Set(names.filter((name) => !name.endsWith('*')))
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return (name) => {
    const plain = name.toLowerCase().replaceAll('_', '-')
    return whole.has(plain) || beginnings.some((beginning) => plain.startsWith(beginning))
  }
}

/** Whether a header of a request says what only the hub, or the gateway in its own network, may say. */
export const saysWhoAsks = isToKeepFrom('request')
/** Whether a header of an answer is an order to a proxy in front of the hub. */
export const ordersAProxy = isToKeepFrom('answer')

/**
 * Whether a header concerns one connection, by itself or because `Connection` names it; `raw` is the whole header list.
 */
export function hopByHopIn(raw: readonly string[]): (name: string) => boolean {
  const named = new Set(
    valuesOf(raw, 'connection')
      .flatMap((value) => value.split(','))
      .map((name) => name.trim().toLowerCase())
      .filter((name) => !NEVER_NAMED_AWAY.has(name)),
  )
  return (name) => {
    const lower = name.toLowerCase()
    return HOP_BY_HOP.has(lower) || named.has(lower)
  }
}

/** All values of a header of a raw list, in order. `wanted` is in lower case. */
export function valuesOf(raw: readonly string[], wanted: string): string[] {
  return headerPairs(raw).flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []))
}

/** A raw header list (name, value, name, value …) as pairs. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  const list: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) list.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return list
}
