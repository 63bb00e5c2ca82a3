/**
 * Who did what, from where, with which outcome. Written by the module whose verb it was, inside that verb's
 * transaction where there is one, so that nothing happens unrecorded. Never holds passwords, tokens or keys.
 */
import type { Db } from '../database/tables.ts'

export type AuditEntry = {
  /** A username, or `hub` or `gateway`. */
  actor: string
  actorId?: string | undefined
  /** `noun.verb`, such as `session.start`. */
  action: string
  target?: string | undefined
  sourceIp?: string | undefined
  result: 'ok' | 'refused'
}

export async function writeAudit(db: Db, entry: AuditEntry): Promise<void> {
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
