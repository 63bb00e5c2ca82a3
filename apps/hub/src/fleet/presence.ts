/**
 * Watches the fleet's statuses: records each change, and each new problem of a gateway that has a warning, as a fact,
 * and the maximum of connected gateways in the hour's count. The first statuses after a start do not count as changes.
 */
import type { Fact } from '@hedgerow/contract'
import type { ExpressionBuilder, Kysely } from 'kysely'
import type { Logger } from 'pino'
import { countInHours, startOfHour, WHOLE_FLEET } from '../database/hourly-stats.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HUB, record } from '../facts/facts.ts'
import { slices } from '../kernel/slices.ts'
import { createTasks } from '../kernel/tasks.ts'
import type { FleetStatus, Statuses } from './fleet.ts'

const LOOK_INTERVAL_MS = 5_000

export type Presence = {
  start(): void
  look(): Promise<void>
  /** When the newest problem of a gateway with a warning began; undefined for none, and when that is not stored. */
  warningSince(gatewayId: string): number | undefined
  stop(): Promise<void>
}

export function createPresence({
  db,
  clock,
  statuses: read,
  log,
}: {
  db: Kysely<Tables>
  clock: () => number
  statuses: Statuses
  log: Logger
}): Presence {
  let previous: ReadonlyMap<string, PresenceState> | undefined
  let warnings: ReadonlyMap<string, number | undefined> = new Map()
  let peak = { hour: 0, connected: 0 }
  const tasks = createTasks({ log, name: 'presence', on: 'one hub', failure: 'could not check the fleet' })

  async function look(): Promise<void> {
    const statuses = await read()
    const now = clock()
    const before = previous
    const found = new Map(statuses.map((gateway) => [gateway.id, presenceOf(gateway)]))
    const changed = before ? statuses.filter(({ id }) => isNews(found.get(id), before.get(id))) : []
    const news = new Set(changed.map(({ id }) => id))
    const inTrouble = statuses.filter(({ status }) => status === 'warning').map(({ id }) => id)
    const unknown = inTrouble.filter((id) => !news.has(id) && !warnings.has(id))
    const since = new Map([...warnings, ...(await storedWarnings(db, unknown, now))])
    const warned = new Map(inTrouble.map((id) => [id, news.has(id) ? now : since.get(id)] as const))
    // Before the facts are recorded, whose followers read it.
    warnings = warned
    const hour = startOfHour(now)
    const connected = statuses.filter(({ status }) => status !== 'offline').length
    // Written only when it rises: an unchanged fleet costs no writes.
    const isRisen = connected > (peak.hour === hour ? peak.connected : 0)
    if (changed.length > 0 || isRisen)
      await inTransaction(
        db,
        async (transaction) => {
          if (isRisen) await countInHours(transaction, [{ at: now, scope: WHOLE_FLEET, activeConnections: connected }])
          const facts = changed.map((status) => changeOf(status, now))
          if (facts.length > 0) await record(transaction, ...facts)
        },
        'read committed',
      )
    if (isRisen) peak = { hour, connected }
    for (const { id, status } of changed)
      log.info({ gatewayId: id, was: before?.get(id)?.status ?? 'offline', status }, 'gateway status')
    previous = found
  }

  return {
    start() {
      void tasks.run(look)
      tasks.every(LOOK_INTERVAL_MS, look)
    },
    look,
    warningSince: (gatewayId) => warnings.get(gatewayId),
    stop: () => tasks.stop(),
  }
}

type PresenceState = { status: FleetStatus['status']; problems: ReadonlySet<string> }

const NO_PROBLEMS: ReadonlySet<string> = new Set()

function presenceOf(gateway: FleetStatus): PresenceState {
  return { status: gateway.status, problems: gateway.status === 'warning' ? new Set(gateway.problems) : NO_PROBLEMS }
}

/** Whether the status is another one, or there is a problem more. */
function isNews(now: PresenceState | undefined, before: PresenceState | undefined): boolean {
  if (now?.status !== (before?.status ?? 'offline')) return true
  return before !== undefined && now !== undefined && !now.problems.isSubsetOf(before.problems)
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

/**
 * When the newest problem of each gateway began in an earlier run, by its activity, which retention/retention.ts keeps
 * for this; `now` for a warning that began while the hub was off, undefined without activity.
 */
async function storedWarnings(db: Kysely<Tables>, gatewayIds: readonly string[], now: number) {
  const since = new Map<string, number | undefined>()
  for await (const ids of slices(gatewayIds)) {
    const newest = (row: ExpressionBuilder<Tables, 'gateways'>) =>
      row
        .selectFrom('activity')
        .whereRef('gateway_id', '=', 'gateways.id')
        .where('kind', '=', 'gateway.status-changed')
        .orderBy('at', 'desc')
        .orderBy('activity.id', 'desc')
        .limit(1)
    const rows = await db
      .selectFrom('gateways')
      .where('gateways.id', 'in', ids)
      .select((row) => ['gateways.id', newest(row).select('type').as('type'), newest(row).select('at').as('at')])
      .execute()
    for (const { id, type, at } of rows) since.set(id, at === null ? undefined : type === 'warning' ? at : now)
  }
  return since
}
