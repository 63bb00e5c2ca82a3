/**
 * Users: names, roles and passwords. A username is taken when another one looks like it, passwords are stored as
 * argon2id hashes only, and invitations let people create their own account. Refuses a taken username and a password
 * that is easy to guess. Called by the rest of this folder, by the first start and by the command line.
 */
import { randomUUID } from 'node:crypto'
import {
  newPassword,
  newUserInvitation,
  type HubUser,
  type Role,
  type SessionUser,
  type UserInvitation,
} from '@hedgerow/contract'
import type { Kysely, Selectable } from 'kysely'
import type { z } from 'zod'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { HUB, record, type Authorship } from '../facts/facts.ts'
import { readSettings } from '../settings/settings.ts'
import { hashCode, makeCode } from './codes.ts'
import { usernameKey } from './look-alikes.ts'
import type { Passwords } from './passwords.ts'
import { insertToken, type WantedToken } from './tokens.ts'

const HOUR_MS = 3_600_000

/** The hash of people whom only a provider signs in: no password matches it. */
export const NO_PASSWORD = ''

export type UserRow = Selectable<Tables['users']>

export type NewUser = {
  username: string
  role: Role
  email?: string
  firstName?: string
  lastName?: string
  active?: boolean
}

/** Like `insertUser`, but accepts any password. */
export async function createUser(
  db: Db,
  passwords: Passwords,
  { password, ...user }: NewUser & { password: string },
): Promise<UserRow> {
  return insertUser(db, user, await passwords.hash(password), Date.now())
}

/** Names that the audit uses for the hub and for gateways. */
const NOBODYS_NAMES: ReadonlySet<string> = new Set(['hub', 'gateway'].map(usernameKey))

/** The form in which a name must be unique. Throws `username_taken` for a reserved name. */
export function personalKey(username: string): string {
  const key = usernameKey(username)
  if (NOBODYS_NAMES.has(key)) throw takenName()
  return key
}

/** Throws `username_taken`, also for a name that looks like another user's. */
export async function insertUser(db: Db, user: NewUser, passwordHash: string, now: number): Promise<UserRow> {
  const row: UserRow = {
    id: randomUUID(),
    username: user.username,
    username_key: personalKey(user.username),
    email: user.email ?? '',
    first_name: user.firstName ?? '',
    last_name: user.lastName ?? '',
    role: user.role,
    active: user.active === false ? 0 : 1,
    password_hash: passwordHash,
    two_factor_secret: null,
    two_factor_pending: null,
    two_factor_step: null,
    last_login_at: null,
    local_sign_in_until: null,
    created_at: now,
  }
  await refuseTakenName(db.insertInto('users').values(row).execute())
  return row
}

/** Returns the result of `write`; turns a violated unique name into `username_taken`. */
export async function refuseTakenName<T>(write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw takenName(error)
  }
}

function takenName(cause?: unknown): HubError {
  const { message } = new HubError('username_taken')
  return new HubError('username_taken', { fieldErrors: { username: message }, cause })
}

/**
 * When the setting `passwordComplexity` is on, throws `password_too_weak` with the reason; `field` is the caller's name
 * for the field.
 */
export async function requireStrongPassword(
  { db, passwords }: { db: Db; passwords: Passwords },
  password: string,
  person: { username: string; email?: string; firstName?: string; lastName?: string },
  field: string,
  strangerIp?: string,
): Promise<void> {
  const { passwordComplexity } = await readSettings(db)
  if (!passwordComplexity) return
  const { username, email = '', firstName = '', lastName = '' } = person
  const message = await passwords.findWeakness(password, [username, email, firstName, lastName], strangerIp)
  if (message !== undefined) throw new HubError('password_too_weak', { message, fieldErrors: { [field]: message } })
}

/**
 * Ends everything that the user's password or rights opened: sessions, sign-ins that wait for a code, and links that
 * set a new password; returns the number of sessions. Runs in the transaction that changes them; its fact also ends
 * streams at once (followers/sessions.ts).
 */
