/** Writes the entries of the dashboard's activity panel. dashboard/recent-activity.ts reads them. */
import type { ActivityEntry, FactKind } from '@hedgerow/contract'
import { sql, type Transaction } from 'kysely'
import { HOUR_MS, startOfHour } from '../database/hourly-stats.ts'
import type { Db, Tables } from '../database/tables.ts'

/** SQLite takes 32,766 variables in a statement, and an entry has six. */
const ROWS_AT_ONCE = 5_000
/** Each takes four parameters of a statement. */
const GROUPS_AT_ONCE = 500

export type NewActivity = {
  /** Milliseconds since 1970. */
  at: number
  type: ActivityEntry['type']
  message: string
  /** The owner of this gateway may see it too. */
  gatewayId?: string | undefined
  kind: FactKind
  detectionId?: string | undefined
}

export async function recordActivity(db: Db, ...entries: NewActivity[]): Promise<void> {
  const rows = entries.map(({ gatewayId, detectionId, ...entry }) => ({
    ...entry,
    gateway_id: gatewayId ?? null,
    detection_id: detectionId ?? null,
  }))
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE)
    await db
      .insertInto('activity')
      .values(rows.slice(start, start + ROWS_AT_ONCE))
      .execute()
}

export type CappedActivity = NewActivity & {
  gatewayId: string
  /** So many of this kind are kept of the gateway in an hour. */
  most: number
}

/**
 * Records entries that gateways cause themselves, such as alerts and changes of status. Of each gateway, kind and hour
 * the newest few stay, so that a gateway displaces its own entries and never those of others.
 */
export async function recordCappedActivity(
  transaction: Transaction<Tables>,
  entries: readonly CappedActivity[],
): Promise<void> {
  const groups = Map.groupBy(entries, ({ gatewayId, kind, at }) => `${gatewayId} ${kind} ${startOfHour(at)}`)
  const newest = [...groups.values()].map((group) => group.toSorted((a, b) => a.at - b.at).slice(-group[0]!.most))
  const recorded = new Set(newest.flat())
  // In the order in which they came.
  const inOrder = entries.filter((entry) => recorded.has(entry))
  await recordActivity(transaction, ...inOrder.map(({ most: _most, ...entry }) => entry))
  for (let start = 0; start < newest.length; start += GROUPS_AT_ONCE)
    await deleteOldest(transaction, newest.slice(start, start + GROUPS_AT_ONCE))
}

/** By the index on gateway and time. */
async function deleteOldest(transaction: Transaction<Tables>, groups: readonly CappedActivity[][]): Promise<void> {
  const rows = groups.map(([first]) => {
    const { gatewayId, kind, at, most } = first!
    return sql`(cast(${gatewayId} as text), cast(${kind} as text), cast(${startOfHour(at)} as double precision),
      cast(${most} as integer))`
  })
  await sql`with capped (gateway_id, kind, hour, most) as (values ${sql.join(rows)})
    delete from activity where id in (
      select id from (
        select activity.id, capped.most,
          row_number() over (partition by capped.gateway_id, capped.kind, capped.hour
            order by activity.at desc, activity.id desc) as place
        from capped join activity on activity.gateway_id = capped.gateway_id and activity.kind = capped.kind
          and activity.at >= capped.hour and activity.at < capped.hour + ${sql.lit(HOUR_MS)}
      ) as counted where place > most)`.execute(transaction)
}
