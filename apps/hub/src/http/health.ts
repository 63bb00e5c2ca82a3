import type { FastifyInstance } from 'fastify'

/**
 * `/livez`: this process answers. `/readyz`: it can do its work; the check that fails throws the refusal that is
 * answered, so a load balancer or an operator sees which part it is.
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
