import type { BodyOf, login, ResponseOf } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import { writeAudit } from '../audit/audit.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../http/hub-error.ts'
import type { Sessions } from '../http/sessions.ts'
import { toSessionUser, usernameKey } from './accounts.ts'
import type { Passwords } from './passwords.ts'
import { createThrottle } from './throttle.ts'

const PAIR_FREE_FAILURES = 5
const ADDRESS_FREE_FAILURES = 30
const MAX_WAIT_MS = 15 * 60_000
const AUDITED_NAME_LENGTH = 100

export type SignIn = (
  credentials: BodyOf<typeof login>,
  from: { sourceIp: string; userAgent: string },
) => Promise<ResponseOf<typeof login>>

/**
 * Signing in. Guessing is slowed for one account from one address and for one address over all accounts, never for an
 * account as a whole: so nobody can lock its owner out from somewhere else.
 */
export function createSignIn(deps: {
  db: Kysely<Tables>
  sessions: Sessions
  passwords: Passwords
  clock: () => number
}): SignIn {
  const { db, sessions, passwords, clock } = deps
  const byPair = createThrottle({ free: PAIR_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })
  const byAddress = createThrottle({ free: ADDRESS_FREE_FAILURES, maxWaitMs: MAX_WAIT_MS, clock })

  return async ({ username, password }, from) => {
    const address = networkOf(from.sourceIp)
    const name = usernameKey(username)
    const pair = `${address} ${name}`
    if (byPair.waitMs(pair) > 0 || byAddress.waitMs(address) > 0) throw new HubError('too_many_requests')
    // Counted right away and taken back on success, so that parallel guesses do not all pass the check above.
    byPair.failed(pair)
    byAddress.failed(address)

    const user = await db.selectFrom('users').selectAll().where('username_key', '=', name).executeTakeFirst()
    const refuse = async (code: 'invalid_credentials' | 'account_inactive') => {
      await writeAudit(db, {
        actor: username.slice(0, AUDITED_NAME_LENGTH),
        actorId: user?.id,
        action: 'session.start',
        sourceIp: from.sourceIp,
        result: 'refused',
      })
      throw new HubError(code)
    }
    if (!(await passwords.verify(password, user?.password_hash)) || !user) return refuse('invalid_credentials')
    byPair.forget(pair)
    byAddress.takeBack(address)
    if (!user.active) return refuse('account_inactive')

    const accessToken = await sessions.start(user, from)
    await db.updateTable('users').set({ last_login_at: clock() }).where('id', '=', user.id).execute()
    await writeAudit(db, {
      actor: user.username,
      actorId: user.id,
      action: 'session.start',
      sourceIp: from.sourceIp,
      result: 'ok',
    })
    return { accessToken, user: toSessionUser(user) }
  }
}

/** One customer's IPv6 network is 64 bits at least, so a single address there means nothing. */
function networkOf(sourceIp: string): string {
  if (!sourceIp.includes(':')) return sourceIp
  const [head = '', tail] = sourceIp.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const zeros =
    tail === undefined ? [] : Array.from<string>({ length: Math.max(0, 8 - left.length - right.length) }).fill('0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}
