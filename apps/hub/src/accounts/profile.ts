/** A person's own account, except two-factor: profile, password, sessions, making tokens. */
import type {
  BodyOf,
  changePassword as changePasswordCall,
  createToken,
  Profile,
  ResponseOf,
  Session,
} from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Caller, Sessions } from '../access/sessions.ts'
import { closeResetsOf, deleteSessionsOf, NO_PASSWORD, requireStrongPassword, toHubUser } from './accounts.ts'
import type { Passwords } from './passwords.ts'
import type { Throttle } from './throttle.ts'
import { insertToken, type WantedToken } from './tokens.ts'
import { confirmed, confirmPassword, readUser } from './two-factor.ts'

export type ProfileDependencies = {
  db: Kysely<Tables>
  sessions: Sessions
  passwords: Passwords
  confirmations: Throttle
}

export async function readProfile(db: Db, caller: Caller): Promise<Profile> {
  const user = await readUser(db, caller)
  const hasPassword = user.password_hash !== NO_PASSWORD
  const { username, email, firstName, lastName, role, createdAt, twoFactorEnabled } = toHubUser(user)
  const { count } = await db
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('user_id', '=', caller.userId)
    .executeTakeFirstOrThrow()
  const own = { username, email, firstName, lastName, role, createdAt, hasPassword, twoFactorEnabled }
  return { ...own, recoveryCodesLeft: Number(count) }
}

const NEW_ADDRESS = 'A new address takes your password: links that set another password go there.'

/** Throws `changed_meanwhile`, and `password_wrong` for a new address: a stolen session must not become an account. */
export async function saveProfile(
  deps: ProfileDependencies,
  {
    currentPassword,
    ...change
  }: Change<Pick<Profile, 'email' | 'firstName' | 'lastName'>> & { currentPassword?: string | undefined },
  act: Act,
): Promise<Profile> {
  const { db, passwords } = deps
  const user = await readUser(db, act.actor)
  if (change.email !== undefined && change.email !== user.email) {
    if (currentPassword === undefined)
      throw new HubError('password_wrong', { message: NEW_ADDRESS, fieldErrors: { currentPassword: NEW_ADDRESS } })
    await confirmed(deps, act, () => confirmPassword(passwords, user, currentPassword, 'currentPassword'))
  }
  return inTransaction(db, async (transaction) => {
    const { email, firstName, lastName } = edited(await readProfile(transaction, act.actor), change)
    await transaction
      .updateTable('users')
      .set({ email, first_name: firstName, last_name: lastName })
      .where('id', '=', act.actor.userId)
      .execute()
    if (email !== user.email) await closeResetsOf(transaction, act.actor.userId)
    await record(transaction, { kind: 'profile.updated', ...by(act), data: {} })
    return readProfile(transaction, act.actor)
  })
}

/**
 * Ends all of the person's sessions and returns the token of a new one. Throws `password_wrong`, `password_too_weak`.
 */
export async function changePassword(
  deps: ProfileDependencies,
  body: BodyOf<typeof changePasswordCall>,
  act: Act,
  userAgent: string,
): Promise<string> {
  const { db, sessions, passwords } = deps
  const user = await readUser(db, act.actor)
  await confirmed(deps, act, () => confirmPassword(passwords, user, body.currentPassword, 'currentPassword'))
  await requireStrongPassword(deps, body.newPassword, toHubUser(user), 'newPassword')
  const passwordHash = await passwords.hash(body.newPassword)
  await inTransaction(db, async (transaction) => {
    const changed = await transaction
      .updateTable('users')
      .set({ password_hash: passwordHash })
      .where('id', '=', user.id)
      .where('password_hash', '=', user.password_hash)
      .returning('id')
      .executeTakeFirst()
    // Another request replaced it meanwhile and ended this session too.
    if (!changed) throw new HubError('session_ended')
    await deleteSessionsOf(transaction, user.id)
    await record(transaction, { kind: 'user.password-changed', ...by(act), data: {} })
  })
  return sessions.start({ id: user.id, passwordHash }, { sourceIp: act.sourceIp, userAgent })
}

/** Throws `password_wrong`, `token_role_too_high`, `too_many_tokens` and `token_name_taken`. */
export async function createOwnToken(
  deps: ProfileDependencies,
  { password, ...wanted }: WantedToken & { password: string },
  act: Act,
): Promise<ResponseOf<typeof createToken>> {
  const { db, passwords } = deps
  const user = await readUser(db, act.actor)
  await confirmed(deps, act, () => confirmPassword(passwords, user, password, 'password'))
  return insertToken(db, user, wanted, by(act))
}

/** Newest first. */
export async function listOwnSessions(db: Db, caller: Caller, now: number): Promise<Session[]> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', caller.userId)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
    sourceIp: row.source_ip,
    userAgent: row.user_agent,
    current: row.id === caller.sessionId,
  }))
}

/** Throws `session_not_found`, also for another person's session. */
export async function endOwnSession(
  { db, sessions }: Pick<ProfileDependencies, 'db' | 'sessions'>,
  sessionId: string,
  act: Act,
): Promise<void> {
  const own = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('user_id', '=', act.actor.userId)
    .executeTakeFirst()
  if (!own) throw new HubError('session_not_found')
  await sessions.end(sessionId)
  await record(db, { kind: 'session.ended', ...by(act), target: sessionId, data: { sessionId } })
}
