/**
 * The audit log: actor, action, address and outcome. followers/audit.ts writes an entry from a fact, in the transaction
 * of the change, so that nothing happens unrecorded. It never holds passwords, tokens or keys. Entries are never
 * changed, and deleted only when they are older than the retention time; the database refuses anything else. Read by
 * routes.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEntry as Entry } from '@hedgerow/contract'
import { sql } from 'kysely'
import type { Db } from '../database/tables.ts'
import { holding } from '../database/holding.ts'
import type { Position } from '../http/pagination.ts'

/** The one action that is recorded while the audit log is off: switching it. */
const ALWAYS_RECORDED = 'settings.change'
const READ_AT_ONCE = 1_000
const LOOKED_THROUGH_AT_ONCE = 10_000

type ShownEntry = Omit<Entry, 'subject'>

export type AuditEntry = {
  /** A username, `hub`, `gateway`, or a name of something that is no user, such as `Home Assistant`. */
  actor: string
  actorId?: string | undefined
  action: `${string}.${string}`
  target?: string | undefined
  sourceIp?: string | undefined
  result: 'ok' | 'refused'
  reason?: string | undefined
}

/**
 * Records nothing while the setting `enableAuditLog` is off. Uses the machine's clock: the database compares it with
 * its own before it lets an entry go.
 */
export async function writeAudit(db: Db, entry: AuditEntry): Promise<void> {
  if (entry.action !== ALWAYS_RECORDED && (await isSwitchedOff(db))) return
  await db
    .insertInto('audit')
    .values({
      at: Date.now(),
      actor: entry.actor,
      actor_id: entry.actorId ?? null,
      action: entry.action,
      target: entry.target ?? null,
      source_ip: entry.sourceIp ?? null,
      result: entry.result,
      reason: entry.reason ?? null,
    })
    .execute()
}

async function isSwitchedOff(db: Db): Promise<boolean> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', 'enableAuditLog').executeTakeFirst()
  return row?.value === 'false'
}

export type AuditFilter = {
  /** Only entries after this one, newest first. */
  after?: Position | undefined
  q?: string | undefined
  actor?: string | undefined
  action?: string | undefined
  from?: string | undefined
  to?: string | undefined
  limit: number
}

/**
 * The newest entries that match, newest first. `next` is the position to continue at, when there are or may be more: a
 * text search reads a limited number of entries at once. `limit` is at most 1,000.
 */
export async function findAudit(
  db: Db,
  filter: AuditFilter,
): Promise<{ entries: ShownEntry[]; next: Position | undefined }> {
  const { after, q, actor, action, from, to, limit } = filter
  let newest = db.selectFrom('audit').orderBy('at', 'desc').orderBy('id', 'desc')
  if (after) newest = newest.where(sql<boolean>`(at, id) < (${after[0]}, ${after[1]})`)
  if (from !== undefined) newest = newest.where('at', '>=', Date.parse(from))
  if (to !== undefined) newest = newest.where('at', '<', Date.parse(to))
  let selection = newest.selectAll()
  let lookedAt: Position | undefined
  if (q !== undefined || actor !== undefined || action !== undefined) {
    const end = newest.select(['at', 'id']).offset(LOOKED_THROUGH_AT_ONCE - 1)
    const [last, another] = await end.limit(2).execute()
    if (last) selection = selection.where(sql<boolean>`(at, id) >= (${last.at}, ${last.id})`)
    if (last && another) lookedAt = [last.at, last.id]
  }
  if (actor !== undefined) selection = selection.where(sql`lower(actor)`, '=', actor.toLowerCase())
  if (action !== undefined)
    selection = selection.where(
      sql<boolean>`(action = ${action} or substr(action, 1, ${action.length + 1}) = ${`${action}.`})`,
    )
  if (q !== undefined) selection = selection.where(holding(q, ['actor', 'action', 'target', 'source_ip', 'reason']))
  const rows = await selection.limit(limit + 1).execute()
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const entries = shown.map((row) => ({
    id: String(row.id),
    at: new Date(row.at).toISOString(),
    actor: row.actor,
    action: row.action,
    target: row.target,
    sourceIp: row.source_ip,
    result: row.result,
    reason: row.reason,
  }))
  return { entries, next: last && rows.length > limit ? [last.at, last.id] : lookedAt }
}

/** All pages of `findAudit`; `limit` may be Infinity. */
export async function* auditPages(db: Db, { limit, ...filter }: AuditFilter): AsyncGenerator<ShownEntry[]> {
  let { after } = filter
  for (let left = limit; left > 0;) {
    const page = await findAudit(db, { ...filter, after, limit: Math.min(left, READ_AT_ONCE) })
    yield page.entries
    if (page.next === undefined) return
    left -= page.entries.length
    after = page.next
    // SQLite answers within the turn; this lets others run during a long search.
    await nextTurn()
  }
}
