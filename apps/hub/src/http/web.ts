import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import fastifyStatic from '@fastify/static'
import { API_BASE } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { answerUnknownRoute } from './errors.ts'
import { pagePolicy } from './security-headers.ts'

const PAGE = 'index.html'

/** Whether `dir` holds a built portal. */
export function isWebBuilt(dir: string): boolean {
  return existsSync(join(dir, PAGE))
}

/**
 * Serves the built portal from `dir`: its files as they are, and its one page for every other address whose last part
 * has no dot, since the page finds its own way from there. Files under assets/ carry a hash in their names and are
 * kept for good; the rest is asked for again each time.
 */
export async function serveWeb(
  app: FastifyInstance,
  options: {
    dir: string
    formActionSources: (host: string | undefined) => string[]
    /** Whether pages may ask gateways directly for their health; read for each page. */
    directHealthCheck: () => Promise<boolean>
  },
): Promise<void> {
  await app.register(fastifyStatic, {
    root: options.dir,
    serve: false,
    cacheControl: false,
    dotfiles: 'ignore',
    preCompressed: true,
    setHeaders: (reply, path) => {
      const hashed = relative(options.dir, path).startsWith('assets')
      reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  app.route<{ Params: { '*': string } }>({
    method: ['GET', 'HEAD'],
    url: '/*',
    handler: async (request, reply) => {
      const path = request.params['*']
      if (`/${path}/`.startsWith(`${API_BASE}/`)) return answerUnknownRoute(request, reply)
      // A page is there even when the database is away.
      const directHealthCheck = await options.directHealthCheck().catch(() => false)
      const formActionSources = options.formActionSources(request.headers.host)
      reply.header('content-security-policy', pagePolicy({ formActionSources, directHealthCheck }))
      return reply.sendFile(/\.[^/]*$/.test(path) ? path : PAGE)
    },
  })
}
