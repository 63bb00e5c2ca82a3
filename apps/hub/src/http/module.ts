/** The listeners, the limits of all who knock, and the app that serves the calls of the other rooms. */
import { createRefusals } from '../access/refusals.ts'
import type { Sessions } from '../access/sessions.ts'
import { createSourceAddress } from '../access/source-address.ts'
import { createWriteLimit } from '../access/write-limit.ts'
import type { App, Base, Gives, Ground } from '../facts/room.ts'
import { apiDescriptionRoutes } from './api-page.ts'
import { createApi } from './api.ts'
import { compressAnswers } from './compression.ts'
import { createConnections } from './connections.ts'
import { drain, listen, listenTls } from './listening.ts'
import { createLongAnswers } from './long-answers.ts'
import { createServers } from './server.ts'
import { isWebBuilt, serveWeb } from './web.ts'

export type Limits = Gives<typeof openLimits>

type Counters = Parameters<typeof createConnections>[0]['metrics'] & { countRefusal(limit: string): void }

export function openLimits(hub: Base & { metrics: Counters }) {
  const { config, log, metrics } = hub
  const refusals = createRefusals({ log, countRefusal: metrics.countRefusal })
  const connections = createConnections(hub)
  const sourceAddress = createSourceAddress(config.trustedProxies, (entry, proxy) =>
    log.warn(
      { entry: entry.slice(0, 64), proxy },
      'a trusted proxy sends an X-Forwarded-For without an address: its visitors share the limits of one',
    ),
  )
  return { gives: { refusals, connections, sourceAddress }, stop: refusals.stop }
}

type Needs = {
  sessions: Sessions
  certificates: { current(): { cert: string; key: string }; onChanged(listener: () => void): void }
  ui: Parameters<typeof createServers>[0] & Parameters<typeof drain>[2]
  recordRefusal: NonNullable<Parameters<typeof createApi>[0]['recordRefusal']>
}

export async function open(hub: Ground & Limits & Needs) {
  const { config, clock, listening, certificates, ui } = hub
  const servers = createServers(ui, { ...hub.connections, sourceAddress: hub.sourceAddress })
  const longAnswers = createLongAnswers(hub)
  const app = createApi({
    ...hub,
    longAnswers,
    surface: 'public',
    authenticate: hub.sessions.authenticate,
    limitWrites: createWriteLimit({ clock, onRefused: (address) => hub.refusals.count('writes', address) }),
    serverFactory: servers.factory,
  })
  const tls = config.httpsPort === undefined ? undefined : servers.createTls(certificates.current())
  if (tls) longAnswers.watch(tls)
  certificates.onChanged(() => tls?.setSecureContext(certificates.current()))
  // Before the routes of all rooms, whose answers it compresses.
  await compressAnswers(app)
  return {
    gives: {
      app,
      async listen() {
        listening.port = await listen(app, config)
        listening.httpsPort = tls && (await listenTls(tls, { host: config.host, port: config.httpsPort ?? 0 }))
      },
    },
    tasks: [longAnswers, { stop: () => drain(app, tls, ui) }],
    routes: apiDescriptionRoutes,
  }
}

type Web = Parameters<typeof serveWeb>[1]
type Shown = Pick<Web, 'contact' | 'settings'> & { ui: Pick<Web, 'handoverSources'> }

/** The portal and the public pages. */
export const openWeb = (hub: Base & Shown) => ({
  async routes(app: App) {
    if (isWebBuilt(hub.config)) await serveWeb(app, { ...hub, ...hub.config, ...hub.ui })
  },
})
