/**
 * The table `hourly_stats`: firings of deterrents and active connections of each hour, for the whole fleet; firings
 * also for each gateway, so that any scope has its sums. The dashboard reads it.
 */
import type { Db } from './tables.ts'

export const HOUR_MS = 3_600_000
/** The row of `hourly_stats` that counts the whole fleet; every other row is named after a gateway. */
export const WHOLE_FLEET = 'fleet'

/** The start of the UTC hour of this moment. */
export function startOfHour(at: number): number {
  return at - (at % HOUR_MS)
}

export type HourlyCount = { at: number; scope: string; firings?: number; activeConnections?: number }

/**
 * Adds firings to hours, each named once with a scope, and raises their maximum of active connections to the current
 * number.
 */
export async function countInHours(db: Db, counts: readonly HourlyCount[]): Promise<void> {
  if (counts.length === 0) return
  const rows = counts.map(({ at, scope, firings = 0, activeConnections = 0 }) => ({
    hour: startOfHour(at),
    scope,
    active_connections: activeConnections,
    firings,
  }))
  await db
    .insertInto('hourly_stats')
    // In one fixed order, so that two transactions never deadlock.
    .values(rows.toSorted((a, b) => a.hour - b.hour || (a.scope < b.scope ? -1 : 1)))
    .onConflict((conflict) =>
      conflict.columns(['hour', 'scope']).doUpdateSet((row) => ({
        firings: row('hourly_stats.firings', '+', row.ref('excluded.firings')),
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
