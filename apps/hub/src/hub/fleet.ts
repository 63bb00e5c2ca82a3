/** The third step: the tunnel, the gateways' state, and notifications. */
import { createRefusals } from '../access/refusals.ts'
import { createAuditLogLines } from '../audit/log-lines.ts'
import { testPicture } from '../detections/pictures.ts'
import { createSealing } from '../database/sealed.ts'
import { createDetectionQuota } from '../detections/quota.ts'
import { readAutoApproval } from '../enrolment/auto-approval-settings.ts'
import { admitHeld } from '../enrolment/holds.ts'
import { createWaiters } from '../enrolment/waiters.ts'
import type { FleetSignals } from '../fleet/fleet.ts'
import { createHealthChecks } from '../fleet/health-checks.ts'
import { createHeartbeats } from '../fleet/heartbeats.ts'
import { createHistory } from '../fleet/history.ts'
import { createPortWords } from '../tunnel/endpoints.ts'
import { createPresence } from '../fleet/presence.ts'
import { deletedGateways } from '../followers/deleted-gateways.ts'
import { heldDevices } from '../followers/held-devices.ts'
import { livePeers } from '../followers/live-peers.ts'
import { createBackups } from '../backups/backups.ts'
import { readThumbnail } from '../detections/thumbnails.ts'
import { changedChannels } from '../followers/channels.ts'
import { alertDelivery, alerts, decidedRequests } from '../followers/alerts.ts'
import { delivery, outbox } from '../followers/notifications.ts'
import { retentionChanges } from '../followers/retention.ts'
import { waitingDevices } from '../followers/waiters.ts'
import { renewContent } from '../alerts/contents.ts'
import { languageOf } from '../alerts/preferences.ts'
import { PICTURE_LINK } from '../alerts/links.ts'
import { createProblems } from '../alerts/problems.ts'
import { createAlertSteps } from '../alerts/steps.ts'
import { addressesForOthers, machineInterfaces } from '../http/addresses.ts'
import { openMetrics } from '../metrics/metrics.ts'
import { createPush } from '../notifications/push-subscriptions.ts'
import { openChannels, type OpenChannels } from '../notifications/open-channels.ts'
import { createSavedChannels } from '../notifications/saved-channels.ts'
import { createNotifications } from '../notifications/notifications.ts'
import { createRetention } from '../retention/retention.ts'
import { readSettings } from '../settings/settings.ts'
import { openVpn } from '../tunnel/open-tunnel.ts'
import { createPeers } from '../tunnel/peers.ts'
import type { Base } from './base.ts'
import type { Storage } from './storage.ts'
import type { Trust } from './trust.ts'

export type Fleet = Awaited<ReturnType<typeof openFleet>>

