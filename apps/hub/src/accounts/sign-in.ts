import type { loginTwoFactor, login, ResponseOf } from '@hedgerow/contract'
import type { BodyOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../kernel/facts.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Sessions } from '../access/sessions.ts'
import { toSessionUser, type UserRow } from './accounts.ts'
import { createChallenges } from './challenges.ts'
import { createCodeGuesses } from './code-guesses.ts'
import { usernameKey } from './look-alikes.ts'
import { mustSetUp } from './must-set-up.ts'
import { networkOf } from './networks.ts'
import type { Passwords } from './passwords.ts'
import { createThrottle } from './throttle.ts'
import type { TwoFactorSecrets } from './two-factor-secrets.ts'
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
 * Signing in. Guessing passwords is slowed for one account from one address and for one address over all accounts, never
 * for an account as a whole: so nobody can lock its owner out from somewhere else. Guessing codes, for which one must
 * have the password, is slowed for the account too, but for its owner (code-guesses.ts).
 */
export function createSignIn(deps: {
  db: Kysely<Tables>
  sessions: Sessions
  passwords: Passwords
  secrets: TwoFactorSecrets
  clock: () => number
  /** Writes a mail to the owner of an account, in the transaction. */
  tell: Notifications['tell']
}): SignIn {
  const { db, sessions, passwords, clock } = deps
  const byPair = createThrottle({ free: PAIR_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  const codesByPair = createThrottle({ free: PAIR_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  const byAddress = createThrottle({ free: ADDRESS_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  const challenges = createChallenges({ db, clock })
  const guesses = createCodeGuesses({ db, clock })

  const recordRefusal = (user: UserRow | undefined, name: string, sourceIp: string) =>
    record(db, { kind: 'session.refused', at: clock(), actor: { name, userId: user?.id, sourceIp }, data: {} })

  async function openSession(user: UserRow, from: From): Promise<ResponseOf<typeof loginTwoFactor>> {
    const accessToken = await sessions.start({ id: user.id, passwordHash: user.password_hash }, from)
    const now = clock()
    const actor = { name: user.username, userId: user.id, sourceIp: from.sourceIp }
    await guesses.remember(user.id, networkOf(from.sourceIp))
    await inTransaction(db, async (transaction) => {
      await transaction.updateTable('users').set({ last_login_at: now }).where('id', '=', user.id).execute()
      await record(transaction, { kind: 'session.started', at: now, actor, data: {} })
    })
    return { accessToken, user: toSessionUser(user, await mustSetUp(db, user)) }
  }

  /** Who tried these codes has the password. */
  async function tellOwner(user: UserRow, sourceIp: string): Promise<void> {
    await inTransaction(db, async (transaction) => {
      if (!(await guesses.mustTellOwner(transaction, user.id))) return
      await deps.tell(transaction, user.email, {
        key: `two-factor.guessed.${user.id}.${clock()}`,
        kind: 'two-factor.guessed',
        title: 'Somebody with your password could not give the code',
        text: [
          `Somebody signed in to the hub as ${user.username} with the right password and gave wrong two-factor codes,`,
          `the last time from ${sourceIp}. If this was not you, change your password. Sign-ins from networks that you`,
          'have used before, and recovery codes, work as ever.',
        ].join('\n'),
        data: { username: user.username, sourceIp },
      })
    })
  }

  return {
    async withPassword({ username, password }, from) {
      const address = networkOf(from.sourceIp)
      const name = usernameKey(username)
      const pair = `${address} ${name}`
      if (byPair.waitMs(pair) > 0 || byAddress.waitMs(address) > 0) throw new HubError('too_many_requests')
      // Counted right away and taken back on success, so that parallel guesses do not all pass the check above.
      byPair.failed(pair)
      byAddress.failed(address)

      const user = await db.selectFrom('users').selectAll().where('username_key', '=', name).executeTakeFirst()
      const refuse = async (code: 'invalid_credentials' | 'account_inactive') => {
        await recordRefusal(user, username.slice(0, AUDITED_NAME_LENGTH), from.sourceIp)
        throw new HubError(code)
      }
      if (!(await passwords.verify(password, user?.password_hash)) || !user) return refuse('invalid_credentials')
      byPair.forget(pair)
      byAddress.takeBack(address)
      if (!user.active) return refuse('account_inactive')
      if (user.two_factor_secret === null) return openSession(user, from)
      return { twoFactorRequired: true, challenge: await challenges.open(user, address) }
    },

    async withCode({ challenge, code }, from) {
      const address = networkOf(from.sourceIp)
      if (byAddress.waitMs(address) > 0) throw new HubError('too_many_requests')
      const user = await challenges.attempt(challenge, address)
      const pair = `${address} ${user.id}`
      if (codesByPair.waitMs(pair) > 0) throw new HubError('too_many_requests')
      await guesses.begin({ userId: user.id, network: address, code }).catch(async (error: unknown) => {
        await challenges.takeBack(challenge)
        throw error
      })
      codesByPair.failed(pair)
      byAddress.failed(address)
      try {
        const kind = await useCode(db, user, code, deps)
        if (kind === 'recovery') {
          const actor = { name: user.username, userId: user.id, sourceIp: from.sourceIp }
          await record(db, { kind: 'recovery-code.used', at: clock(), actor, data: {} })
        }
      } catch (error) {
        if (error instanceof HubError) {
          await recordRefusal(user, user.username, from.sourceIp)
          await tellOwner(user, from.sourceIp)
        }
        throw error
      }
      codesByPair.forget(pair)
      byAddress.takeBack(address)
      await guesses.succeeded(user.id)
      await challenges.close(challenge)
      return openSession(user, from)
    },
  }
}
