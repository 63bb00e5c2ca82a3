/** The fourth step, the network: listeners, the API and its routes, the portal, and the API in the tunnel. */
import { X509Certificate } from 'node:crypto'
import { GATEWAY_APPLICATIONS_PORT, GATEWAY_PORT } from '@hedgerow/contract'
import { createContact } from '../accounts/contact.ts'
import { accountRoutes } from '../accounts/routes.ts'
import { createNamedLimiter } from '../access/limiter.ts'
import { findGateway } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import { carryOverThumbnails } from '../detections/carry-over.ts'
import { engineOf } from '../database/engine.ts'
import { createSharedCommits } from '../database/shared-commits.ts'
import { storeBatches, type Batch } from '../detections/detections.ts'
import { createIntake } from '../detections/intake.ts'
import { cleanJpeg } from '../detections/pictures.ts'
import { listIncidentsById } from '../detections/incident-list.ts'
import { latestIncidents } from '../detections/latest-incidents.ts'
import { keepNewestReviews, reviewsAfter } from '../detections/gateway-reviews.ts'
import { createClipLinks } from '../detections/clip-links.ts'
import { createClips } from '../detections/clips.ts'
import { detectionPictureRoutes } from '../detections/picture-routes.ts'
import { createSnapshots } from '../detections/snapshots.ts'
import { readThumbnail } from '../detections/thumbnails.ts'
import { detectionRoutes } from '../detections/routes.ts'
import { troubleOfAlerts } from '../alerts/alert-rules.ts'
import { lastNoticeAt, putTestNotice } from '../alerts/notices.ts'
import { languageOf } from '../alerts/preferences.ts'
import { alertRoutes } from '../alerts/routes.ts'
import { createFleetCount } from '../dashboard/fleet-count.ts'
import { dashboardRoutes } from '../dashboard/routes.ts'
import { createRefusedCalls } from '../audit/refused-calls.ts'
import { auditRoutes } from '../audit/routes.ts'
import { learningRoutes } from '../learning/routes.ts'
import { createLivePictures } from '../cameras/live-pictures.ts'
import { cameraRoutes } from '../cameras/routes.ts'
import { certificateRoutes } from '../certificates/routes.ts'
import { createCommands } from '../commands/commands.ts'
import { createLedgerIntake } from '../commands/ledger.ts'
import { commandRoutes } from '../commands/routes.ts'
import { checkDatabase } from '../database/database.ts'
import { openDownloads } from '../downloads/downloads.ts'
import { downloadFiles, downloadRoutes } from '../downloads/routes.ts'
import { createWay } from '../downloads/way.ts'
import { createEvents } from '../events/events.ts'
import { eventRoutes } from '../events/routes.ts'
import { gatewayPages } from '../followers/gateway-pages.ts'
import { liveEvents } from '../followers/live-events.ts'
import { createHomeAssistant } from '../home-assistant/home-assistant.ts'
import { homeAssistantRoutes } from '../home-assistant/routes.ts'
import type { BrokerSettings } from '../mqtt/mqtt.ts'
import { createGatewayDoor } from '../gateway-door/gateway-door.ts'
import { createGatewayProxy } from '../gateway-proxy/gateway-proxy.ts'
import { gatewayProxyRoutes } from '../gateway-proxy/routes.ts'
import { createLoadShedding } from '../fleet/load-shedding.ts'
import { CALL_LIMIT, signedGatewayRoutes, type GatewayCallDependencies } from '../fleet/gateway-calls.ts'
import { blockedUdp, isOffline, listGateways } from '../fleet/fleet.ts'
import { gatewayRoutes } from '../fleet/routes.ts'
import { createFleetSearch } from '../fleet/search.ts'
import { createTunnelApi } from '../fleet/tunnel-api.ts'
import { createFleetListCache } from '../fleet/fleet-list-cache.ts'
import { apiDescriptionRoutes } from '../http/api-page.ts'
import { createApi } from '../http/api.ts'
import { createConnections } from '../http/connections.ts'
import { compressAnswers } from '../http/compression.ts'
import { createHubUpdate } from '../hub-update/hub-update.ts'
import { createLongAnswers } from '../http/long-answers.ts'
import { healthRoutes } from '../http/health.ts'
import { drain, listen, listenTls } from '../http/listening.ts'
import { createWriteLimit } from '../access/write-limit.ts'
import { createServers } from '../http/server.ts'
import { createSourceAddress } from '../access/source-address.ts'
import { isWebBuilt, serveWeb } from '../http/web.ts'
import { pushRoutes } from '../notifications/push-routes.ts'
import { createSecondLook } from '../second-look/second-look.ts'
import { notificationRoutes } from '../notifications/routes.ts'
import { registrationRoutes } from '../enrolment/routes.ts'
import { ruleRoutes } from '../enrolment/rule-routes.ts'
import { settingsRoutes } from '../settings/routes.ts'
import { siteRoutes } from '../sites/routes.ts'
import { keepSettings } from '../settings/settings.ts'
import { checkVpn } from '../tunnel/tunnel.ts'
import { updateRoutes } from '../updates/routes.ts'
import { createUpdates } from '../updates/updates.ts'
import type { Base } from './base.ts'
import type { Fleet } from './fleet.ts'
import type { Storage } from './storage.ts'
import type { Trust } from './trust.ts'

