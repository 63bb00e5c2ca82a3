/**
 * The composition root: builds every long-lived part of a hub in the order in which they depend on each other, and
 * takes them down in reverse. The only file that knows every module. Called by program.ts, and by tests through
 * testing/hub.ts.
 */
import { randomBytes, X509Certificate } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { addressesForOthers } from './http/addresses.ts'
import { generateIdentitySeed, identityOfSeed } from '@hedgerow/enrolment'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { ensureFirstAdmin, type FirstAdmin } from './accounts/first-admin.ts'
import { createPasswords, type Passwords } from './accounts/passwords.ts'
import { accountRoutes } from './accounts/routes.ts'
import { createSessions } from './accounts/sessions.ts'
import { createNamedLimiter } from './access/limiter.ts'
import { createIntake } from './detections/intake.ts'
import { createDetectionQuota } from './detections/quota.ts'
import { detectionRoutes } from './detections/routes.ts'
import { createFleetCount } from './dashboard/fleet-count.ts'
import { dashboardRoutes } from './dashboard/routes.ts'
import { createAuditLogLines } from './audit/log-lines.ts'
import { createRefusedCalls } from './audit/refused-calls.ts'
import { auditRoutes } from './audit/routes.ts'
import { openCertificates, type Certificates } from './certificates/certificates.ts'
import { certificateRoutes } from './certificates/routes.ts'
import type { Config } from './config.ts'
import { checkDatabase, openDatabase } from './database/database.ts'
import { lockDatabase } from './database/lock.ts'
import { createStorageWatch, type StorageWatch } from './database/storage-watch.ts'
import type { Tables } from './database/tables.ts'
import { createEvents, type Events } from './events/events.ts'
import { eventRoutes } from './events/routes.ts'
import { deletedGateways } from './followers/deleted-gateways.ts'
import { heldDevices } from './followers/held-devices.ts'
import { liveEvents } from './followers/live-events.ts'
import { livePeers } from './followers/live-peers.ts'
import { delivery, outbox } from './followers/notifications.ts'
import { openRecords } from './followers/followers.ts'
import { retentionChanges } from './followers/retention.ts'
import { endedSessions } from './followers/sessions.ts'
import { waitingDevices } from './followers/waiters.ts'
import { createGatewayProxy } from './gateway-proxy/gateway-proxy.ts'
import { gatewayProxyRoutes } from './gateway-proxy/routes.ts'
import { CALL_LIMIT, signedGatewayRoutes, type GatewayCallDependencies } from './fleet/gateway-calls.ts'
import { blockedUdp, findVisibleGateway, type FleetSignals } from './fleet/fleet.ts'
import { createHealthChecks } from './fleet/health-checks.ts'
import { createHeartbeats } from './fleet/heartbeats.ts'
import { createHistory, type History } from './fleet/history.ts'
import { createPresence } from './fleet/presence.ts'
import { gatewayRoutes } from './fleet/routes.ts'
import { createFleetSearch } from './fleet/search.ts'
import { createTunnelApi } from './fleet/tunnel-api.ts'
import { createFleetListCache } from './fleet/fleet-list-cache.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { apiDescriptionRoutes } from './http/api-page.ts'
import { createApi } from './http/api.ts'
import { compressAnswers } from './http/compression.ts'
import { createConnections, type Connections } from './http/connections.ts'
import { healthRoutes } from './http/health.ts'
import { drain, listen, listenTls } from './http/listening.ts'
import { createRefusals } from './access/refusals.ts'
import { createWriteLimit } from './access/write-limit.ts'
import { createServers } from './http/server.ts'
import type { Sessions } from './access/sessions.ts'
import { createSourceAddress } from './access/source-address.ts'
import { isWebBuilt, serveWeb } from './http/web.ts'
import { HUB, record } from './facts/facts.ts'
import { createNotifications, type Notifications } from './notifications/notifications.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { readAutoApproval } from './enrolment/auto-approval-settings.ts'
import { admitHeld } from './enrolment/holds.ts'
import { registrationRoutes } from './enrolment/routes.ts'
import { ruleRoutes } from './enrolment/rule-routes.ts'
import { createWaiters } from './enrolment/waiters.ts'
import { createRetention, type Retention } from './retention/retention.ts'
import { settingsRoutes } from './settings/routes.ts'
import { readOrCreateSecret } from './database/secrets.ts'
import { readSettings } from './settings/settings.ts'
import { createPortWords } from './tunnel/endpoints.ts'
import { openVpn } from './tunnel/open-tunnel.ts'
import { createPeers } from './tunnel/peers.ts'
import { checkVpn, type SwitchableVpn, type Vpn } from './tunnel/tunnel.ts'

export type Hub = {
  app: FastifyInstance
  db: Kysely<Tables>
  sessions: Sessions
  events: Events
  certificates: Certificates
  metrics: Metrics
  passwords: Passwords
  vpn: SwitchableVpn
  notifications: Notifications
  retention: Retention
  history: History
  faults: Connections['faults']
  /** Set when this start created the first admin. */
  firstAdmin: FirstAdmin | undefined
  /** Listens; before it, only `app.inject()` reaches the hub. */
  start(): Promise<{ url: string; port: number; httpsPort: number | undefined }>
  stop(): Promise<void>
}

