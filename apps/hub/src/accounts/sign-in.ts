import type { loginTwoFactor, login, ResponseOf } from '@hedgerow/contract'
import type { BodyOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import type { Refusals } from '../access/refusals.ts'
import { networksOf, networkOf } from '../access/networks.ts'
import { HubError } from '../kernel/hub-error.ts'
import { mayUsePassword, type UserRow } from './accounts.ts'
import { createChallenges } from './challenges.ts'
import { createCodeGuesses } from './code-guesses.ts'
import { usernameKey } from './look-alikes.ts'
import { isKnownNetwork } from './known-networks.ts'
import type { OpenSession } from './open-session.ts'
import type { Passwords } from './passwords.ts'
import { createThrottle } from './throttle.ts'
import type { Sealing } from '../database/sealed.ts'
import { useCode } from './two-factor.ts'

const PAIR_FREE_FAILURES = 5
const ADDRESS_FREE_FAILURES = 30
const MAX_WAIT_MS = 15 * 60_000
const AUDITED_NAME_LENGTH = 100

type From = { sourceIp: string; userAgent: string }

export type SignIn = {
  /** The first step. Throws `invalid_credentials`, `account_inactive` and `too_many_requests`. */
  withPassword(credentials: BodyOf<typeof login>, from: From): Promise<ResponseOf<typeof login>>
  /** The second step. Throws `challenge_ended`, `two_factor_code_wrong` and `too_many_requests`. */
  withCode(answer: BodyOf<typeof loginTwoFactor>, from: From): Promise<ResponseOf<typeof loginTwoFactor>>
}

/**
 * Sign-in. Password guesses are slowed for one account from one address, and for one network over all accounts, but
 * never for an account as a whole: nobody can lock its owner out from elsewhere. On a network where the owner signed in
 * before, only guesses at this account from there slow the owner down, and strangers do not queue ahead. Code guesses
 * need the password; they are slowed for the account too, but not for its owner (code-guesses.ts).
 */
export function createSignIn(deps: {
  db: Kysely<Tables>
  openSession: OpenSession
  /** False: only people to whom the command line allowed it. */
  localSignIn: boolean
  passwords: Passwords
  secrets: Sealing
  clock: () => number
  refusals: Pick<Refusals, 'count'>
}): SignIn {
  const { db, openSession, passwords, clock, refusals } = deps
  const byPair = createThrottle({ free: PAIR_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  const codesByPair = createThrottle({ free: PAIR_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  const byAddress = createThrottle({ free: ADDRESS_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  const challenges = createChallenges({ db, clock })
  const guesses = createCodeGuesses({ db, clock })

  /** For each network of the address, over all accounts. */
  const door = {
    waitMs: (sourceIp: string) =>
      Math.max(...networksOf(sourceIp).map(({ cidr, share }) => byAddress.waitMs(cidr, share))),
    failed: (sourceIp: string) => networksOf(sourceIp).forEach(({ cidr }) => byAddress.failed(cidr)),
    takeBack: (sourceIp: string) => networksOf(sourceIp).forEach(({ cidr }) => byAddress.takeBack(cidr)),
  }

  /** Throws `too_many_requests` with the longest wait. */
  function refuseIfEarly(sourceIp: string, ...waitsMs: number[]): void {
    const retryAfterMs = Math.max(...waitsMs)
    if (retryAfterMs <= 0) return
    refusals.count('sign-in', sourceIp)
    throw new HubError('too_many_requests', { retryAfterMs })
  }

  const recordRefusal = (user: UserRow | undefined, name: string, sourceIp: string) =>
    record(db, { kind: 'session.refused', at: clock(), actor: { name, userId: user?.id, sourceIp }, data: {} })

  /** Whoever tried these codes has the password. */
  async function notifyOwner(user: UserRow, sourceIp: string): Promise<void> {
    await inTransaction(db, async (transaction) => {
      if (!(await guesses.mustTellOwner(transaction, user.id))) return
      await record(transaction, {
        kind: 'two-factor.guessed',
        at: clock(),
        actor: { name: user.username, userId: user.id, sourceIp },
        target: user.id,
        data: { username: user.username, email: user.email },
      })
    })
  }

  return {
    async withPassword({ username, password }, from) {
      const address = networkOf(from.sourceIp)
      const name = usernameKey(username)
      const pair = `${address} ${name}`
      const user = await db.selectFrom('users').selectAll().where('username_key', '=', name).executeTakeFirst()
      const isKnown = user !== undefined && (await isKnownNetwork(db, user.id, from.sourceIp))
      refuseIfEarly(from.sourceIp, byPair.waitMs(pair), isKnown ? 0 : door.waitMs(from.sourceIp))
      // Counted at once and taken back on success, so that parallel guesses do not all pass the check above.
      byPair.failed(pair)
      door.failed(from.sourceIp)

      const refuse = async (code: 'invalid_credentials' | 'local_sign_in_off' | 'account_inactive') => {
        await recordRefusal(user, username.slice(0, AUDITED_NAME_LENGTH), from.sourceIp)
        throw new HubError(code)
      }
      if (!deps.localSignIn && !mayUsePassword(user, clock())) return refuse('local_sign_in_off')
      const strangerIp = isKnown ? undefined : from.sourceIp
      const isRight = await passwords.verify(password, user?.password_hash, strangerIp).catch((error: unknown) => {
        if (error instanceof HubError) refusals.count('sign-in', from.sourceIp)
        throw error
      })
      if (!isRight || !user) return refuse('invalid_credentials')
      byPair.reset(pair)
      door.takeBack(from.sourceIp)
      if (!user.active) return refuse('account_inactive')
      if (user.two_factor_secret === null) return openSession(user, from)
      return { twoFactorRequired: true, challenge: await challenges.open(user, address) }
    },

    async withCode({ challenge, code }, from) {
      const address = networkOf(from.sourceIp)
      const userId = await challenges.userIdOf(challenge, address)
      const isKnown = userId !== undefined && (await isKnownNetwork(db, userId, from.sourceIp))
      refuseIfEarly(from.sourceIp, isKnown ? 0 : door.waitMs(from.sourceIp))
      const user = await challenges.attempt(challenge, address)
      const pair = `${address} ${user.id}`
      refuseIfEarly(from.sourceIp, codesByPair.waitMs(pair))
      await guesses.begin({ userId: user.id, sourceIp: from.sourceIp, code }).catch(async (error: unknown) => {
        await challenges.takeBack(challenge)
        throw error
      })
      codesByPair.failed(pair)
      door.failed(from.sourceIp)
      try {
        const kind = await useCode(db, user, code, deps)
        if (kind === 'recovery') {
          const actor = { name: user.username, userId: user.id, sourceIp: from.sourceIp }
          await record(db, { kind: 'recovery-code.used', at: clock(), actor, data: {} })
        }
      } catch (error) {
        if (error instanceof HubError) {
          await recordRefusal(user, user.username, from.sourceIp)
          await notifyOwner(user, from.sourceIp)
        }
        throw error
      }
      codesByPair.reset(pair)
      door.takeBack(from.sourceIp)
      await guesses.succeeded(user.id)
      await challenges.close(challenge)
      return openSession(user, from)
    },
  }
}
