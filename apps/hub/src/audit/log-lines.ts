/**
 * Writes audit entries to the log, one line each, soon after their commit, including those of commands beside the hub.
 * `logLineOf` alone decides the form of a line.
 */
import type { Kysely, Selectable } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { createTasks } from '../kernel/tasks.ts'

const LOOK_INTERVAL_MS = 1_000
const ROWS_AT_ONCE = 500
/** An entry may be committed this long after one with a higher id. */
const SETTLED_AFTER_MS = 10_000

type Entry = Pick<
  Selectable<Tables['audit']>,
  'id' | 'at' | 'actor' | 'actor_id' | 'action' | 'target' | 'source_ip' | 'result' | 'reason'
>

export type AuditLogLines = { start(): Promise<void>; look(): Promise<void>; stop(): Promise<void> }

/** Actions that are logged by default, in addition to all refusals: sign-ins, devices, rules. */
const TOLD: ReadonlySet<string> = new Set([
  'session.start',
  'session.end',
  'registration.request',
  'registration.approve',
  'registration.reject',
  'registration.lift',
  'gateway.delete',
  'user.create',
  'user.change-role',
  'user.delete',
  'auto-approval.change',
  'settings.change',
  'certificate.renew',
])

/** A line of ids without names; with `isWhole` the whole entry. Undefined for entries that only `isWhole` logs. */
export function logLineOf(
  entry: Entry,
  isWhole: boolean,
): { fields: Record<string, unknown>; message: string } | undefined {
  const { actor, actor_id: actorId, action, target, source_ip: sourceIp, result, reason } = entry
  if (!isWhole && result === 'ok' && !TOLD.has(action)) return undefined
  const who = actorId ?? (actor === 'hub' || actor === 'gateway' ? actor : undefined)
  const context = { by: who, target: target ?? undefined, sourceIp: sourceIp ?? undefined }
  // An unknown name may be a password in the wrong field: only the audit stores it.
  const at = new Date(entry.at).toISOString()
  const fields = isWhole ? { audit: entry.id, at, actor, ...context, reason: reason ?? undefined } : context
  return { fields, message: result === 'ok' ? action : `${action} refused` }
}

/** `isWhole`: log every whole entry, for a log collector. */
export function createAuditLogLines(options: { db: Kysely<Tables>; log: Logger; isWhole: boolean }): AuditLogLines {
  const { db, log, isWhole } = options
  /** All entries up to this id are logged, and no more of them will appear. */
  let settledId = 0
  const loggedAbove = new Set<number>()
  const tasks = createTasks({ log, name: 'audit-lines', on: 'one hub', failure: 'could not read the audit yet' })

  async function look(): Promise<void> {
    let isSettled = true
    for (let after = settledId; ;) {
      const rows = await db
        .selectFrom('audit')
        .select(['id', 'at', 'actor', 'actor_id', 'action', 'target', 'source_ip', 'result', 'reason'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(ROWS_AT_ONCE)
        .execute()
      for (const row of rows) {
        if (!loggedAbove.has(row.id)) logEntry(row)
        // Compares both directions: a clock change must not leave an entry open.
        isSettled &&= Math.abs(Date.now() - row.at) > SETTLED_AFTER_MS
        if (isSettled) {
          settledId = row.id
          loggedAbove.delete(row.id)
        } else loggedAbove.add(row.id)
      }
      const last = rows.at(-1)
      if (!last || rows.length < ROWS_AT_ONCE) return
      after = last.id
    }
  }

  function logEntry(row: Entry): void {
    const line = logLineOf(row, isWhole)
    if (line) log.info(line.fields, line.message)
  }

  return {
    async start() {
      const { last } = await db
        .selectFrom('audit')
        .select((row) => row.fn.max('id').as('last'))
        .executeTakeFirstOrThrow()
      settledId = Number(last ?? 0)
      tasks.every(LOOK_INTERVAL_MS, look)
    },
    look: () => tasks.run(look),
    stop: () => tasks.stop(look),
  }
}
