import type { FastifyInstance } from 'fastify'

/**
 * `/livez`: this process answers. `/readyz`: it can do its work; a failing check throws the refusal for the answer, so
 * a load balancer or an operator sees which part fails.
 */
export function healthRoutes(app: FastifyInstance, checks: readonly (() => void | Promise<void>)[]): void {
  const method = ['GET', 'HEAD']
  app.route({ method, url: '/livez', handler: () => ({ status: 'ok' }) })
  app.route({
    method,
    url: '/readyz',
    handler: async () => {
      for (const check of checks) await check()
      return { status: 'ok' }
    },
  })
}