export async function openFleet(base: Base, storage: Storage, trust: Trust, stack: AsyncDisposableStack) {
  const { config, log, clock } = base
  const { db, facts, watch } = storage
  const metrics = await openMetrics(config)
  const refusals = createRefusals({ log, countRefusal: metrics.countRefusal })
  stack.defer(refusals.stop)
  const { enableVpn: enabled, vpnNetwork: networkCidr } = await readSettings(db)
  const vpn = await openVpn({
    config: config.vpn,
    privateKey: trust.vpnPrivateKey,
    enabled,
    networkCidr,
    clock,
    onDrop: metrics.countDrop,
  })
  stack.defer(vpn.stop)
  const portalUrl = () => {
    const ports = { port: base.listening.port, httpsPort: undefined }
    return addressesForOthers(config, ports, machineInterfaces())[0] ?? `http://localhost:${ports.port}`
  }
  const push = createPush({
    db,
    clock,
    keys: trust.pushKeys,
    hosts: config.pushHosts,
    subject: () => pushSubject(config.contactEmail, portalUrl()),
  })
  const about = { variables: config.notifications, hosts: config.channelHosts }
  const saved = createSavedChannels({ sealing: createSealing(trust.channelKey), ...about })
  const channels = await openChannels({ db, saved, ...about, parts: { clock, push }, log })
  facts.follow(changedChannels(channels))
  const notifications = await startNotifications(base, storage, { ...trust, channels }, portalUrl)
  stack.defer(notifications.stop)
  // Registered before the first check of the disk, which may have something to report.
  facts.follow(outbox(notifications, languageOf))
  facts.follow(delivery(notifications))
  facts.follow(alerts(notifications))
  facts.follow(alertDelivery(notifications))
  facts.follow(decidedRequests)
  const alertSteps = createAlertSteps({
    db,
    clock,
    log,
    notifications,
    hub: { storage: watch, certificates: trust.certificates },
  })
  stack.defer(alertSteps.stop)
  alertSteps.start()
  await watch.start()
  const backups = createBackups({ db, config, clock, log })
  stack.defer(backups.stop)
  backups.start()
  const retention = createRetention({ db, clock, log })
  stack.defer(retention.stop)
  retention.start()
  facts.follow(retentionChanges(retention))
  const auditLines = createAuditLogLines({
    db,
    log: config.logAudit ? log.child({}, { level: 'info' }) : log,
    isWhole: config.logAudit,
  })
  await auditLines.start()
  stack.defer(auditLines.stop)

  const parts = { db, vpn, portalUrl, clock, log }
  const peers = createPeers(parts)
  await peers.start()
  stack.defer(peers.stop)
  facts.follow(livePeers(peers))
  const heartbeats = createHeartbeats(parts)
  await heartbeats.start()
  stack.defer(heartbeats.stop)
  const history = createHistory(parts)
  stack.defer(history.stop)
  history.start()
  // Before history, heartbeats and peers write for the last time: packets that nobody answers would keep them waiting.
  // The `defer` above is for a start that fails before this one.
  stack.defer(vpn.stop)
  const quota = createDetectionQuota(parts)
  await quota.start()
  stack.defer(quota.stop)
  facts.follow(deletedGateways({ heartbeats, quota, retention }))
  const { handshakes } = peers
  const healthChecks = createHealthChecks({ ...parts, handshakes })
  stack.defer(healthChecks.stop)
  healthChecks.start()
  const { isHealthy } = healthChecks
  const vpnPort = createPortWords(vpn, () => new URL(portalUrl()).host)
  const signals: FleetSignals = { clock, heartbeats, handshakes, isHealthy, refusals: quota.refusals, vpnPort }
  const presence = createPresence({ db, signals, log })
  stack.defer(presence.stop)
  presence.start()
  const problems = createProblems({
    db,
    clock,
    log,
    notifications,
    statuses: presence.statuses,
    camerasOf: (id) => heartbeats.latest(id)?.content.cameras ?? [],
  })
  stack.defer(problems.stop)
  problems.start()

  const waiters = createWaiters()
  const admitWaiting = () => admitHeld(db, { clock, canApprove: () => vpn.disabledReason === undefined })
  facts.follow(waitingDevices(waiters))
  facts.follow(heldDevices(admitWaiting))
  return {
    metrics,
    refusals,
    vpn,
    notifications,
    saved,
    channels,
    push,
    alertSteps,
    problems,
    portalUrl,
    backups,
    retention,
    peers,
    heartbeats,
    history,
    quota,
    signals,
    presence,
    waiters,
    admitWaiting,
  }
}

/** The contact of this hub's operator for push services: RFC 8292 §2.1. */
function pushSubject(contactEmail: string | undefined, portalUrl: string): string {
  if (contactEmail !== undefined) return `mailto:${contactEmail}`
  return portalUrl.startsWith('https:') ? portalUrl : `mailto:hub@${new URL(portalUrl).hostname}`
}

/** Starts to send what waits. */
async function startNotifications(
  { log, clock }: Base,
  { db, watch: storage }: Storage,
  { alertLinks, channels, certificates }: Trust & { channels: OpenChannels },
  portalUrl: () => string,
) {
  const notifications = createNotifications({
    db,
    clock,
    log,
    portalUrl,
    channels,
    async readSwitches(from) {
      const { notificationEnabled, notificationEmail } = await readAutoApproval(from)
      return { enabled: notificationEnabled, email: notificationEmail }
    },
    async readPicture({ gatewayId, detectionId }) {
      return (await readThumbnail(db, gatewayId, detectionId)).jpeg
    },
    alertLink: alertLinks.make,
    pictureLink: (link) => alertLinks.make({ ...link, channel: PICTURE_LINK }),
    testPicture,
    renew: (row) => renewContent(db, row, { storage, certificates }),
  })
  await notifications.start()
  return notifications
}
