/** The users as admins manage them. One active admin always remains. */
import type { Fact, HubUser, newUser, SearchQuery } from '@hedgerow/contract'
import type { z } from 'zod'
import { sql, type Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { holding } from '../database/holding.ts'
import type { Page } from '../http/pagination.ts'
import {
  closeResetsOf,
  deleteAccessOf,
  deleteSessionsOf,
  findById,
  insertUser,
  personalKey,
  refuseTakenName,
  requireAnAdmin,
  requireStrongPassword,
  revokeInvitationsOf,
  toHubUser,
  type UserRow,
} from './accounts.ts'
import type { Passwords } from './passwords.ts'

type UserDependencies = { db: Kysely<Tables>; passwords: Passwords }

/** A user and its sort position. */
export type ListedUser = { user: HubUser; position: readonly [string, string] }

/** By username, in the same order on every page; the page starts after `page.after`. */
export async function listUsers(db: Db, { q }: Pick<SearchQuery, 'q'>, page: Page): Promise<ListedUser[]> {
  const sortKey = sql<string>`lower(username)`
  let query = db.selectFrom('users').selectAll().select(sortKey.as('sort_key')).orderBy('sort_key').orderBy('id')
  if (q) query = query.where(holding(q, ['username', 'email', 'first_name', 'last_name']))
  if (page.after) {
    const [name, id] = page.after
    query = query.where(sql<boolean>`(${sortKey}, id) > (${name}, ${id})`)
  }
  if (page.rowsWanted !== undefined) query = query.limit(page.rowsWanted)
  const rows = await query.execute()
  return rows.map((row) => ({ user: toHubUser(row), position: [row.sort_key, row.id] }))
}

/** Throws `username_taken` and `password_too_weak`. */
export async function addUser(
  { db, passwords }: UserDependencies,
  body: z.output<typeof newUser>,
  act: Act,
): Promise<HubUser> {
  await requireStrongPassword({ db, passwords }, body.password, body, 'password')
  const passwordHash = await passwords.hash(body.password)
  return inTransaction(db, async (transaction) => {
    const row = await insertUser(transaction, body, passwordHash, act.now)
    const { username, role } = row
    await record(transaction, {
      kind: 'user.created',
      ...by(act),
      target: row.id,
      data: { username, role },
    })
    return toHubUser(row)
  })
}

type EditedFields = 'username' | 'email' | 'firstName' | 'lastName' | 'role' | 'active'

/** Throws `user_not_found`, `username_taken`, `password_too_weak`, `last_admin` and `changed_meanwhile`. */
export async function updateUser(
  { db, passwords }: UserDependencies,
  id: string,
  { password, ...change }: Change<Pick<HubUser, EditedFields>> & { password?: string | undefined },
  act: Act,
): Promise<HubUser> {
  if (password) {
    const names = edited(toHubUser(await findById(db, id)), change)
    await requireStrongPassword({ db, passwords }, password, names, 'password')
  }
  const passwordHash = password ? await passwords.hash(password) : undefined
  return inTransaction(db, async (transaction) => {
    const before = await findById(transaction, id)
    const user = edited(toHubUser(before), change)
    const after: UserRow = {
      ...before,
      username: user.username,
      username_key: personalKey(user.username),
      email: user.email,
      first_name: user.firstName,
      last_name: user.lastName,
      role: user.role,
      active: user.active ? 1 : 0,
      password_hash: passwordHash ?? before.password_hash,
    }
    await refuseTakenName(transaction.updateTable('users').set(after).where('id', '=', id).execute())
    await requireAnAdmin(transaction)
    if (after.active !== before.active || passwordHash !== undefined) await deleteAccessOf(transaction, id)
    else if (after.role !== before.role) await deleteSessionsOf(transaction, id)
    if (after.email !== before.email) await closeResetsOf(transaction, id)
    if (before.role === 'admin' && (after.role !== 'admin' || after.active === 0))
      await revokeInvitationsOf(transaction, before, by(act))
    const about = { ...by(act), target: id }
    const { username } = after
    const facts: Fact[] = [{ ...about, kind: 'user.updated', data: { username, changes: whatChanged(before, after) } }]
    if (after.role !== before.role) facts.push({ ...about, kind: 'user.role-changed', data: {} })
    if (after.active !== before.active)
      facts.push({ ...about, kind: after.active ? 'user.activated' : 'user.deactivated', data: {} })
    if (passwordHash !== undefined) facts.push({ ...about, kind: 'user.password-reset', data: { username } })
    await record(transaction, ...facts)
    return toHubUser(after)
  })
}

/** Throws `user_not_found` and `last_admin`. */
export async function deleteUser(db: Kysely<Tables>, id: string, act: Act): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const user = await findById(transaction, id)
    const { username } = user
    await revokeInvitationsOf(transaction, user, by(act))
    await transaction.deleteFrom('users').where('id', '=', id).execute()
    await transaction.deleteFrom('saved_views').where('user_id', '=', id).execute()
    await requireAnAdmin(transaction)
    await record(transaction, { kind: 'user.deleted', ...by(act), target: id, data: { username } })
  })
}

/** Changes of the user's rights; an edited name or address is not shown as activity. */
function whatChanged(before: UserRow, after: UserRow): string[] {
  return [
    before.username === after.username ? [] : `renamed from "${before.username}"`,
    before.role === after.role ? [] : `made ${after.role}`,
    before.active === after.active ? [] : after.active === 1 ? 'activated' : 'deactivated',
    before.password_hash === after.password_hash ? [] : 'given a new password',
  ].flat()
}
