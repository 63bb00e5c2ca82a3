import { GATEWAY_PORT } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'

/** For what is no page: nothing in it may run or be framed, should a browser ever show it. */
const NOT_A_PAGE = "default-src 'none'; frame-ancestors 'none'"

/** The headers of every answer; pages replace the policy by theirs. */
export function sendSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'x-content-type-options': 'nosniff',
      // Nothing but the origin leaves the hub; less, and the ticket's form would reach the gateway as `Origin: null`.
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': NOT_A_PAGE,
    })
  })
}

/**
 * The policy of the hub's pages. With `directHealthCheck` a page may ask any gateway for its health itself; it hands
 * over to `formActionSources`, the gateways' own origins, by posting a form.
 */
export function pagePolicy({
  formActionSources,
  directHealthCheck,
}: {
  formActionSources: readonly string[]
  directHealthCheck: boolean
}): string {
  const health = directHealthCheck ? ` http://*:${GATEWAY_PORT} https://*:${GATEWAY_PORT}` : ''
  const sources = formActionSources.filter((source) => !/[\s;,'"]/.test(source))
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self'",
    "font-src 'self'",
    `connect-src 'self'${health}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
    ["form-action 'self'", ...sources].join(' '),
  ].join('; ')
}
