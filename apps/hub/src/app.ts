/**
 * The composition root: builds every long-lived part of a hub in the order in which they depend on each other, and
 * takes them down in reverse. The only file that knows every module. Called by main.ts, and by tests through
 * http/test-hub.ts.
 */
import { randomBytes } from 'node:crypto'
import { generateIdentitySeed, identityOfSeed } from '@hedgerow/enrolment'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { ensureFirstAdmin, type FirstAdmin } from './accounts/first-admin.ts'
import { createPasswords, type Passwords } from './accounts/passwords.ts'
import { accountRoutes } from './accounts/routes.ts'
import { createSessions } from './accounts/sessions.ts'
import { createSignIn } from './accounts/sign-in.ts'
import { storeDetections } from './activity/detections.ts'
import { activityRoutes } from './activity/routes.ts'
import type { Config } from './config.ts'
import { checkDatabase, openDatabase } from './database/database.ts'
import type { Tables } from './database/tables.ts'
import { createEvents, type Events } from './events/events.ts'
import { eventRoutes } from './events/routes.ts'
import { createGatewayUi, type GatewayUi } from './gateway-ui/gateway-ui.ts'
import { gatewayUiRoutes } from './gateway-ui/routes.ts'
import { findVisibleGateway, type FleetSignals } from './gateways/gateways.ts'
import { createHealthChecks } from './gateways/health-checks.ts'
import { createHeartbeats } from './gateways/heartbeats.ts'
import { createPresence } from './gateways/presence.ts'
import { gatewayRoutes } from './gateways/routes.ts'
import { createTunnelApi } from './gateways/tunnel-api.ts'
import { createApi } from './http/api.ts'
import { compressAnswers } from './http/compression.ts'
import { healthRoutes } from './http/health.ts'
import { createServerFactory } from './http/server.ts'
import type { Sessions } from './http/sessions.ts'
import { createSourceAddress } from './http/source-address.ts'
import { isWebBuilt, serveWeb } from './http/web.ts'
import { registrationRoutes } from './registrations/routes.ts'
import { readOrCreateSecret } from './settings/secrets.ts'
import { readSettings } from './settings/settings.ts'
import { openVpn } from './vpn/open-vpn.ts'
import { createPeers } from './vpn/peers.ts'
import type { Vpn } from './vpn/vpn.ts'

const DRAIN_MS = 5_000

export type Hub = {
  app: FastifyInstance
  db: Kysely<Tables>
  sessions: Sessions
  events: Events
  passwords: Passwords
  vpn: Vpn
  /** Set when this start created the first admin. */
  firstAdmin: FirstAdmin | undefined
  /** Listens; before it, only `app.inject()` reaches the hub. */
  start(): Promise<{ url: string; port: number }>
  stop(): Promise<void>
}

