/**
 * Watches the fleet's statuses: records each change as a fact, and the maximum of connected gateways in the hour's
 * count. The first statuses after a start do not count as changes.
 */
import type { Fact } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { countInHour, startOfHour, WHOLE_FLEET } from '../database/hourly-stats.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HUB, record } from '../facts/facts.ts'
import { createTasks } from '../kernel/tasks.ts'
import { fleetStatuses, type FleetSignals, type FleetStatus } from './fleet.ts'

const LOOK_INTERVAL_MS = 5_000
const GATEWAYS_AT_ONCE = 200

export type Presence = {
  start(): void
  look(): Promise<void>
  /** The last check's result; undefined before the first. */
  statuses(): readonly FleetStatus[] | undefined
  /** When the gateway's warning began; undefined for none, and when that is no longer stored. */
  warningSince(gatewayId: string): number | undefined
  stop(): Promise<void>
}

export function createPresence(options: { db: Kysely<Tables>; signals: FleetSignals; log: Logger }): Presence {
  const { db, signals, log } = options
  let latest: readonly FleetStatus[] | undefined
  let known: ReadonlyMap<string, FleetStatus['status']> | undefined
  let warnings: ReadonlyMap<string, number | undefined> = new Map()
  let peaks = { hour: 0, byScope: new Map<string, number>() }
  const tasks = createTasks({ log, failure: 'could not check the fleet' })

  async function look(): Promise<void> {
    const statuses = await fleetStatuses(db, signals)
    latest = statuses
    const now = signals.clock()
    const before = known
    const changed = before ? statuses.filter(({ id, status }) => status !== (before.get(id) ?? 'offline')) : []
    const warned = statuses.filter(({ status }) => status === 'warning').map(({ id }) => id)
    const begun = before ? undefined : await storedWarnings(db, warned, now)
    const hour = startOfHour(now)
    const peaksBefore = peaks.hour === hour ? peaks.byScope : new Map<string, number>()
    // Written only when it rises: an unchanged fleet costs no writes.
    const risen = connectedByScope(statuses).filter(([scope, connected]) => connected > (peaksBefore.get(scope) ?? 0))
    if (changed.length > 0 || risen.length > 0)
      await inTransaction(
        db,
        async (transaction) => {
          for (const [scope, activeConnections] of risen)
            await countInHour(transaction, { at: now, scope, activeConnections })
          const facts = changed.map((status) => changeOf(status, now))
          if (facts.length > 0) await record(transaction, ...facts)
        },
        'read committed',
      )
    peaks = { hour, byScope: new Map([...peaksBefore, ...risen]) }
    for (const { id, status } of changed)
      log.info({ gatewayId: id, was: before?.get(id) ?? 'offline', status }, 'gateway status')
    known = new Map(statuses.map(({ id, status }) => [id, status]))
    warnings = new Map(warned.map((id) => [id, begun ? begun.get(id) : warnings.has(id) ? warnings.get(id) : now]))
  }

  return {
    start() {
      void tasks.run(look)
      tasks.every(LOOK_INTERVAL_MS, look)
    },
    look,
    statuses: () => latest,
    warningSince: (gatewayId) => warnings.get(gatewayId),
    stop: () => tasks.stop(),
  }
}

function changeOf({ id, name, status, reason }: FleetStatus, at: number): Fact {
  return {
    kind: 'gateway.status-changed',
    at,
    actor: HUB,
    target: id,
    gatewayId: id,
    data: { name, status, reason },
  }
}

/** When these warnings began, by the activity of earlier runs; `now` for one that began while the hub was off. */
async function storedWarnings(db: Kysely<Tables>, ids: readonly string[], now: number): Promise<Map<string, number>> {
  const since = new Map<string, number>()
  for (let from = 0; from < ids.length; from += GATEWAYS_AT_ONCE) {
    const changes = await db
      .selectFrom('activity')
      .select(['gateway_id', 'type'])
      .select(({ fn }) => fn.max('at').as('at'))
      .where('gateway_id', 'in', ids.slice(from, from + GATEWAYS_AT_ONCE))
      .where('kind', '=', 'gateway.status-changed')
      .groupBy(['gateway_id', 'type'])
      .orderBy('at')
      .execute()
    for (const { gateway_id: id, type, at } of changes) if (id !== null) since.set(id, type === 'warning' ? at : now)
  }
  return since
}

/**
 * How many gateways are connected, in the whole fleet and for each owner; rows in one fixed order, against deadlocks.
 */
function connectedByScope(statuses: FleetStatus[]): [scope: string, connected: number][] {
  const counts = new Map<string, number>()
  for (const { status, ownerId } of statuses) {
    if (status === 'offline') continue
    for (const scope of ownerId === null ? [WHOLE_FLEET] : [WHOLE_FLEET, ownerId])
      counts.set(scope, (counts.get(scope) ?? 0) + 1)
  }
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