export type HubOptions = {
  config: Config
  log: Logger
  clock?: () => number
  /** Hears that another hub has taken this one's database: there is nothing to do but end. */
  onTakenOver?: () => void
}

export async function createHub(options: HubOptions): Promise<Hub> {
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
    const lock = await lockDatabase(config.databaseUrl, { onTakenOver: options.onTakenOver })
    closers.push(lock.release)
    let storage: StorageWatch | undefined
    const database = await openDatabase({
      url: config.databaseUrl,
      copiesDir: join(config.dataDir, 'backups'),
      onFull: () => storage?.onFull(),
    })
    closers.push(database.close)
    const { db } = database
    const facts = openRecords(db, { log })
    const passwords = createPasswords()
    const firstAdmin = await ensureFirstAdmin(db, passwords, config.admin)
    const secret = await readOrCreateSecret(db, 'token-secret', () => randomBytes(32).toString('base64'))
    const sessions = createSessions({ db, secret, clock, log })
    closers.push(sessions.stop)
    const events = createEvents({ db, sessions, log })
    const certificates = await openCertificates({ db, config, clock, log })
    closers.push(certificates.stop)
    const identity = identityOfSeed(await readOrCreateSecret(db, 'identity-seed', generateIdentitySeed))
    const privateKey = await readOrCreateSecret(db, 'wireguard-private-key', () => generateKeyPair().privateKey)
    const { enableVpn: enabled, vpnNetwork: networkCidr } = await readSettings(db)
    const metrics = createMetrics(config)
    const connections = createConnections({ config, metrics, log })
    const onDrop = metrics.countDrop
    const refusals = createRefusals({ log, countRefusal: metrics.countRefusal })
    closers.push(refusals.stop)
    const vpn = await openVpn({ config: config.vpn, privateKey, enabled, networkCidr, clock, onDrop })
    closers.push(vpn.stop)
    let listeningPort = config.port
    const portalUrl = () => {
      const ports = { port: listeningPort, httpsPort: undefined }
      return addressesForOthers(config, ports, networkInterfaces())[0] ?? `http://localhost:${listeningPort}`
    }
    const notifications = await startNotifications(db, portalUrl)
    storage = await startStorageWatch(db)
    const { requireRoom, checkStorage, trouble } = storage
    const retention = createRetention({ db, clock, log })
    retention.start()
    closers.push(retention.stop)
    const auditLines = createAuditLogLines({
      db,
      log: config.logAudit ? log.child({}, { level: 'info' }) : log,
      isWhole: config.logAudit,
    })
    await auditLines.start()
    closers.push(auditLines.stop)
    const { peers, heartbeats, history, quota, signals } = await startFleet({ db, vpn, portalUrl, clock, log })

    const sourceAddress = createSourceAddress(config.trustedProxies)
    const ui = createGatewayProxy({
      db,
      config,
      sessions,
      async findGateway(caller, id) {
        const gateway = await findVisibleGateway(db, caller, id)
        return { ...gateway, blockedUdp: blockedUdp(gateway, signals) }
      },
      dial: vpn.dial,
      hubPort: () => listeningPort,
      sourceAddress,
      ...connections,
      clock,
      log,
    })
    const servers = createServers(ui, { ...connections, sourceAddress })
    const app = createApi({
      surface: 'public',
      log,
      sourceAddress,
      authenticate: sessions.authenticate,
      recordRefusal: createRefusedCalls({ db, clock, log }),
      limitWrites: createWriteLimit({ clock, onRefused: (address) => refusals.count('writes', address) }),
      serverFactory: servers.factory,
    })
    const tls = config.httpsPort === undefined ? undefined : servers.createTls(certificates.current())
    certificates.onChanged(() => tls?.setSecureContext(certificates.current()))
    closers.push(() => drain(app, tls, ui.stop))
    closers.push(events.stop)
    await compressAnswers(app)
    eventRoutes(app, { events })
    const list = { signals, hubPublicKey: vpn.publicKey, connectedUsers: ui.connectedUsers }
    const fleetListCache = createFleetListCache(db, list)
    const search = createFleetSearch(db)
    const fleetCount = createFleetCount(db, signals)
    const presence = createPresence({ db, signals, log })
    presence.start()
    closers.push(presence.stop)
    const parts = { db, signals, vpn, connections, certificates, notifications }
    metrics.mountOn(app, { ...parts, eventStreams: events.streams })
    closers.push(metrics.stop)
    healthRoutes(app, [() => checkDatabase(db), checkStorage, () => checkVpn(vpn)])
    const twoFactorKey = await readOrCreateSecret(db, 'two-factor-key', () => randomBytes(32).toString('base64'))
    accountRoutes(app, { db, sessions, passwords, clock, twoFactorKey, refusals })
    const waiters = createWaiters()
    const admitWaiting = () => admitHeld(db, { clock, canApprove: () => vpn.disabledReason === undefined })
    facts.follow(outbox(notifications))
    facts.follow(deletedGateways({ heartbeats, quota, retention }))
    facts.follow(livePeers(peers))
    facts.follow(endedSessions(sessions))
    facts.follow(retentionChanges(retention))
    facts.follow(waitingDevices(waiters))
    facts.follow(heldDevices(admitWaiting))
    facts.follow(delivery(notifications))
    facts.follow(liveEvents(events))
    const tlsCertificate = tls && (() => new X509Certificate(certificates.current().cert))
    registrationRoutes(app, { db, clock, vpn, identity, waiters, refusals, requireRoom, tlsCertificate })
    ruleRoutes(app, { db, clock, identity, publicUrl: config.publicUrl })
    gatewayRoutes(app, { db, clock, vpn, list, fleetListCache, search })
    settingsRoutes(app, { db, clock, vpn, peers, onVpnConfigured: admitWaiting })
    notificationRoutes(app, { db, clock, notifications })
    dashboardRoutes(app, { db, clock, fleetCount, storageTrouble: trouble })
    detectionRoutes(app, { db })
    gatewayProxyRoutes(app, { ui })
    apiDescriptionRoutes(app)
    certificateRoutes(app, { certificates })
    auditRoutes(app, { db })
    const gatewayCalls: GatewayCallDependencies = {
      clock,
      heartbeats: {
        record(gatewayId, content) {
          heartbeats.record(gatewayId, content)
          history.record(gatewayId, content)
        },
      },
      calls: createNamedLimiter({ ...CALL_LIMIT, clock }),
      storeDetections: createIntake({ db, clock, requireRoom, quota, metrics }),
    }
    signedGatewayRoutes(app, { ...gatewayCalls, db, identity, refusals })
    const tunnelApi = createTunnelApi({ ...gatewayCalls, db, vpn, log, faults: connections.faults })
    await tunnelApi.start()
    closers.push(tunnelApi.stop)
    if (isWebBuilt(config))
      await serveWeb(app, {
        webDir: config.webDir,
        siteDir: config.siteDir,
        publicUrl: config.publicUrl,
        contactEmail: config.contactEmail,
        formActionSources: ui.formActionSources,
        directHealthCheck: async () => (await readSettings(db)).directHealthCheck,
      })

    return {
      app,
      db,
      sessions,
      events,
      certificates,
      metrics,
      passwords,
      vpn,
      notifications,
      retention,
      history,
      faults: connections.faults,
      firstAdmin,
      stop,
      async start() {
        listeningPort = await listen(app, config)
        const httpsPort = tls && (await listenTls(tls, { host: config.host, port: config.httpsPort ?? 0 }))
        await metrics.start()
        await ui.start()
        await admitWaiting()
        return { url: `http://localhost:${listeningPort}`, port: listeningPort, httpsPort }
      },
    }
  }

  /** Whoever is to be told outside the hub, over what this start was configured with. */
  async function startNotifications(db: Kysely<Tables>, portalUrl: () => string): Promise<Notifications> {
    const notifications = createNotifications({
      db,
      clock,
      log,
      portalUrl,
      settings: config.notifications,
      async readSwitches(from) {
        const { notificationEnabled, notificationEmail } = await readAutoApproval(from)
        return { enabled: notificationEnabled, email: notificationEmail }
      },
    })
    await notifications.start()
    closers.push(notifications.stop)
    return notifications
  }

  /** What tells people that the disk is nearly full, from the room that is kept for them. */
  async function startStorageWatch(db: Kysely<Tables>): Promise<StorageWatch> {
    const { databaseUrl, dataDir, diskReserveBytes: reserveBytes } = config
    const watch = createStorageWatch({
      db,
      databaseUrl,
      dataDir,
      reserveBytes,
      log,
      onTrouble: (data) => record(db, { kind: 'storage.low', at: clock(), actor: HUB, data }),
    })
    await watch.start()
    closers.push(watch.stop)
    return watch
  }

  /** What the hub knows of its gateways from moment to moment: peers, heartbeats and health. */
  async function startFleet(parts: {
    db: Kysely<Tables>
    vpn: Vpn
    portalUrl: () => string
    clock: () => number
    log: Logger
  }) {
    const peers = createPeers(parts)
    await peers.start()
    closers.push(peers.stop)
    const heartbeats = createHeartbeats(parts)
    await heartbeats.start()
    closers.push(heartbeats.stop)
    const history = createHistory(parts)
    history.start()
    closers.push(history.stop)
    const quota = createDetectionQuota(parts)
    await quota.start()
    closers.push(quota.stop)
    const { handshakes } = peers
    const healthChecks = createHealthChecks({ ...parts, handshakes })
    healthChecks.start()
    closers.push(healthChecks.stop)
    const { isHealthy } = healthChecks
    const { refusals } = quota
    const vpnPort = createPortWords(parts.vpn, () => new URL(parts.portalUrl()).host)
    const signals: FleetSignals = { clock: parts.clock, heartbeats, handshakes, isHealthy, refusals, vpnPort }
    return { peers, heartbeats, history, quota, signals }
  }
}
