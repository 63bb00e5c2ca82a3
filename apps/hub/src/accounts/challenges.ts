/**
 * The challenge between a right password and its code: a random token, valid for five minutes and five codes, for one
 * user and one network. It is stored in the database, so that any hub on it accepts the code, and ends when the
 * password changes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import { crowdsOf } from '../access/networks.ts'
import { isAfterLeap } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { UserRow } from './accounts.ts'

const LIFETIME_MS = 5 * 60_000
/** How far in the future a challenge may have been opened: clock corrections of this size are normal. */
const CLOCK_TOLERANCE_MS = 5 * 60_000
const MAX_ATTEMPTS = 5
const TOKEN_BYTES = 24
/** How many open challenges one user may have: from one network, and from all networks without a sign-in. */
const OPEN_FROM_NETWORK_MAX = 3
const OPEN_FROM_STRANGERS_MAX = 20

export type Challenges = {
  open(user: { id: string }, source: string): Promise<string>
  /** Counts a try and returns the user, if still active. Throws `challenge_ended`. */
  attempt(token: string, source: string): Promise<UserRow>
  /** Undoes the count of the last try. */
  takeBack(token: string): Promise<void>
  /** The challenge's user, without counting a try; undefined for an unknown token. */
  userIdOf(token: string, source: string): Promise<string | undefined>
  /** Throws `challenge_ended` when another request closed it first. */
  close(token: string): Promise<void>
}

export function createChallenges({ db, clock }: { db: Kysely<Tables>; clock: () => number }): Challenges {
  /**
   * Drops the challenges above the limits, never the newest one. Challenges of networks that the person signed in from
   * count only for their own network: a stranger with the password and many networks must not end the owner's
   * challenge. Of the others, the oldest challenge of the most crowded provider's network is dropped.
   */
  async function dropExcess(userId: string, newest: string, source: string): Promise<void> {
    const open = await db
      .selectFrom('sign_in_challenges')
      .leftJoin('known_networks', (join) =>
        join
          .onRef('known_networks.user_id', '=', 'sign_in_challenges.user_id')
          .onRef('known_networks.network', '=', 'sign_in_challenges.source'),
      )
      .select(['token_hash', 'sign_in_challenges.source', 'network'])
      .where('sign_in_challenges.user_id', '=', userId)
      .where('token_hash', '!=', newest)
      .orderBy('expires_at', 'desc')
      .execute()
    const ofNetwork = open.filter((one) => one.source === source).slice(OPEN_FROM_NETWORK_MAX - 1)
    const strangers = open.filter((one) => one.network === null && !ofNetwork.includes(one)).toReversed()
    const dropped = [...ofNetwork]
    while (strangers.length >= OPEN_FROM_STRANGERS_MAX) {
      const crowds = strangers.map((one) => crowdsOf(one.source.replace(/\/\d+$/, '')).at(-1)?.cidr ?? one.source)
      dropped.push(...strangers.splice(crowds.indexOf(largest(crowds)), 1))
    }
    if (dropped.length === 0) return
    const hashes = dropped.map((one) => one.token_hash)
    await db.deleteFrom('sign_in_challenges').where('token_hash', 'in', hashes).execute()
  }

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
      await dropExcess(user.id, hashOf(token), source)
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

/** The value that occurs most often, the first of several. */
function largest(values: readonly string[]): string {
  const groups = [...Map.groupBy(values, (value) => value).values()]
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0] ?? ''
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
