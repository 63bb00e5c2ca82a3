/**
 * The counts of each hour: the dashboard's chart, and how many threats there were today. A user sees the gateways they
 * claimed; managers and admins see the whole fleet.
 */
import { hasRole } from '@hedgerow/contract'
import type { Caller } from '../access/sessions.ts'
import { HOUR_MS, startOfHour, WHOLE_FLEET } from '../database/hourly-stats.ts'
import type { Db } from '../database/tables.ts'

const HOURS_SHOWN = 24

export type TimelineHour = { hour: string; activeConnections: number; threats: number; firings: number }

/** The last 24 hours, oldest first, the current one last: of the whole fleet, or of the caller's own gateways. */
export async function timeline(db: Db, caller: Caller, now: number): Promise<TimelineHour[]> {
  const newest = startOfHour(now)
  const hours = Array.from({ length: HOURS_SHOWN }, (_, i) => newest - (HOURS_SHOWN - 1 - i) * HOUR_MS)
  const rows = await db
    .selectFrom('hourly_stats')
    .selectAll()
    .where('scope', '=', hasRole(caller.role, 'manager') ? WHOLE_FLEET : caller.userId)
    .where('hour', '>=', hours[0] ?? newest)
    .where('hour', '<=', newest)
    .execute()
  const byHour = new Map(rows.map((row) => [row.hour, row]))
  return hours.map((hour) => ({
    hour: new Date(hour).toISOString(),
    activeConnections: byHour.get(hour)?.active_connections ?? 0,
    threats: byHour.get(hour)?.threats ?? 0,
    firings: byHour.get(hour)?.firings ?? 0,
  }))
}

/**
 * Detections of severity alert since the hub's local midnight, of the gateways that the caller may see: the counts of
 * whole hours and, when local midnight is not at a full UTC hour, the detections of the minutes before the first one.
 */
export async function threatsToday(db: Db, caller: Caller, now: number): Promise<number> {
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  const firstHour = Math.ceil(midnight / HOUR_MS) * HOUR_MS
  const counted = await db
    .selectFrom('hourly_stats')
    .select((row) => row.fn.sum<number | null>('threats').as('threats'))
    .where('scope', '=', hasRole(caller.role, 'manager') ? WHOLE_FLEET : caller.userId)
    .where('hour', '>=', firstHour)
    .executeTakeFirstOrThrow()
  const early = firstHour === midnight ? 0 : await threatsBetween(db, caller, midnight, Math.min(firstHour, now + 1))
  return Number(counted.threats ?? 0) + early
}

/** Firings of deterrents since the hub's local midnight, or since the last full UTC hour before it. */
export async function firingsToday(db: Db, caller: Caller, now: number): Promise<number> {
  const counted = await db
    .selectFrom('hourly_stats')
    .select((row) => row.fn.sum<number | null>('firings').as('firings'))
    .where('scope', '=', hasRole(caller.role, 'manager') ? WHOLE_FLEET : caller.userId)
    .where('hour', '>=', startOfHour(new Date(now).setHours(0, 0, 0, 0)))
    .executeTakeFirstOrThrow()
  return Number(counted.firings ?? 0)
}

async function threatsBetween(db: Db, caller: Caller, from: number, to: number): Promise<number> {
  let query = db
    .selectFrom('detections')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('detections.severity', '=', 'alert')
    .where('detections.suppressed', '=', 0)
    .where('detections.started_at', '>=', from)
    .where('detections.started_at', '<', to)
  if (!hasRole(caller.role, 'manager'))
    query = query
      .innerJoin('gateways', 'gateways.id', 'detections.gateway_id')
      .where('gateways.owner_id', '=', caller.userId)
  return (await query.executeTakeFirstOrThrow()).count
}