export async function deleteSessionsOf(db: Db, userId: string): Promise<number> {
  const ended = await db.deleteFrom('sessions').where('user_id', '=', userId).returning('id').execute()
  await db.deleteFrom('sign_in_challenges').where('user_id', '=', userId).execute()
  await closeResetsOf(db, userId)
  return ended.length
}

/** Runs after the change, inside its serializable transaction: two admins cannot demote each other at once. */
export async function requireAnAdmin(db: Db): Promise<void> {
  const admin = await db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('active', '=', 1)
    .limit(1)
    .executeTakeFirst()
  if (!admin) throw new HubError('last_admin')
}

/** Links that were sent to an address which is the person's no longer. */
export async function closeResetsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('password_resets').where('user_id', '=', userId).execute()
}

/** The same with the tokens of programs, where somebody else may have had the account, or nobody is to have it. */
export async function deleteAccessOf(db: Db, userId: string): Promise<void> {
  await deleteSessionsOf(db, userId)
  await db.deleteFrom('api_tokens').where('user_id', '=', userId).execute()
}

/** For the command line. Throws `user_not_found`, and names the admins: who lost their own name can ask nobody else. */
export async function findByName(db: Db, username: string): Promise<UserRow> {
  const users = db.selectFrom('users').selectAll()
  const user = await users.where('username_key', '=', usernameKey(username)).executeTakeFirst()
  if (user) return user
  const admins = await users.where('role', '=', 'admin').where('active', '=', 1).orderBy('username').limit(20).execute()
  const names = admins.map((admin) => JSON.stringify(admin.username)).join(', ')
  throw new HubError('user_not_found', {
    message:
      `There is no user ${JSON.stringify(username)}. ` +
      (names === '' ? 'No admin is active.' : `Active admins: ${names}.`),
  })
}

/**
 * Sets a new password for a user without the old one and ends the user's sessions; a running hub on the same database
 * ends their streams within a second. Two-factor and the active state do not change. Throws `user_not_found`,
 * `invalid_request` for a password that is too short and `password_too_weak`.
 */
export async function resetPassword(db: Db, passwords: Passwords, username: string, password: string): Promise<void> {
  const checked = newPassword.safeParse(password)
  if (!checked.success) throw new HubError('invalid_request', { message: checked.error.issues[0]!.message })
  const user = await findByName(db, username)
  await requireStrongPassword({ db, passwords }, password, toHubUser(user), 'password')
  const passwordHash = await passwords.hash(password)
  await inTransaction(db, async (transaction) => {
    await transaction.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', user.id).execute()
    await deleteAccessOf(transaction, user.id)
    await record(transaction, {
      kind: 'user.password-reset',
      at: Date.now(),
      actor: HUB,
      target: user.id,
      data: { username: user.username },
    })
  })
}

/** Whether this person may use a password on a hub that accepts none. */
export function mayUsePassword(user: Pick<UserRow, 'local_sign_in_until'> | undefined, now: number): boolean {
  const until = user?.local_sign_in_until ?? 0
  // With a clock that was set back it would last much too long.
  return until > now && until <= now + HOUR_MS
}

/** For the command line, when no provider helps: one hour. */
export async function allowPassword(db: Db, user: Pick<UserRow, 'id' | 'username'>, author: Authorship): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const until = author.at + HOUR_MS
    await transaction.updateTable('users').set({ local_sign_in_until: until }).where('id', '=', user.id).execute()
    const { username } = user
    await record(transaction, { kind: 'user.local-sign-in-allowed', ...author, target: user.id, data: { username } })
  })
}

/** For the command line. Throws `user_not_found` and what `insertToken` throws. */
export async function createTokenOf(db: Kysely<Tables>, username: string, wanted: WantedToken, author: Authorship) {
  return insertToken(db, await findByName(db, username), wanted, author)
}

