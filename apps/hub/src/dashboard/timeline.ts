/**
 * What the dashboard counts: the chart's hours, and the threats and firings of today. Threats are incidents, as the
 * list that their numbers lead to. Firings and connections are kept for each gateway and for the whole fleet; other
 * scopes get the sum of their gateways.
 */
import { sql } from 'kysely'
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
    .select(({ fn }) => fn.sum('firings').as('firings'))
    .where('hour', '>=', hours[0] ?? newest)
    .where('hour', '<=', newest)
    .groupBy('hour')
    .execute()
  const threats = await threatsIn(
    db,
    scope,
    hours.map((hour) => [hour, hour + HOUR_MS]),
  )
  const byHour = new Map(rows.map((row) => [row.hour, row]))
  const connected = scope.isWhole ? undefined : await connectedIn(db, scope, hours)
  return hours.map((hour) => ({
    hour: new Date(hour).toISOString(),
    activeConnections: connected ? (connected.get(hour) ?? 0) : (byHour.get(hour)?.connected ?? 0),
    threats: threats.get(hour) ?? 0,
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

/** Incidents of severity alert since the hub's local midnight. */
export async function threatsToday(db: Db, scope: Scope, now: number): Promise<number> {
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  return (await threatsIn(db, scope, [[midnight, now + 1]])).get(midnight) ?? 0
}

/** Firings of deterrents since the hub's local midnight, or since the last full UTC hour before it. */
export async function firingsToday(db: Db, scope: Scope, now: number): Promise<number> {
  const counted = await countsOf(db, scope)
    .select((row) => row.fn.sum<number | null>('firings').as('firings'))
    .where('hour', '>=', startOfHour(new Date(now).setHours(0, 0, 0, 0)))
    .executeTakeFirstOrThrow()
  return Number(counted.firings ?? 0)
}

/** Incidents of severity alert that learning does not hold back, by the start of each span in which they began. */
async function threatsIn(db: Db, scope: Scope, spans: [from: number, to: number][]): Promise<Map<number, number>> {
  const rows = spans.map(([from, to]) => sql`(cast(${from} as double precision), cast(${to} as double precision))`)
  const ofScope = scope.isWhole
    ? sql``
    : sql`and incidents.gateway_id in (${gatewaysIn(db, scope).select('gateways.id')})`
  const counted = await sql<{ from_at: number; count: number | string }>`
    with spans (from_at, to_at) as (values ${sql.join(rows)})
    select from_at, count(*) as count from spans cross join incidents
    where severity = 'alert' and suppressed = 0 and started_at >= from_at and started_at < to_at ${ofScope}
    group by from_at`.execute(db)
  return new Map(counted.rows.map(({ from_at: from, count }) => [from, Number(count)]))
}
