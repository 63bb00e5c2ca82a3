import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import type { RefusedCall } from '../access/sessions.ts'
import { by, record } from '../facts/facts.ts'

const TOLD_AGAIN_AFTER_MS = 3_600_000
const REMEMBERED_MAX = 10_000

/**
 * Records calls that a person's role does not allow: each call of a person once an hour, so that nobody can fill the
 * disk with entries. A storage failure does not change the refusal.
 */
export function createRefusedCalls({
  db,
  clock,
  log,
}: {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
}): (refused: RefusedCall) => Promise<void> {
  const recordedAt = new Map<string, number>()
  return async ({ caller, call, sourceIp }) => {
    const key = `${caller.userId} ${call}`
    const now = clock()
    const last = recordedAt.get(key)
    if (last !== undefined && Math.abs(now - last) < TOLD_AGAIN_AFTER_MS) return
    recordedAt.delete(key)
    if (recordedAt.size >= REMEMBERED_MAX) recordedAt.delete(recordedAt.keys().next().value ?? key)
    recordedAt.set(key, now)
    try {
      await record(db, { kind: 'call.refused', ...by({ actor: caller, sourceIp, now }), target: call, data: {} })
    } catch (error) {
      log.warn({ err: error }, 'could not record a refused call')
    }
  }
}
