/**
 * The challenge between a right password and its code: a random token, valid for five minutes and five codes, for one
 * user and one network. It is stored in the database, so that any hub on it accepts the code, and ends when the
 * password changes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import { isAfterLeap } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { UserRow } from './accounts.ts'

const LIFETIME_MS = 5 * 60_000
/** How far in the future a challenge may have been opened: clock corrections of this size are normal. */
const CLOCK_TOLERANCE_MS = 5 * 60_000
const MAX_ATTEMPTS = 5
const TOKEN_BYTES = 24
/** How many of the newest open challenges one user may have: from one network, and in total. */
const OPEN_FROM_NETWORK_MAX = 3
const OPEN_MAX = 20

export type Challenges = {
  open(user: { id: string }, source: string): Promise<string>
  /** Counts a try and returns the user, if still active. Throws `challenge_ended`. */
  attempt(token: string, source: string): Promise<UserRow>
  /** The last try does not count. */
  takeBack(token: string): Promise<void>
  /** The challenge's user, without counting a try; undefined for an unknown token. */
  userIdOf(token: string, source: string): Promise<string | undefined>
  /** Throws `challenge_ended` when another request closed it first. */
  close(token: string): Promise<void>
}

export function createChallenges({ db, clock }: { db: Kysely<Tables>; clock: () => number }): Challenges {
  return {
    async open(user, source) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const now = clock()
      // After a leap of the clock the rows stay: with the clock set back, their challenges are not over.
      if (!(await isAfterLeap(db, now)))
        await db.deleteFrom('sign_in_challenges').where('expires_at', '<=', now).execute()
      await db
        .insertInto('sign_in_challenges')
        .values({ token_hash: hashOf(token), user_id: user.id, source, expires_at: now + LIFETIME_MS, attempts: 0 })
        .execute()
      const others = db
        .selectFrom('sign_in_challenges')
        .select('token_hash')
        .where('user_id', '=', user.id)
        .where('token_hash', '!=', hashOf(token))
        .orderBy('expires_at', 'desc')
      // SQLite allows an offset only after a limit.
      const rest = others.limit(1_000)
      const ofNetwork = rest.where('source', '=', source).offset(OPEN_FROM_NETWORK_MAX - 1)
      await db
        .deleteFrom('sign_in_challenges')
        .where((eb) => eb.or([eb('token_hash', 'in', rest.offset(OPEN_MAX - 1)), eb('token_hash', 'in', ofNetwork)]))
        .execute()
      return token
    },

    async userIdOf(token, source) {
      const row = await db
        .selectFrom('sign_in_challenges')
        .select('user_id')
        .where('token_hash', '=', hashOf(token))
        .where('source', '=', source)
        .executeTakeFirst()
      return row?.user_id
    },

    async attempt(token, source) {
      const now = clock()
      const challenge = await db
        .updateTable('sign_in_challenges')
        .set({ attempts: sql`attempts + 1` })
        .where('token_hash', '=', hashOf(token))
        .where('source', '=', source)
        .where('expires_at', '>', now)
        // A challenge from the future was opened while the clock was wrong, and would end that much too late.
        .where('expires_at', '<=', now + LIFETIME_MS + CLOCK_TOLERANCE_MS)
        .where('attempts', '<', MAX_ATTEMPTS)
        .returning('user_id')
        .executeTakeFirst()
      const user =
        challenge &&
        (await db
          .selectFrom('users')
          .selectAll()
          .where('id', '=', challenge.user_id)
          .where('active', '=', 1)
          .executeTakeFirst())
      if (!user) throw new HubError('challenge_ended')
      return user
    },

    async takeBack(token) {
      await db
        .updateTable('sign_in_challenges')
        .set({ attempts: sql`attempts - 1` })
        .where('token_hash', '=', hashOf(token))
        .execute()
    },

    async close(token) {
      const closed = await db
        .deleteFrom('sign_in_challenges')
        .where('token_hash', '=', hashOf(token))
        .returning('user_id')
        .executeTakeFirst()
      if (!closed) throw new HubError('challenge_ended')
    },
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
