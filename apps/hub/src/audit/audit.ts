/**
 * Who did what, from where, with which outcome. Written by the module whose verb it was, inside that verb's
 * transaction where there is one, so that nothing happens unrecorded. Never holds passwords, tokens or keys. Entries are
 * never changed (the database refuses it) and go only when they are older than the hub keeps them. Read by routes.ts.
 */
import type { AuditEntry as ShownEntry } from '@hedgerow/contract'
import { sql, type Expression, type SqlBool } from 'kysely'
import type { Db } from '../database/tables.ts'
import type { AuditAction } from './actions.ts'

/** The one action that is recorded with the audit log switched off: how it came to be so. */
const ALWAYS_RECORDED: AuditAction = 'settings.change'
const READ_AT_ONCE = 1_000

export type AuditEntry = {
  /** A username, or `hub` or `gateway`. */
  actor: string
  actorId?: string | undefined
  action: AuditAction
  target?: string | undefined
  sourceIp?: string | undefined
  result: 'ok' | 'refused'
}

/** Records nothing while the setting `enableAuditLog` is off. */
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
    })
    .execute()
}

async function isSwitchedOff(db: Db): Promise<boolean> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', 'enableAuditLog').executeTakeFirst()
  return row?.value === 'false'
}

export type AuditFilter = {
  /** Entries before this one, newest first. */
  cursor?: string | undefined
  q?: string | undefined
  actor?: string | undefined
  action?: string | undefined
  from?: string | undefined
  to?: string | undefined
  limit: number
}

/** The newest entries that match, newest first; `nextCursor` where there are more. `limit` is at most 1,000. */
export async function findAudit(
  db: Db,
  filter: AuditFilter,
): Promise<{ entries: ShownEntry[]; nextCursor: string | undefined }> {
  let query = db.selectFrom('audit').selectAll()
  const { cursor, q, actor, action, from, to, limit } = filter
  if (cursor !== undefined) query = query.where('id', '<', Number(cursor))
  if (actor !== undefined) query = query.where(sql`lower(actor)`, '=', actor.toLowerCase())
  if (action !== undefined)
    query = query.where((row) =>
      row.or([row('action', '=', action), contains(row.ref('action'), `${action}.`, 'start')]),
    )
  if (from !== undefined) query = query.where('at', '>=', Date.parse(from))
  if (to !== undefined) query = query.where('at', '<', Date.parse(to))
  if (q !== undefined)
    query = query.where((row) =>
      row.or((['actor', 'action', 'target', 'source_ip'] as const).map((column) => contains(row.ref(column), q))),
    )
  const rows = await query
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const entries = rows.slice(0, limit).map((row) => ({
    id: String(row.id),
    at: new Date(row.at).toISOString(),
    actor: row.actor,
    action: row.action,
    target: row.target,
    sourceIp: row.source_ip,
    result: row.result,
  }))
  return { entries, nextCursor: rows.length > limit ? entries.at(-1)?.id : undefined }
}

/** All that `findAudit` would find page by page; `limit` may be Infinity. */
export async function* auditPages(db: Db, { limit, ...filter }: AuditFilter): AsyncGenerator<ShownEntry[]> {
  let { cursor } = filter
  for (let left = limit; left > 0; left -= READ_AT_ONCE) {
    const page = await findAudit(db, { ...filter, cursor, limit: Math.min(left, READ_AT_ONCE) })
    yield page.entries
    if (page.nextCursor === undefined) return
    cursor = page.nextCursor
  }
}

/** Case aside; nothing in `text` is a pattern. */
function contains(column: Expression<string | null>, text: string, where: 'anywhere' | 'start' = 'anywhere') {
  const pattern = `${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql<SqlBool>`lower(${column}) like ${where === 'start' ? pattern : `%${pattern}`} escape '\\'`
}
