/**
 * Links that set a new password, sent by mail: good once, for 30 minutes. Nothing tells a stranger whether a name
 * exists: the answer comes before the hub looks. Two-factor is still needed to sign in.
 */
import { createHash, randomBytes } from 'node:crypto'
import { RESET_LINK_MINUTES } from '@hedgerow/contract'
import { sql, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import { networkOf } from '../access/networks.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { deleteAccessOf, NO_PASSWORD, requireStrongPassword, toHubUser, type UserRow } from './accounts.ts'
import { usernameKey } from './look-alikes.ts'
import type { AccountMail } from './mail.ts'
import type { Passwords } from './passwords.ts'
import { createThrottle } from './throttle.ts'

const LIFETIME_MS = RESET_LINK_MINUTES * 60_000
const TOKEN_BYTES = 24
/** Links of one person at a time, so that nobody fills their mailbox. */
const OPEN_MAX = 3
/** People who share an address. */
const PEOPLE_MAX = 5
const UNDER_WAY_MAX = 50
const FREE_ATTEMPTS = 10
const MAX_WAIT_MS = 15 * 60_000

const hashToken = (token: string) => createHash('sha256').update(token).digest('base64')

export function createPasswordResets(deps: {
  db: Kysely<Tables>
  passwords: Passwords
  clock: () => number
  log: Logger
  mail: AccountMail
}) {
  const { db, passwords, clock, log, mail } = deps
  const throttle = { free: FREE_ATTEMPTS, maxWaitMs: MAX_WAIT_MS, clock }
  const [requests, attempts] = [createThrottle(throttle), createThrottle(throttle)]
  let underWay = 0

  /** Throws `too_many_requests`. */
  function count(counted: typeof requests, sourceIp: string): void {
    const network = networkOf(sourceIp)
    const retryAfterMs = counted.waitMs(network)
    if (retryAfterMs > 0) throw new HubError('too_many_requests', { retryAfterMs })
    counted.failed(network)
  }

  async function sendLinks(who: string, sourceIp: string): Promise<void> {
    const people = await db
      .selectFrom('users')
      .selectAll()
      .where('active', '=', 1)
      .where('email', '!=', '')
      // Who never had one signs in elsewhere, and what ends there must not go on here.
      .where('password_hash', '!=', NO_PASSWORD)
      .where((user) =>
        user.or([user('username_key', '=', usernameKey(who)), user(sql`lower(email)`, '=', who.toLowerCase())]),
      )
      .limit(PEOPLE_MAX)
      .execute()
    for (const person of people) {
      const token = await open(person, sourceIp)
      if (token !== undefined) await mail.sendReset(person, token)
    }
  }

  /** Undefined when the person has enough of them. */
  function open({ id, username }: UserRow, sourceIp: string): Promise<string | undefined> {
    const now = clock()
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    return inTransaction(db, async (transaction) => {
      const links = transaction.deleteFrom('password_resets')
      await links
        .where(({ eb, or }) => or([eb('expires_at', '<=', now), eb('expires_at', '>', now + LIFETIME_MS)]))
        .execute()
      const open = transaction.selectFrom('password_resets').select('token_hash').where('user_id', '=', id)
      if ((await open.execute()).length >= OPEN_MAX) return undefined
      const row = { token_hash: hashToken(token), user_id: id, created_at: now, expires_at: now + LIFETIME_MS }
      await transaction.insertInto('password_resets').values(row).execute()
      const actor = { name: username, userId: id, sourceIp }
      await record(transaction, { kind: 'password-reset.sent', at: now, actor, data: {} })
      return token
    })
  }

  async function personOf(token: string): Promise<UserRow> {
    const person = await db
      .selectFrom('password_resets')
      .innerJoin('users', 'users.id', 'password_resets.user_id')
      .selectAll('users')
      .where('token_hash', '=', hashToken(token))
      .where('expires_at', '>', clock())
      // Later ones were made while the clock was wrong.
      .where('expires_at', '<=', clock() + LIFETIME_MS)
      .where('users.active', '=', 1)
      .where('users.password_hash', '!=', NO_PASSWORD)
      .executeTakeFirst()
    if (!person) throw new HubError('reset_link_invalid')
    return person
  }

  return {
    /** Returns at once. Throws `too_many_requests`. */
    request(who: string, sourceIp: string): void {
      count(requests, sourceIp)
      if (underWay >= UNDER_WAY_MAX) throw new HubError('too_many_requests')
      underWay++
      void sendLinks(who, sourceIp)
        .catch((error: unknown) => log.warn({ err: error }, 'a link that sets a password could not be sent'))
        .finally(() => underWay--)
    },

    /** Ends all that the person's old password opened. Throws `reset_link_invalid` and `password_too_weak`. */
    async complete(token: string, newPassword: string, sourceIp: string): Promise<{ username: string }> {
      count(attempts, sourceIp)
      const person = await personOf(token)
      const { id, username } = person
      await requireStrongPassword({ db, passwords }, newPassword, toHubUser(person), 'newPassword', sourceIp)
      const passwordHash = await passwords.hash(newPassword, sourceIp)
      await inTransaction(db, async (transaction) => {
        const used = transaction.deleteFrom('password_resets').where('token_hash', '=', hashToken(token))
        const [link] = await used.where('expires_at', '>', clock()).returning('user_id').execute()
        const changed = await transaction
          .updateTable('users')
          .set({ password_hash: passwordHash })
          .where('id', '=', id)
          .where('active', '=', 1)
          .returning('id')
          .executeTakeFirst()
        if (!link || !changed) throw new HubError('reset_link_invalid')
        await deleteAccessOf(transaction, id)
        await record(transaction, {
          kind: 'user.password-reset',
          at: clock(),
          actor: { name: username, userId: id, sourceIp },
          target: id,
          data: { username, byMail: true },
        })
      })
      attempts.takeBack(networkOf(sourceIp))
      return { username }
    },
  }
}
