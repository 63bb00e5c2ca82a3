import { GATEWAY_PORT } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'

/** For answers that are not pages: they run nothing and cannot be framed, should a browser show them. */
const NOT_A_PAGE = "default-src 'none'; frame-ancestors 'none'"

/** The headers of every answer; pages replace the policy by their own. */
export function sendSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'x-content-type-options': 'nosniff',
      // Only the origin leaves the hub; with less, the ticket's form would reach the gateway with `Origin: null`.
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': NOT_A_PAGE,
    })
  })
}

/**
 * The policy of the hub's pages. With `directHealthCheck` a page may request any gateway's health itself. It hands over
 * to `handoverSources`, the gateways' own origins, by posting a form, and first sees whether its browser reaches them.
 */
export function pagePolicy({
  handoverSources,
  directHealthCheck,
}: {
  handoverSources: readonly string[]
  directHealthCheck: boolean
}): string {
  const health = directHealthCheck ? ` http://*:${GATEWAY_PORT} https://*:${GATEWAY_PORT}` : ''
  const sources = handoverSources.filter((source) => !/[\s;,'"]/.test(source))
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self'",
    "font-src 'self'",
    [`connect-src 'self'${health}`, ...sources].join(' '),
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
    ["form-action 'self'", ...sources].join(' '),
  ].join('; ')
}