/** Switches two-factor off for a user who lost it; returns what that ended. Throws `user_not_found`. */
export function resetTwoFactor(
  db: Db,
  id: string,
  author: Authorship,
): Promise<{ wasOn: boolean; recoveryCodes: number; sessions: number }> {
  return inTransaction(db, async (transaction) => {
    const { username, two_factor_secret: secret } = await findById(transaction, id)
    await transaction
      .updateTable('users')
      .set({ two_factor_secret: null, two_factor_pending: null, two_factor_step: null })
      .where('id', '=', id)
      .execute()
    const codes = transaction.deleteFrom('recovery_codes').where('user_id', '=', id).returning('code_hash')
    const { length: recoveryCodes } = await codes.execute()
    const sessions = await deleteSessionsOf(transaction, id)
    await record(transaction, { kind: 'user.two-factor-reset', ...author, target: id, data: { username } })
    return { wasOn: secret !== null, recoveryCodes, sessions }
  })
}

/** Throws `user_not_found`. */
export async function findById(db: Db, id: string): Promise<UserRow> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new HubError('user_not_found')
  return row
}

/** Only the code's hash is stored, so the code cannot be shown again. */
export async function createUserInvitation(
  db: Db,
  wanted: z.input<typeof newUserInvitation>,
  { at, actor }: Authorship,
): Promise<{ invitation: UserInvitation; code: string }> {
  const { label, role, maxUses, expiresInHours, email } = newUserInvitation.parse(wanted)
  const code = makeCode()
  const row: InvitationRow = {
    id: randomUUID(),
    label,
    code_hash: hashCode(code),
    role,
    max_uses: maxUses,
    uses: 0,
    expires_at: at + expiresInHours * HOUR_MS,
    revoked_at: null,
    created_by: actor.name,
    created_by_id: actor.userId ?? null,
    created_at: at,
  }
  await inTransaction(db, async (transaction) => {
    await transaction.insertInto('user_invitations').values(row).execute()
    await record(transaction, {
      kind: 'user-invitation.created',
      at,
      actor,
      target: row.id,
      data: { label, role, email },
    })
  })
  return { invitation: toUserInvitation(row, at), code }
}

/** Of somebody who may invite nobody any more: the codes that they made work no longer. */
export async function revokeInvitationsOf(
  db: Db,
  user: { id: string; username: string },
  author: Authorship,
): Promise<void> {
  const revoked = await db
    .updateTable('user_invitations')
    .set({ revoked_at: author.at })
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', author.at)
    .where(({ or, and, eb }) =>
      or([
        eb('created_by_id', '=', user.id),
        and([eb('created_by_id', 'is', null), eb('created_by', '=', user.username)]),
      ]),
    )
    .returning(['id', 'label', 'role'])
    .execute()
  for (const { id, ...data } of revoked)
    await record(db, { kind: 'user-invitation.revoked', ...author, target: id, data })
}

export type InvitationRow = Selectable<Tables['user_invitations']>

export function toUserInvitation(row: InvitationRow, now: number): UserInvitation {
  const ended =
    row.revoked_at !== null
      ? 'revoked'
      : row.uses >= row.max_uses
        ? 'used_up'
        : row.expires_at <= now
          ? 'expired'
          : null
  return {
    id: row.id,
    label: row.label,
    role: row.role,
    status: ended ?? 'active',
    uses: row.uses,
    maxUses: row.max_uses,
    expiresAt: new Date(row.expires_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
    createdBy: row.created_by,
  }
}

/** A user as managers and admins see it. */
export function toHubUser(row: UserRow): HubUser {
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role,
    active: row.active === 1,
    twoFactorEnabled: row.two_factor_secret !== null,
    lastLogin: row.last_login_at === null ? null : new Date(row.last_login_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
  }
}

/** The person's own account as they see it. */
export function toSessionUser(row: UserRow, mustSetUpTwoFactor: boolean): SessionUser {
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role,
    mustSetUpTwoFactor,
  }
}
