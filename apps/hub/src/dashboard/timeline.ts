/**
 * The counts of each hour: the dashboard's chart, and how many threats there were today. They are kept for each gateway
 * and for the whole fleet; other scopes get the sum of their gateways.
 */
import { gatewaysIn } from '../access/objects.ts'
import type { Scope } from '../access/scope.ts'
import { HOUR_MS, startOfHour, WHOLE_FLEET } from '../database/hourly-stats.ts'
import type { Db } from '../database/tables.ts'

const HOURS_SHOWN = 24

export type TimelineHour = { hour: string; activeConnections: number; threats: number; firings: number }

/** The last 24 hours, oldest first, the current one last. */
export async function timeline(db: Db, scope: Scope, now: number): Promise<TimelineHour[]> {
  const newest = startOfHour(now)
  const hours = Array.from({ length: HOURS_SHOWN }, (_, i) => newest - (HOURS_SHOWN - 1 - i) * HOUR_MS)
  const rows = await countsOf(db, scope)
    .select(({ fn }) => ['hour', fn.max('active_connections').as('connected')])
    .select(({ fn }) => [fn.sum('threats').as('threats'), fn.sum('firings').as('firings')])
    .where('hour', '>=', hours[0] ?? newest)
    .where('hour', '<=', newest)
    .groupBy('hour')
    .execute()
  const byHour = new Map(rows.map((row) => [row.hour, row]))
  const connected = scope.isWhole ? undefined : await connectedIn(db, scope, hours)
  return hours.map((hour) => ({
    hour: new Date(hour).toISOString(),
    activeConnections: connected ? (connected.get(hour) ?? 0) : (byHour.get(hour)?.connected ?? 0),
    threats: Number(byHour.get(hour)?.threats ?? 0),
    firings: Number(byHour.get(hour)?.firings ?? 0),
  }))
}

function countsOf(db: Db, scope: Scope) {
  const counts = db.selectFrom('hourly_stats')
  return scope.isWhole
    ? counts.where('scope', '=', WHOLE_FLEET)
    : counts.where('scope', 'in', gatewaysIn(db, scope).select('gateways.id'))
}

/** How many gateways were heard from in each hour: those have a row of history. */
async function connectedIn(db: Db, scope: Scope, hours: readonly number[]): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('gateway_hours')
    .select(({ fn }) => ['hour', fn.countAll().as('gateways')])
    .where('gateway_id', 'in', gatewaysIn(db, scope).select('gateways.id'))
    .where('hour', '>=', Math.min(...hours))
    .where('hour', '<=', Math.max(...hours))
    .groupBy('hour')
    .execute()
  return new Map(rows.map(({ hour, gateways }) => [hour, Number(gateways)]))
}

/**
 * Detections of severity alert since the hub's local midnight, of the scope's gateways: the counts of
 * whole hours and, when local midnight is not at a full UTC hour, the detections of the minutes before the first one.
 */
export async function threatsToday(db: Db, scope: Scope, now: number): Promise<number> {
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  const firstHour = Math.ceil(midnight / HOUR_MS) * HOUR_MS
  const counted = await countsOf(db, scope)
    .select((row) => row.fn.sum<number | null>('threats').as('threats'))
    .where('hour', '>=', firstHour)
    .executeTakeFirstOrThrow()
  const early = firstHour === midnight ? 0 : await threatsBetween(db, scope, midnight, Math.min(firstHour, now + 1))
  return Number(counted.threats ?? 0) + early
}

/** Firings of deterrents since the hub's local midnight, or since the last full UTC hour before it. */
export async function firingsToday(db: Db, scope: Scope, now: number): Promise<number> {
  const counted = await countsOf(db, scope)
    .select((row) => row.fn.sum<number | null>('firings').as('firings'))
    .where('hour', '>=', startOfHour(new Date(now).setHours(0, 0, 0, 0)))
    .executeTakeFirstOrThrow()
  return Number(counted.firings ?? 0)
}

async function threatsBetween(db: Db, scope: Scope, from: number, to: number): Promise<number> {
  const detections = db.selectFrom('detections')
  const ofScope = scope.isWhole
    ? detections
    : detections.where('detections.gateway_id', 'in', gatewaysIn(db, scope).select('gateways.id'))
  const counted = await ofScope
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('detections.severity', '=', 'alert')
    .where('detections.suppressed', '=', 0)
    .where('detections.started_at', '>=', from)
    .where('detections.started_at', '<', to)
    .executeTakeFirstOrThrow()
  return counted.count
}
