/**
 * Wrong two-factor codes, counted for the account, because an attacker with the password may use any number of
 * networks. A try from a network new to the account waits longer after each wrong code. A known network and a recovery
 * code do not wait, so nobody locks the owner out. Stored in the database, so that a restart does not reset it.
 */
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { isKnownNetwork } from './known-networks.ts'
import { delayMs } from './throttle.ts'

const FREE_FAILURES = 5
const MAX_WAIT_MS = 3_600_000
/** Failures count until this long has passed without one. */
const REMEMBERED_MS = 7 * 86_400_000
const OWNER_TOLD_FROM = 3
const OWNER_TOLD_INTERVAL_MS = 3_600_000

export type CodeGuesses = {
  /** Counts a try as wrong until `succeeded`. Throws `too_many_requests` when it must wait. */
  begin(attempt: { userId: string; sourceIp: string; code: string }): Promise<void>
  /** Whether to notify the owner of the wrong codes now; true at most once an hour. */
  mustTellOwner(db: Db, userId: string): Promise<boolean>
  succeeded(userId: string): Promise<void>
}

export function createCodeGuesses({ db, clock }: { db: Kysely<Tables>; clock: () => number }): CodeGuesses {
  return {
    async begin({ userId, sourceIp, code }) {
      const isGuessable = /^\d{6}$/.test(code.replaceAll(/\s/g, ''))
      const mayWait = isGuessable && !(await isKnownNetwork(db, userId, sourceIp))
      const none = { user_id: userId, failures: 0, last_at: clock(), told_at: null }
      await db
        .insertInto('code_guesses')
        .values(none)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      for (;;) {
        const now = clock()
        const seen = await db.selectFrom('code_guesses').selectAll().where('user_id', '=', userId).executeTakeFirst()
        if (!seen) throw new HubError('challenge_ended')
        const failures = Math.abs(now - seen.last_at) < REMEMBERED_MS ? seen.failures : 0
        // A clock that was set back must not lengthen the wait.
        const elapsedMs = Math.abs(now - seen.last_at)
        if (mayWait && elapsedMs < delayMs(failures, { free: FREE_FAILURES, maxWaitMs: MAX_WAIT_MS }))
          throw new HubError('too_many_requests')
        // Counts concurrent tries one at a time, so that each sees the failures before it.
        const counted = await db
          .updateTable('code_guesses')
          .set({ failures: failures + 1, last_at: now })
          .where('user_id', '=', userId)
          .where('failures', '=', seen.failures)
          .returning('user_id')
          .executeTakeFirst()
        if (counted) return
      }
    },

    async mustTellOwner(from, userId) {
      const now = clock()
      const updated = await from
        .updateTable('code_guesses')
        .set({ told_at: now })
        .where('user_id', '=', userId)
        .where('failures', '>=', OWNER_TOLD_FROM)
        .where((eb) =>
          eb.or([
            eb('told_at', 'is', null),
            eb('told_at', '<=', now - OWNER_TOLD_INTERVAL_MS),
            eb('told_at', '>', now + OWNER_TOLD_INTERVAL_MS),
          ]),
        )
        .returning('user_id')
        .executeTakeFirst()
      return updated !== undefined
    },

    async succeeded(userId) {
      await db.updateTable('code_guesses').set({ failures: 0 }).where('user_id', '=', userId).execute()
    },
  }
}
