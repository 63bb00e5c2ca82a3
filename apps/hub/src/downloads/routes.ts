import fastifyStatic from '@fastify/static'
import { fingerprint, type Identity } from '@hedgerow/enrolment'
import { DOWNLOADS_PATH } from '@hedgerow/contract'
import { createConnectionLimits } from '@hedgerow/http'
import type { FastifyInstance } from 'fastify'
import { customerOf } from '../access/networks.ts'
import type { Downloads } from './downloads.ts'
import { installScript } from './install-script.ts'

/** Concurrent downloads; each is large, and people's pages come first. */
const DOWNLOADS_MAX = 32
/** A site with more devices lets some of them wait; the script tries again. */
const FROM_ONE_SOURCE = 8
const RETRY_SECONDS = 10

/**
 * The release's lists, archives and models, below `/downloads`. Mounted on the public surface and inside the tunnel.
 */
export async function downloadFiles(app: FastifyInstance, downloads: Downloads): Promise<void> {
  const places = createConnectionLimits({ total: DOWNLOADS_MAX, perSource: FROM_ONE_SOURCE, sourceOf: customerOf })
  await app.register(async (scope) => {
    // Most hubs have no such folder until somebody puts a release there.
    const root = { root: downloads.folder, suppressWarning: true }
    await scope.register(fastifyStatic, { ...root, serve: false, cacheControl: false })
    scope.route<{ Params: { name: string } }>({
      method: ['GET', 'HEAD'],
      url: `${DOWNLOADS_PATH}/:name`,
      async handler(request, reply) {
        const { name } = request.params
        if (!(await downloads.names()).includes(name))
          return reply.code(404).type('text/plain; charset=utf-8').send('There is no such download.\n')
        if (places.admit(reply.raw, request.sourceIp))
          return reply
            .code(503)
            .header('retry-after', RETRY_SECONDS)
            .type('text/plain; charset=utf-8')
            .send('Too many downloads at once.\n')
        return reply.header('cache-control', 'no-cache').sendFile(name)
      },
    })
  })
}

type Dependencies = {
  downloads: Downloads
  identity: Pick<Identity, 'publicKey'>
}

/** Serves the files that a device needs before it knows this hub: the script that installs the agent, and the agent. */
export async function downloadRoutes(app: FastifyInstance, { downloads, identity }: Dependencies): Promise<void> {
  await downloadFiles(app, downloads)
  app.route({
    method: ['GET', 'HEAD'],
    url: '/install.sh',
    async handler(request, reply) {
      reply.header('cache-control', 'no-store')
      const agent = await downloads.agent()
      if (!agent)
        return reply
          .code(404)
          .type('text/plain; charset=utf-8')
          .send('This hub has no release of the gateway: its folder of downloads is empty.\n')
      const script = installScript(
        downloads.addressFor(request.headers),
        { fingerprint: fingerprint(identity.publicKey) },
        agent,
      )
      return reply.type('text/x-shellscript; charset=utf-8').send(script)
    },
  })
}
