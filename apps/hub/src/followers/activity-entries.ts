/** Writes the entries of the dashboard's activity panel. dashboard/recent-activity.ts reads them. */
import type { ActivityEntry, FactKind } from '@hedgerow/contract'
import { sql, type Transaction } from 'kysely'
import { HOUR_MS, startOfHour } from '../database/hourly-stats.ts'
import type { Db, Tables } from '../database/tables.ts'

/** SQLite takes 32,766 variables in a statement, and an entry has six. */
const ROWS_AT_ONCE = 5_000
/** Each hour takes two parameters of a statement. */
const HOURS_AT_ONCE = 500
const MORE = 'More of "'

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
  gatewayName: string
  /** Shown while the gateway has fewer entries than this in the hour. */
  most: number
}

type Listed = { gatewayId: string; hour: number; count: number; saysMore: number }

/**
 * Records entries that gateways cause themselves, such as alerts and changes of status: a limited number for each
 * gateway and hour, so that other entries stay visible. One entry says that there were more.
 */
export async function recordCappedActivity(
  transaction: Transaction<Tables>,
  entries: readonly CappedActivity[],
): Promise<void> {
  const hours = [...Map.groupBy(entries, ({ gatewayId, at }) => `${gatewayId} ${startOfHour(at)}`).values()]
  for (let start = 0; start < hours.length; start += HOURS_AT_ONCE) {
    const some = hours.slice(start, start + HOURS_AT_ONCE)
    const listed = new Map((await readListed(transaction, some)).map((row) => [`${row.gatewayId} ${row.hour}`, row]))
    const shown = some.flatMap((theirs) =>
      theirs[0] ? shownOf(theirs, listed.get(`${theirs[0].gatewayId} ${startOfHour(theirs[0].at)}`)) : [],
    )
    await recordActivity(transaction, ...shown)
  }
}

/** How many entries each gateway has in the hour already, by the index on gateway and time. */
async function readListed(transaction: Transaction<Tables>, hours: readonly CappedActivity[][]): Promise<Listed[]> {
  const asked = hours.flatMap(([first]) =>
    first ? sql`(cast(${first.gatewayId} as text), cast(${startOfHour(first.at)} as double precision))` : [],
  )
  const { rows } = await sql<Listed>`with asked (gateway_id, hour) as (values ${sql.join(asked)})
    select asked.gateway_id as "gatewayId", asked.hour as "hour", count(*) as "count",
      sum(case when activity.message like ${`${MORE}%`} then 1 else 0 end) as "saysMore"
    from asked join activity on activity.gateway_id = asked.gateway_id
      and activity.at >= asked.hour and activity.at < asked.hour + ${sql.lit(HOUR_MS)}
    group by asked.gateway_id, asked.hour`.execute(transaction)
  return rows
}

/** Chooses the entries to show of one gateway and hour. */
function shownOf(entries: readonly CappedActivity[], listed: Listed | undefined): NewActivity[] {
  let count = listed?.count ?? 0
  const shown: NewActivity[] = []
  for (const { gatewayName, most, ...entry } of entries) {
    if (count < most) {
      shown.push(entry)
      count++
    } else if (!listed?.saysMore) {
      const message = `${MORE}${gatewayName}" in this hour is not listed here: see its page`
      return [...shown, { ...entry, detectionId: undefined, type: 'warning', message }]
    }
  }
  return shown
}
