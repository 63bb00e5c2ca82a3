/**
 * What happened in the fleet, for people: the entries of the dashboard's activity panel, and the counts of each hour
 * behind its chart. A user sees what concerns the gateways they claimed; managers and admins see everything. Entries
 * are written by followers/activity.ts from facts, inside their transactions.
 */
import type { ActivityEntry, SearchQuery } from '@hedgerow/contract'
import type { FastifyReply } from 'fastify'
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { holding, pageFrom, SEARCHED_AT_MOST, sendPage, type Page } from '../http/pagination.ts'
import { hasRole } from '../access/policy.ts'
import type { Caller } from '../access/sessions.ts'

const ENTRIES_SHOWN = 50
/** SQLite takes 32,766 variables in a statement, and an entry has four. */
const ROWS_AT_ONCE = 8_000
const HOUR_MS = 3_600_000
const HOURS_SHOWN = 24
/** Two parameters of a statement each. */
const HOURS_AT_ONCE = 500
const MORE = 'More of "'
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
  const rows = entries.map(({ gatewayId, ...entry }) => ({ ...entry, gateway_id: gatewayId ?? null }))
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
 * What gateways themselves cause, such as alerts and changes of status: only so many entries of each in an hour, so
 * that the entries of others stay in sight. One entry says that there was more.
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

/** How many entries each gateway has in the hour already, found by the index on gateway and time. */
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

/** Of one gateway's entries in one hour. */
function shownOf(entries: readonly CappedActivity[], listed: Listed | undefined): NewActivity[] {
  let count = listed?.count ?? 0
  const shown: NewActivity[] = []
  for (const { gatewayName, most, ...entry } of entries) {
    if (count < most) {
      shown.push(entry)
      count++
    } else if (!listed?.saysMore) {
      const message = `${MORE}${gatewayName}" in this hour is not listed here: see its page`
      return [...shown, { ...entry, type: 'warning', message }]
    }
  }
  return shown
}

/** The newest entries that the caller may see, or a page of them, newest first. */
export async function recentActivity(
  db: Kysely<Tables>,
  caller: Caller,
  { query, reply }: { query: SearchQuery; reply: FastifyReply },
): Promise<ActivityEntry[]> {
  const page = pageFrom(query, ['number', 'number'], ENTRIES_SHOWN)
  const rows = hasRole(caller.role, 'manager')
    ? await newestEntries(db, { page, q: query.q })
    : await newestOfOwn(db, { page, q: query.q }, caller.userId)
  const shown = sendPage(reply, rows, page, (row) => [row.at, row.id])
  const existing = await existingGateways(db, shown)
  return shown.map((row) => ({
    id: String(row.id),
    message: row.message,
    timestamp: new Date(row.at).toISOString(),
    type: row.type,
    gatewayId: row.gateway_id !== null && existing.has(row.gateway_id) ? row.gateway_id : null,
  }))
}

type Entry = Selectable<Tables['activity']>

/** Which entries: those of one gateway, or of all. */
type Wanted = {
  page: Page
  q: string | undefined
  gatewayId?: string
  /** In how many of the newest entries `q` is looked for. */
  searched?: number
}

/** Found by an index and cut at the page's size, however many there are. */
async function newestEntries(db: Db, { page, q, gatewayId, searched = SEARCHED_AT_MOST }: Wanted): Promise<Entry[]> {
  let entries = db.selectFrom('activity').orderBy('at', 'desc').orderBy('id', 'desc')
  if (gatewayId !== undefined) entries = entries.where('gateway_id', '=', gatewayId)
  let asked = entries.selectAll()
  if (q) {
    // Looked for in so many and no more: nobody makes the hub read a whole history.
    const last = await entries.select(['at', 'id']).offset(searched).limit(1).executeTakeFirst()
    if (last) asked = asked.where(sql<boolean>`(at, id) > (${last.at}, ${last.id})`)
    asked = asked.where(holding(q, ['message']))
  }
  if (page.after) asked = asked.where(sql<boolean>`(at, id) < (${page.after[0]}, ${page.after[1]})`)
  return asked.limit(page.rowsWanted ?? ENTRIES_SHOWN).execute()
}

/**
 * Of each gateway the newest, merged: one index scan a gateway. A text is looked for in no more of them all than of the
 * whole fleet.
 */
async function newestOfOwn(db: Db, wanted: Wanted, userId: string): Promise<Entry[]> {
  const own = await db.selectFrom('gateways').select('id').where('owner_id', '=', userId).execute()
  const entries: Entry[] = []
  const searched = Math.ceil(SEARCHED_AT_MOST / own.length)
  for (const { id } of own) entries.push(...(await newestEntries(db, { ...wanted, gatewayId: id, searched })))
  return entries.toSorted((a, b) => b.at - a.at || b.id - a.id).slice(0, wanted.page.rowsWanted)
}

async function existingGateways(db: Db, entries: readonly Entry[]): Promise<Set<string>> {
  const ids = [...new Set(entries.flatMap(({ gateway_id }) => gateway_id ?? []))]
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom('gateways').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
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

/**
 * Detections of severity alert since the hub's local midnight, of the gateways that the caller may see: the counts of
 * whole hours and, where local midnight is not on one, the detections of the minutes before the first.
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

async function threatsBetween(db: Db, caller: Caller, from: number, to: number): Promise<number> {
  let query = db
    .selectFrom('detections')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('detections.severity', '=', 'alert')
    .where('detections.started_at', '>=', from)
    .where('detections.started_at', '<', to)
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
