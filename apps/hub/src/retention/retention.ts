/**
 * Deletes rows older than logRetentionDays: activity, audit, detections, reviews, visits, commands, ledgers, hourly
 * counts and finished notifications, of which it keeps at most 50,000. A gateway's history stays for at most 7 days. It
 * runs once a day, and at once when the setting changes, in small batches with pauses, so that no request waits for it.
 * After a jump of the clock it deletes nothing for a day of running time. It also removes the remaining rows of deleted
 * gateways.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { HISTORY_HOURS } from '@hedgerow/contract'
import { sql, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import { createLeapWatch } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { createTasks } from '../kernel/tasks.ts'
import { deleteOldDetections, trimDetections } from '../detections/detections.ts'
import { readSettings } from '../settings/settings.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** Readers of the log need seconds; people read activity and audit instead. */
const FACTS_KEPT_MS = DAY_MS
/** Pages that stay open can undo reviews of this time. */
const UNDO_KEPT_MS = 7 * DAY_MS
const LOOK_INTERVAL_MS = HOUR_MS
const FIRST_LOOK_MS = 60_000
/** How soon a purge that failed is tried again: PostgreSQL ends one of two transactions that wait for each other. */
const RETRY_MS = 10_000
const TRIM_INTERVAL_MS = 10_000
const DELIVERIES_KEPT = 50_000
const BATCH_ROWS = 500
const PAUSE_MS = 10
const LEDGER_KEY = ['gateway_id', 'entry_id', 'at']
const REVIEW_KEY = ['gateway_id', 'detection_id']

/** The line of a warning that lasts: fleet/presence.ts reads there since when. */
const SAYS_A_LASTING_WARNING = sql`(kind = 'gateway.status-changed' and type = 'warning'
  and exists (select 1 from gateways where gateways.id = activity.gateway_id)
  and not exists (select 1 from activity as later where later.gateway_id = activity.gateway_id
    and later.kind = 'gateway.status-changed' and (later.at, later.id) > (activity.at, activity.id)))`

export type Retention = {
  start(): void
  /** Deletes old rows now, or after the hold that follows a jump of the clock. */
  purge(): Promise<void>
  /** Deletes detections above the settings' limits. */
  trim(): Promise<void>
  /** Deletes the rows of a deleted gateway. */
  deleteRowsOf(gatewayId: string): Promise<void>
  stop(): Promise<void>
}

