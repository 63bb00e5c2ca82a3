import type { registerAccount, registrationInfo, ResponseOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { readSettings } from '../settings/settings.ts'
import { insertUser, requireStrongPassword } from './accounts.ts'
import { networkOf } from '../access/networks.ts'
import type { Passwords } from './passwords.ts'
import { createThrottle } from './throttle.ts'
import { isInvitationValid, useInvitation } from './user-invitations.ts'

const INVITE_CODE_REQUIRED = 'Invite code is required'
const FREE_ATTEMPTS = 20
const MAX_WAIT_MS = 15 * 60_000

export type SignUp = (
  body: z.output<(typeof registerAccount)['body']>,
  sourceIp: string,
) => Promise<ResponseOf<typeof registerAccount>>

export async function readRegistrationInfo(db: Db, localSignIn: boolean): Promise<ResponseOf<typeof registrationInfo>> {
  const { inviteCodeRequired, openRegistration } = await readSettings(db)
  return { inviteCodeRequired, openRegistration: openRegistration && localSignIn }
}

/**
 * Creates an account, as the settings allow. Anybody may call it, so cheap checks come before hashing, and one
 * network's attempts are slowed down. Throws `registration_closed`, `invite_code_invalid`, `password_too_weak` and
 * `username_taken`; then the invitation's use does not count.
 */
export function createSignUp(deps: {
  db: Kysely<Tables>
  passwords: Passwords
  clock: () => number
  localSignIn: boolean
}): SignUp {
  const { db, passwords, clock } = deps
  const attempts = createThrottle({ free: FREE_ATTEMPTS, maxWaitMs: MAX_WAIT_MS, clock })

  return async ({ inviteCode, ...person }, sourceIp) => {
    const { openRegistration, inviteCodeRequired } = await readRegistrationInfo(db, deps.localSignIn)
    if (!openRegistration) throw new HubError('registration_closed')
    if (inviteCodeRequired && !inviteCode)
      throw new HubError('invalid_request', {
        message: INVITE_CODE_REQUIRED,
        fieldErrors: { inviteCode: INVITE_CODE_REQUIRED },
      })
    const network = networkOf(sourceIp)
    if (attempts.waitMs(network) > 0) throw new HubError('too_many_requests')
    attempts.failed(network)
    if (inviteCode && !(await isInvitationValid(db, inviteCode, clock()))) {
      const actor = { name: person.username, sourceIp }
      await record(db, { kind: 'user.registration-refused', at: clock(), actor, data: {} })
      throw new HubError('invite_code_invalid')
    }
    await requireStrongPassword(deps, person.password, person, 'password', sourceIp)
    const passwordHash = await passwords.hash(person.password, sourceIp)
    return inTransaction(db, async (transaction) => {
      const role = inviteCode ? await useInvitation(transaction, inviteCode, clock()) : 'user'
      const { id, username } = await insertUser(transaction, { ...person, role }, passwordHash, clock())
      await record(transaction, {
        kind: 'user.registered',
        at: clock(),
        actor: { name: username, userId: id, sourceIp },
        target: id,
        data: { username, role },
      })
      return { username, role }
    })
  }
}
