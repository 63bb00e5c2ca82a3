/**
 * The composition root: builds a hub in four steps, each from the results of the earlier ones, and takes it down in
 * reverse. Only this file and `hub/` know every module. Called by program.ts, and by tests through testing/hub.ts.
 */
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { type FirstAdmin } from './accounts/first-admin.ts'
import type { Backups } from './backups/backups.ts'
import type { Hashing, Passwords } from './accounts/passwords.ts'
import { type Certificates } from './certificates/certificates.ts'
import type { Config } from './config.ts'
import type { Tables } from './database/tables.ts'
import { type Events } from './events/events.ts'
import { type Heartbeats } from './fleet/heartbeats.ts'
import { type History } from './fleet/history.ts'
import { type Metrics } from './metrics/metrics.ts'
import { type Connections } from './http/connections.ts'
import type { Sessions } from './access/sessions.ts'
import { type AlertLinks } from './alerts/links.ts'
import { type Problems } from './alerts/problems.ts'
import { type AlertSteps } from './alerts/steps.ts'
import { type Notifications } from './notifications/notifications.ts'
import { type Retention } from './retention/retention.ts'
import { type SwitchableVpn } from './tunnel/tunnel.ts'
import { type HubUpdate } from './hub-update/hub-update.ts'
import { type Updates } from './updates/updates.ts'
import type { Base } from './hub/base.ts'
import { openEdge } from './hub/edge.ts'
import { openFleet } from './hub/fleet.ts'
import { openStorage } from './hub/storage.ts'
import { openTrust } from './hub/trust.ts'

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
  alertSteps: AlertSteps
  problems: Problems
  alertLinks: AlertLinks
  backups: Backups
  retention: Retention
  heartbeats: Heartbeats
  history: History
  updates: Updates
  hubUpdate: HubUpdate
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
  /** Called when another hub has taken this one's database: this hub must end. */
  onTakenOver?: () => void
  /** Hashes passwords, argon2id by default. */
  hashing?: Hashing
}

/** Rejects with a step's error after taking down the parts that were built. */
export async function createHub({ config, log, clock = Date.now, onTakenOver, hashing }: HubOptions): Promise<Hub> {
  const stack = new AsyncDisposableStack()
  const base: Base = { config, log, clock, onTakenOver, hashing, listening: { port: config.port } }
  try {
    const storage = await openStorage(base, stack)
    const trust = await openTrust(base, storage, stack)
    const fleet = await openFleet(base, storage, trust, stack)
    const edge = await openEdge(base, { storage, trust, fleet }, stack)
    const { db } = storage
    const { passwords, firstAdmin, sessions, certificates, alertLinks } = trust
    const { metrics, vpn, notifications, alertSteps, problems, backups, retention, heartbeats, history } = fleet
    return {
      ...edge,
      db,
      passwords,
      firstAdmin,
      sessions,
      certificates,
      metrics,
      vpn,
      notifications,
      alertSteps,
      problems,
      alertLinks,
      backups,
      retention,
      heartbeats,
      history,
      stop: () => stack.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