/** `uptime` is a clock that nobody sets, in milliseconds; default: the process's own. */
export function createRetention(options: {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
  uptime?: () => number
  /** The log of deliveries keeps at most this many messages, however new the others are. */
  deliveriesKept?: number
}): Retention {
  const { db, clock, log, uptime = () => performance.now(), deliveriesKept = DELIVERIES_KEPT } = options
  const stopped = new AbortController()
  const tasks = createTasks({ log, name: 'retention', on: 'one hub', failure: 'could not delete old rows' })
  let purgedAt = -Infinity
  const leaps = createLeapWatch({ db, clock, log, uptime })

  /** Runs `batch` until it deletes no more. */
  async function drain(batch: ReturnType<typeof sql>): Promise<void> {
    while (!stopped.signal.aborted) {
      const { numAffectedRows = 0n } = await batch.execute(db)
      if (numAffectedRows < BigInt(BATCH_ROWS)) return
      await sleep(PAUSE_MS, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  async function drainDetections(condition: ReturnType<typeof sql>): Promise<void> {
    while (!stopped.signal.aborted) {
      if ((await deleteOldDetections(db, condition)).isLast) return
      await sleep(PAUSE_MS, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  async function purge(): Promise<void> {
    purgedAt = -Infinity
    if (await leaps.look()) return
    try {
      await deleteOld()
    } catch (error) {
      tasks.soon(RETRY_MS, purgeWhenDue)
      throw error
    }
  }

  async function deleteOld(): Promise<void> {
    const now = clock()
    const { logRetentionDays } = await readSettings(db)
    const oldest = now - logRetentionDays * DAY_MS
    await drain(oldRows('activity', ['id'], sql`at < ${oldest} and not ${SAYS_A_LASTING_WARNING}`, 'at'))
    await drain(oldRows('ui_access', ['id'], sql`started_at < ${oldest}`, 'started_at'))
    // Both times count: a device whose clock is behind reports detections that look old.
    await drainDetections(sql`started_at < ${oldest} and received_at < ${oldest}`)
    await drain(oldRows('commands', ['id'], sql`created_at < ${oldest}`, 'created_at'))
    await drain(oldRows('ledger', LEDGER_KEY, sql`received_at < ${oldest}`, 'received_at'))
    await drain(oldRows('reviews', REVIEW_KEY, sql`at < ${oldest}`, 'at'))
    await drain(oldRows('former_reviews', ['id'], sql`at < ${now - UNDO_KEPT_MS}`, 'at'))
    await drain(oldRows('notices', ['user_id', 'alert_id'], sql`at < ${oldest}`, 'at'))
    await drain(oldRows('alerts', ['id'], sql`at < ${oldest}`, 'at'))
    await drain(oldRows('alerted_incidents', ['rule_id', 'incident_id'], sql`at < ${oldest}`, 'at'))
    await drain(oldRows('hourly_stats', ['hour', 'scope'], sql`hour < ${oldest}`, 'hour'))
    const oldestHistory = Math.max(oldest, now - HISTORY_HOURS * HOUR_MS)
    await drain(oldRows('gateway_hours', ['gateway_id', 'hour'], sql`hour < ${oldestHistory - HOUR_MS}`, 'hour'))
    await drain(oldRows('detection_refusals', ['gateway_id', 'at', 'reason'], sql`at < ${oldestHistory}`, 'at'))
    for (const state of ['sent', 'failed'])
      await drain(oldRows('notifications', ['id'], sql`state = ${state} and due_at < ${oldest}`, 'due_at'))
    const newestTooMany = sql`select id from notifications order by id desc limit 1 offset ${sql.lit(deliveriesKept)}`
    await drain(oldRows('notifications', ['id'], sql`state in ('sent', 'failed') and id <= (${newestTooMany})`, 'id'))
    // A gateway may have been deleted while the hub stopped.
    for (const { gateway_id } of await deletedGateways()) if (gateway_id !== null) await deleteRowsOf(gateway_id)
    await drain(oldRows('facts', ['id'], sql`at < ${Math.max(oldest, now - FACTS_KEPT_MS)}`, 'at'))
    // The audit comes last, because the database refuses to delete entries that are new by its own clock.
    await drain(oldRows('audit', ['id'], sql`at < ${oldest}`, 'at'))
    purgedAt = now
  }

  function deletedGateways() {
    return db.selectFrom('facts').select('gateway_id').where('kind', '=', 'gateway.deleted').execute()
  }
  const trim = async () => trimDetections(db, await readSettings(db), stopped.signal)

  async function deleteRowsOf(gatewayId: string): Promise<void> {
    const theirs = sql`gateway_id = ${gatewayId}`
    await drainDetections(theirs)
    await db.deleteFrom('detection_totals').where('gateway_id', '=', gatewayId).execute()
    await drain(oldRows('detection_refusals', ['gateway_id', 'at', 'reason'], theirs, 'at'))
    await drain(oldRows('ui_access', ['id'], theirs, 'started_at'))
    await drain(oldRows('gateway_hours', ['gateway_id', 'hour'], theirs, 'hour'))
    await drain(oldRows('commands', ['id'], theirs, 'created_at'))
    await drain(oldRows('ledger', LEDGER_KEY, theirs, 'received_at'))
    await drain(oldRows('reviews', REVIEW_KEY, theirs, 'at'))
    await drain(oldRows('former_reviews', ['id'], theirs, 'at'))
  }

  async function purgeWhenDue(): Promise<void> {
    if (Math.abs(clock() - purgedAt) >= DAY_MS) await purge()
    else await leaps.look()
  }

  return {
    start() {
      void tasks.run(leaps.look)
      tasks.soon(FIRST_LOOK_MS, purgeWhenDue)
      tasks.every(LOOK_INTERVAL_MS, purgeWhenDue)
      tasks.every(TRIM_INTERVAL_MS, trim)
    },
    purge: () => tasks.run(purge),
    trim: () => tasks.run(trim),
    deleteRowsOf: (gatewayId) => tasks.run(() => deleteRowsOf(gatewayId)),
    async stop() {
      stopped.abort()
      await tasks.stop()
    },
  }
}

/** One batch of old rows, by the index that begins with `sortedBy`. */
function oldRows(table: keyof Tables, key: readonly string[], condition: ReturnType<typeof sql>, sortedBy: string) {
  const columns = sql.join(key.map((name) => sql.ref(name)))
  const batch = sql`select ${columns} from ${sql.table(table)} where ${condition}
    order by ${sql.ref(sortedBy)} limit ${sql.lit(BATCH_ROWS)}`
  return sql`delete from ${sql.table(table)} where (${columns}) in (${batch})`
}
