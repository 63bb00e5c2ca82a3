/**
 * What happened in the fleet, for people: the entries of the dashboard's activity panel, and the counts of each hour
 * behind its chart. A user sees what concerns the gateways they claimed; managers and admins see everything. Entries are
 * written by the verbs of registrations/ and gateways/, inside their transactions.
 */
import type { ActivityEntry } from '@hedgerow/contract'
import type { Db } from '../database/tables.ts'
import { hasRole } from '../http/policy.ts'
import type { Caller } from '../http/sessions.ts'

const ENTRIES_SHOWN = 50
const HOUR_MS = 3_600_000
const HOURS_SHOWN = 24
/** The row of `hourly_stats` that counts the whole fleet; every other row is named after an owner. */
export const WHOLE_FLEET = 'fleet'

export type NewActivity = {
  /** Milliseconds since 1970. */
  at: number
  type: ActivityEntry['type']
  message: string
  /** Whose owner may see it too. */
  gatewayId?: string | undefined
}

export async function recordActivity(db: Db, ...entries: NewActivity[]): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map(({ gatewayId, ...entry }) => ({ ...entry, gateway_id: gatewayId ?? null }))
  await db.insertInto('activity').values(rows).execute()
}

/** The newest entries that the caller may see, newest first. */
export async function recentActivity(db: Db, caller: Caller): Promise<ActivityEntry[]> {
  let query = db
    .selectFrom('activity')
    .select(['activity.id', 'activity.at', 'activity.type', 'activity.message', 'activity.gateway_id'])
  if (!hasRole(caller.role, 'manager'))
    query = query
      .innerJoin('gateways', 'gateways.id', 'activity.gateway_id')
      .where('gateways.owner_id', '=', caller.userId)
  const rows = await query.orderBy('activity.at', 'desc').orderBy('activity.id', 'desc').limit(ENTRIES_SHOWN).execute()
  return rows.map((row) => ({
    id: String(row.id),
    message: row.message,
    timestamp: new Date(row.at).toISOString(),
    type: row.type,
    gatewayId: row.gateway_id,
  }))
}

export type HourlyCount = { at: number; scope: string; threats?: number; activeConnections?: number }

/** Adds threats to an hour, and raises its most active connections to at least what was seen now. */
export async function countInHour(
  db: Db,
  { at, scope, threats = 0, activeConnections = 0 }: HourlyCount,
): Promise<void> {
  await db
    .insertInto('hourly_stats')
    .values({ hour: startOfHour(at), scope, active_connections: activeConnections, threats })
    .onConflict((conflict) =>
      conflict.columns(['hour', 'scope']).doUpdateSet((row) => ({
        threats: row('hourly_stats.threats', '+', row.ref('excluded.threats')),
        active_connections: row
          .case()
          .when('excluded.active_connections', '>', row.ref('hourly_stats.active_connections'))
          .then(row.ref('excluded.active_connections'))
          .else(row.ref('hourly_stats.active_connections'))
          .end(),
      })),
    )
    .execute()
}

export type TimelineHour = { hour: string; activeConnections: number; threats: number }

/** The last 24 hours, oldest first, the running one last: of the whole fleet, or of the caller's own gateways. */
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
  }))
}

/** Detections of severity alert since the hub's local midnight, of the gateways that the caller may see. */
export async function threatsToday(db: Db, caller: Caller, now: number): Promise<number> {
  let query = db
    .selectFrom('detections')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('detections.severity', '=', 'alert')
    .where('detections.started_at', '>=', new Date(now).setHours(0, 0, 0, 0))
  if (!hasRole(caller.role, 'manager'))
    query = query
      .innerJoin('gateways', 'gateways.id', 'detections.gateway_id')
      .where('gateways.owner_id', '=', caller.userId)
  return (await query.executeTakeFirstOrThrow()).count
}

/** Of the hour that holds this moment; hours begin as those of UTC do. */
export function startOfHour(at: number): number {
  return at - (at % HOUR_MS)
}