export async function createHub(options: { config: Config; log: Logger; clock?: () => number }): Promise<Hub> {
  const { config, log, clock = Date.now } = options
  /** What to take down, last first; also when a later part cannot be built. */
  const closers: (() => void | Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    return await build()
  } catch (error) {
    await stop()
    throw error
  }

  async function build(): Promise<Hub> {
    const database = await openDatabase({ url: config.databaseUrl })
    closers.push(database.close)
    const { db } = database
    const passwords = createPasswords()
    const firstAdmin = await ensureFirstAdmin(db, passwords, config.admin)
    const secret = await readOrCreateSecret(db, 'token-secret', () => randomBytes(32).toString('base64'))
    const sessions = createSessions({ db, secret, clock })
    closers.push(sessions.stop)
    const events = createEvents({ db, sessions, log })
    closers.push(events.stop)
    const identity = identityOfSeed(await readOrCreateSecret(db, 'identity-seed', generateIdentitySeed))
    const privateKey = await readOrCreateSecret(db, 'wireguard-private-key', () => generateKeyPair().privateKey)
    const { vpnNetwork: networkCidr } = await readSettings(db)
    const vpn = await openVpn({ config: config.vpn, privateKey, networkCidr, clock })
    closers.push(vpn.stop)
    const { peers, heartbeats, signals } = await startFleet({ db, vpn, clock, log, events })

    const sourceAddress = createSourceAddress(config.trustedProxies)
    let listeningPort = config.port
    const ui = createGatewayUi({
      db,
      config,
      sessions,
      findGateway: (caller, id) => findVisibleGateway(db, caller, id),
      dial: vpn.dial,
      hubPort: () => listeningPort,
      sourceAddress,
      clock,
      log,
    })
    const app = createApi({
      face: 'public',
      log,
      sourceAddress,
      authenticate: sessions.authenticate,
      serverFactory: createServerFactory(ui),
    })
    closers.push(() => closeServer(app, ui))
    closers.push(events.stop)
    await compressAnswers(app)
    eventRoutes(app, { events })
    healthRoutes(app, [() => checkDatabase(db)])
    accountRoutes(app, { db, sessions, signIn: createSignIn({ db, sessions, passwords, clock }) })
    const fleet = { db, clock, vpn, peers }
    registrationRoutes(app, { ...fleet, identity })
    gatewayRoutes(app, { ...fleet, list: { signals, hubPublicKey: vpn.publicKey, connectedUsers: ui.connectedUsers } })
    activityRoutes(app, { db, clock, signals })
    gatewayUiRoutes(app, { ui })
    const tunnelApi = createTunnelApi({
      db,
      vpn,
      clock,
      heartbeats,
      storeDetections: async (gatewayId, detections) => {
        await storeDetections(db, gatewayId, detections, clock())
        tellOf(events, gatewayId)
      },
      log,
    })
    await tunnelApi.start()
    closers.push(tunnelApi.stop)
    if (isWebBuilt(config.webDir)) await serveWeb(app, { dir: config.webDir, formActionSources: ui.formActionSources })

    return {
      app,
      db,
      sessions,
      events,
      passwords,
      vpn,
      firstAdmin,
      stop,
      async start() {
        listeningPort = await listen(app, config)
        await ui.start()
        return { url: `http://localhost:${listeningPort}`, port: listeningPort }
      },
    }
  }

  /** What the hub knows of its gateways from moment to moment: peers, heartbeats, health and changes of status. */
  async function startFleet(parts: { db: Kysely<Tables>; vpn: Vpn; clock: () => number; log: Logger; events: Events }) {
    const peers = createPeers(parts)
    await peers.start()
    closers.push(peers.stop)
    const heartbeats = createHeartbeats(parts)
    await heartbeats.start()
    closers.push(heartbeats.stop)
    const { handshakes } = peers
    const healthChecks = createHealthChecks({ ...parts, handshakes })
    healthChecks.start()
    closers.push(healthChecks.stop)
    const signals: FleetSignals = { clock: parts.clock, heartbeats, handshakes, isHealthy: healthChecks.isHealthy }
    const onChanged = (gatewayIds: string[]) => {
      for (const gatewayId of gatewayIds) tellOf(parts.events, gatewayId)
    }
    const presence = createPresence({ ...parts, signals, onChanged })
    presence.start()
    closers.push(presence.stop)
    return { peers, heartbeats, signals }
  }
}

/** A gateway's status changed or it detected something. */
function tellOf(events: Events, gatewayId: string): void {
  for (const topic of ['gateways', 'stats', 'activity'] as const) events.publish({ topic, gatewayId })
}

/** Without a configured host, every address: through IPv6, which takes IPv4 too, or IPv4 alone where there is no IPv6. */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<number> {
  try {
    await app.listen({ host: host ?? '::', port })
  } catch (error) {
    if (host !== undefined || (error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error
    await app.listen({ host: '0.0.0.0', port })
  }
  const address = app.server.address()
  return typeof address === 'object' && address ? address.port : port
}

/** Takes nothing new, lets what is under way finish for a while, and cuts the rest: also streams that never end. */
async function closeServer(app: FastifyInstance, ui: Pick<GatewayUi, 'stop'>): Promise<void> {
  let cut: Promise<void> | undefined
  const timer = setTimeout(() => {
    cut = ui.stop()
    app.server.closeAllConnections()
  }, DRAIN_MS)
  await app.close()
  clearTimeout(timer)
  await (cut ?? ui.stop())
}