const PORTS = { interface: GATEWAY_PORT, applications: GATEWAY_APPLICATIONS_PORT } as const

type Steps = { storage: Storage; trust: Trust; fleet: Fleet }

export async function openEdge(base: Base, { storage, trust, fleet }: Steps, stack: AsyncDisposableStack) {
  const { config, log, clock, listening } = base
  const { db, facts, watch } = storage
  const { identity, passwords, sessions, certificates, twoFactorKey } = trust
  const { metrics, refusals, vpn, notifications, peers, heartbeats, history, quota, signals } = fleet
  const { presence, waiters, admitWaiting } = fleet
  const connections = createConnections({ config, metrics, log })
  const sourceAddress = createSourceAddress(config.trustedProxies, (entry, proxy) =>
    log.warn(
      { entry: entry.slice(0, 64), proxy },
      'a trusted proxy sends an X-Forwarded-For without an address: its visitors share the limits of one',
    ),
  )
  const ui = createGatewayProxy({
    db,
    config,
    sessions,
    async findGateway(caller, id) {
      const gateway = await findGateway(db, scopeOf(caller), id)
      return {
        ...gateway,
        vpnPort: signals.vpnPort,
        blockedUdp: blockedUdp(gateway, signals),
        isOffline: () => isOffline(gateway, signals),
      }
    },
    applicationsOf: (id) => heartbeats.latest(id)?.content.applications,
    dial: (address, door, signal) => vpn.dial(address, PORTS[door], signal),
    hubPorts: () => listening,
    tls: config.httpsPort === undefined ? undefined : certificates.current,
    sourceAddress,
    ...connections,
    clock,
    log,
  })
  const servers = createServers(ui, { ...connections, sourceAddress })
  const longAnswers = createLongAnswers({ sessions, log })
  stack.defer(longAnswers.stop)
  const app = createApi({
    longAnswers,
    surface: 'public',
    db,
    log,
    sourceAddress,
    authenticate: sessions.authenticate,
    recordRefusal: createRefusedCalls({ db, clock, log }),
    limitWrites: createWriteLimit({ clock, onRefused: (address) => refusals.count('writes', address) }),
    serverFactory: servers.factory,
  })
  const tls = config.httpsPort === undefined ? undefined : servers.createTls(certificates.current())
  certificates.onChanged(() => tls?.setSecureContext(certificates.current()))
  stack.defer(() => drain(app, tls, ui))
  const carrying = new AbortController()
  const carried = carryOverThumbnails(db, log, carrying.signal).catch((error: unknown) =>
    log.error({ err: error }, 'thumbnails of an older version could not be moved: the next start continues'),
  )
  stack.defer(() => {
    carrying.abort()
    return carried
  })
  const events = createEvents({ db, sessions, log })
  stack.defer(events.stop)
  facts.follow(gatewayPages(ui))
  facts.follow(liveEvents(events))
  heartbeats.onDeterrents((gatewayId) => events.publish({ topic: 'deterrents', gatewayId }))
  await compressAnswers(app)
  eventRoutes(app, { events })
  const { connectedUsers } = ui
  const list = { signals, hubPublicKey: vpn.publicKey, connectedUsers, warningSince: presence.warningSince }
  const search = createFleetSearch(db)
  const fleetListCache = createFleetListCache(db, search, list)
  const fleetCount = createFleetCount(db, signals, presence.statuses)
  const { backups } = fleet
  const checkedStatuses = presence.statuses
  const parts = { db, signals, checkedStatuses, vpn, connections, certificates, notifications, backups }
  const secondLook = config.secondLook && createSecondLook(config.secondLook, { db, clock, cleanJpeg, metrics, log })
  stack.defer(async () => secondLook?.stop())
  const secondLooksWaiting = () => secondLook?.waiting() ?? 0
  metrics.mountOn(app, { ...parts, eventStreams: events.streams, secondLooksWaiting })
  stack.defer(metrics.stop)
  healthRoutes(app, [() => checkDatabase(db), watch.checkStorage, () => checkVpn(vpn)])
  accountRoutes(app, { db, sessions, passwords, clock, twoFactorKey, refusals })
  const tlsCertificate = tls && (() => new X509Certificate(certificates.current().cert))
  registrationRoutes(app, {
    db,
    clock,
    vpn,
    identity,
    waiters,
    refusals,
    requireRoom: watch.requireRoom,
    tlsCertificate,
  })
  const { publicUrl } = config
  const way = createWay({ publicUrl, ports: () => listening, certificate: tlsCertificate })
  const downloads = openDownloads({ folder: config.downloadsDir, way, log })
  ruleRoutes(app, { db, clock, identity, publicUrl, downloads })
  await downloadRoutes(app, { identity, downloads })
  const settings = keepSettings(db)
  const hubUpdate = createHubUpdate({ source: config.updates, dataDir: config.dataDir, clock, log })
  hubUpdate.start()
  stack.defer(hubUpdate.stop)
  const updates = createUpdates({ db, clock, downloads, heartbeats, settings, hubVersion: hubUpdate.status, log })
  updates.start()
  stack.defer(updates.stop)
  updateRoutes(app, { updates })
  gatewayRoutes(app, { db, clock, vpn, list, fleetListCache, search })
  siteRoutes(app, { db })
  settingsRoutes(app, { db, clock, vpn, peers, onVpnConfigured: admitWaiting })
  alertRoutes(app, {
    db,
    clock,
    links: trust.alertLinks,
    readPicture: (gatewayId, detectionId) => readThumbnail(db, gatewayId, detectionId),
    listIncidents: (scope, ids) => listIncidentsById(db, scope, ids),
  })
  notificationRoutes(app, { db, clock, notifications, portal: { test: putTestNotice, lastAt: lastNoticeAt } })
  pushRoutes(app, { clock, push: fleet.push, languageOf: (userId) => languageOf(db, userId) })
  dashboardRoutes(app, {
    db,
    clock,
    fleetCount,
    storageTrouble: watch.trouble,
    alertTrouble: () => troubleOfAlerts(db),
    rolloutTrouble: updates.trouble,
    backupTrouble: () => backups.state()?.trouble,
    hubUpdate,
  })
  const door = createGatewayDoor({ dial: vpn.dial })
  const commands = createCommands({ db, door, clock, log })
  await commands.start()
  stack.defer(commands.stop)
  commandRoutes(app, { db, commands })
  const homeAssistant = createHomeAssistant({
    db,
    clock,
    log,
    facts,
    settings: config.notifications['mqtt'] as BrokerSettings | undefined,
    statuses: presence.statuses,
    latest: heartbeats.latest,
    readPicture: (gatewayId, detectionId) => readThumbnail(db, gatewayId, detectionId),
    portalUrl: fleet.portalUrl,
    give: commands.give,
  })
  stack.defer(homeAssistant.stop)
  homeAssistantRoutes(app, homeAssistant)
  detectionRoutes(app, { db, clock })
  const monotonic = () => performance.now()
  detectionPictureRoutes(app, {
    db,
    vpn,
    sessions,
    snapshots: createSnapshots({ door, monotonic }),
    clips: createClips({ door }),
    clipLinks: createClipLinks({ clock }),
  })
  cameraRoutes(app, {
    vpn,
    monotonic,
    pictures: createLivePictures({ door, monotonic }),
    listGateways: (scope, reply) => listGateways(db, scope, { ...list, query: {}, reply }),
    latestIncidents: (cameras) => latestIncidents(db, cameras),
    heartbeatOf: heartbeats.latest,
  })
  learningRoutes(app, { vpn, door })
  gatewayProxyRoutes(app, { ui })
  apiDescriptionRoutes(app)
  certificateRoutes(app, { certificates })
  auditRoutes(app, { db })
  const loadShedding = createLoadShedding({ log })
  stack.defer(loadShedding.stop)
  const gatewayCalls: GatewayCallDependencies = {
    loadShedding,
    clock,
    heartbeats: {
      record(gatewayId, content) {
        heartbeats.record(gatewayId, content)
        history.record(gatewayId, content)
      },
    },
    calls: createNamedLimiter({ ...CALL_LIMIT, clock }),
    reviews: {
      newest: keepNewestReviews(db),
      after: (gatewayId, seq) => reviewsAfter(db, gatewayId, seq),
    },
    wantedUpdate: updates.wanted,
    secondLook,
    storeLedger: createLedgerIntake({ db, clock, requireRoom: watch.requireRoom }),
    storeDetections: createIntake({
      db,
      clock,
      settings,
      requireRoom: watch.requireRoom,
      quota,
      metrics,
      // PostgreSQL combines concurrent commits by itself and does not block this process.
      commit:
        engineOf(config.databaseUrl) === 'sqlite'
          ? createSharedCommits<Batch>((batches) => storeBatches(db, batches))
          : undefined,
    }),
  }
  signedGatewayRoutes(app, { ...gatewayCalls, db, identity, refusals })
  const tunnelApi = createTunnelApi({
    ...gatewayCalls,
    db,
    vpn,
    mountDownloads: (scope) => downloadFiles(scope, downloads),
    log,
    faults: connections.faults,
  })
  await tunnelApi.start()
  stack.defer(tunnelApi.stop)
  const contact = createContact(db, config.contactEmail)
  if (isWebBuilt(config))
    await serveWeb(app, {
      webDir: config.webDir,
      siteDir: config.siteDir,
      publicUrl,
      contact,
      handoverSources: ui.handoverSources,
      settings,
    })

  return {
    app,
    events,
    updates,
    hubUpdate,
    faults: connections.faults,
    /** Listens; `base.listening` then has the ports. */
    async start() {
      listening.port = await listen(app, config)
      const httpsPort = tls && (await listenTls(tls, { host: config.host, port: config.httpsPort ?? 0 }))
      listening.httpsPort = httpsPort
      await metrics.start()
      await ui.start()
      await admitWaiting()
      homeAssistant.start()
      return { url: `http://localhost:${listening.port}`, port: listening.port, httpsPort }
    },
  }
}
