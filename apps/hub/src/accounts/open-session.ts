import type { loginTwoFactor, ResponseOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { SessionOrigin, Sessions } from '../access/sessions.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import { toSessionUser, type UserRow } from './accounts.ts'
import { rememberNetwork } from './known-networks.ts'
import { mustSetUp } from './must-set-up.ts'

/** `providerName` is set when a sign-in provider proved who it is. */
export type OpenSession = (
  user: UserRow,
  from: SessionOrigin,
  providerName?: string,
) => Promise<ResponseOf<typeof loginTwoFactor>>

/** The last step of every way to sign in. */
export function createOpenSession(deps: { db: Kysely<Tables>; sessions: Sessions; clock: () => number }): OpenSession {
  const { db, sessions, clock } = deps
  return async (user, from, providerName) => {
    const accessToken = await sessions.start({ id: user.id, passwordHash: user.password_hash }, from)
    const now = clock()
    const actor = { name: user.username, userId: user.id, sourceIp: from.sourceIp }
    const provider = providerName === undefined ? {} : { provider: providerName }
    await inTransaction(db, async (transaction) => {
      await transaction.updateTable('users').set({ last_login_at: now }).where('id', '=', user.id).execute()
      await rememberNetwork(transaction, user.id, from.sourceIp, now)
      await record(transaction, { kind: 'session.started', at: now, actor, data: provider })
    })
    const mustSetUpTwoFactor = await mustSetUp(db, user, from.provider?.linkId)
    return { accessToken, user: { ...toSessionUser(user, mustSetUpTwoFactor), ...provider } }
  }
}
