/**
 * Watches the fleet's statuses: each change of one becomes an activity entry, the most gateways connected at once go into
 * the hour's count, and who stays away is announced. What it finds first after a start is where it begins, not a change.
 */
import type { ActivityEntry } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { countInHour, recordActivity, startOfHour, WHOLE_FLEET, type NewActivity } from '../activity/activity.ts'
import type { Tables } from '../database/tables.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { createOutageAlerts } from './outage-alerts.ts'
import { fleetStatuses, type FleetSignals, type FleetStatus } from './fleet.ts'

const LOOK_INTERVAL_MS = 5_000

const typeOf: Record<FleetStatus['status'], ActivityEntry['type']> = {
  online: 'success',
  warning: 'warning',
  offline: 'error',
}

export type Presence = { start(): void; look(): Promise<void>; stop(): Promise<void> }

export function createPresence(options: {
  db: Kysely<Tables>
  signals: FleetSignals
  log: Logger
  /** Hears of the gateways whose status changed, after that was recorded. */
  onChanged: (gatewayIds: string[]) => void
  notifications: Pick<Notifications, 'announce' | 'wake'>
}): Presence {
  const { db, signals, log, onChanged, notifications } = options
  const quiet = createOutageAlerts()
  let known: Map<string, FleetStatus['status']> | undefined
  let peaks = { hour: 0, byScope: new Map<string, number>() }
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    const statuses = await fleetStatuses(db, signals)
    const now = signals.clock()
    const before = known
    const changed = before ? statuses.filter(({ id, status }) => status !== (before.get(id) ?? 'offline')) : []
    const hour = startOfHour(now)
    const peaksBefore = peaks.hour === hour ? peaks.byScope : new Map<string, number>()
    // Written when it rises: a quiet fleet costs no writes.
    const risen = connectedByScope(statuses).filter(([scope, connected]) => connected > (peaksBefore.get(scope) ?? 0))
    const quietNow = quiet.observe(statuses, now)
    if (changed.length > 0 || risen.length > 0 || quietNow.length > 0)
      await db.transaction().execute(async (transaction) => {
        await recordActivity(transaction, ...changed.map((status) => transitionEntry(status, now)))
        for (const [scope, activeConnections] of risen)
          await countInHour(transaction, { at: now, scope, activeConnections })
        for (const announcement of quietNow) await notifications.announce(transaction, announcement)
      })
    if (quietNow.length > 0) notifications.wake()
    peaks = { hour, byScope: new Map([...peaksBefore, ...risen]) }
    known = new Map(statuses.map(({ id, status }) => [id, status]))
    onChanged(changed.map(({ id }) => id))
  }

  function lookInTurn(): void {
    looking = looking
      .then(look)
      .catch((error: unknown) => log.warn({ err: error }, 'the fleet could not be looked over'))
  }

  return {
    start() {
      lookInTurn()
      timer = setInterval(lookInTurn, LOOK_INTERVAL_MS).unref()
    },
    look,
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}

function transitionEntry({ id, name, status, reason }: FleetStatus, at: number): NewActivity {
  const message =
    status === 'warning' ? `Gateway "${name}" has a warning: ${reason}` : `Gateway "${name}" is ${status}: ${reason}`
  return { at, type: typeOf[status], message, gatewayId: id }
}

/** How many gateways are connected, of the whole fleet and of each owner; in one order of rows for everybody. */
function connectedByScope(statuses: FleetStatus[]): [scope: string, connected: number][] {
  const counts = new Map<string, number>()
  for (const { status, ownerId } of statuses) {
    if (status === 'offline') continue
    for (const scope of ownerId === null ? [WHOLE_FLEET] : [WHOLE_FLEET, ownerId])
      counts.set(scope, (counts.get(scope) ?? 0) + 1)
  }
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
