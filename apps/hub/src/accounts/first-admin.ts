import { randomBytes } from 'node:crypto'
import type { Db } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HUB, record } from '../facts/facts.ts'
import { insertUser, resetPassword } from './accounts.ts'
import type { Passwords } from './passwords.ts'

const DEFAULT_USERNAME = 'admin'
/** 120 bits, which base64url writes as 20 characters. */
const PASSWORD_BYTES = 15

export type FirstAdmin = {
  username: string
  /** Set only when the hub generated it; it is shown this one time. */
  generatedPassword?: string
}

/** The id of an admin whose generated password nobody has seen yet, in the settings. */
const UNSHOWN = 'first-admin-unshown'

/**
 * Creates an admin when there is no user, with the configured or a generated password. Where an earlier start ended
 * before it showed the password, the admin gets another, and this start shows it.
 */
export async function ensureFirstAdmin(
  db: Db,
  passwords: Passwords,
  wanted: { username?: string | undefined; email?: string | undefined; password?: string | undefined },
): Promise<FirstAdmin | undefined> {
  const password = wanted.password ?? randomBytes(PASSWORD_BYTES).toString('base64url')
  if (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) {
    const username = await nameOfUnshown(db)
    if (username === undefined) return undefined
    await resetPassword(db, passwords, username, password)
    if (wanted.password !== undefined) await firstAdminShown(db)
    return wanted.password === undefined ? { username, generatedPassword: password } : { username }
  }
  const username = wanted.username ?? DEFAULT_USERNAME
  const passwordHash = await passwords.hash(password)
  await inTransaction(db, async (transaction) => {
    const now = Date.now()
    const role = 'admin'
    const user = { username, role, email: wanted.email ?? '' } as const
    const { id } = await insertUser(transaction, user, passwordHash, now)
    await record(transaction, { kind: 'user.created', at: now, actor: HUB, target: id, data: { username, role } })
    if (wanted.password === undefined)
      await transaction.insertInto('settings').values({ name: UNSHOWN, value: id }).execute()
  })
  return wanted.password === undefined ? { username, generatedPassword: password } : { username }
}

/** Stores the address that a person gave at the first start. */
export async function addressFirstAdmin(db: Db, { username }: FirstAdmin, email: string): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const changed = await transaction
      .updateTable('users')
      .set({ email })
      .where('username', '=', username)
      .where('email', '=', '')
      .returning('id')
      .execute()
    const about = { at: Date.now(), actor: HUB, data: { username, changes: [] } }
    for (const { id } of changed) await record(transaction, { ...about, kind: 'user.updated', target: id })
  })
}

/** Undefined when there is none, or when somebody has signed in with the password. */
async function nameOfUnshown(db: Db): Promise<string | undefined> {
  const found = await db
    .selectFrom('settings')
    .innerJoin('users', 'users.id', 'settings.value')
    .leftJoin('sessions', 'sessions.user_id', 'users.id')
    .select('username')
    .where('name', '=', UNSHOWN)
    .where('sessions.id', 'is', null)
    .executeTakeFirst()
  return found?.username
}

/** A person has seen the generated password. */
export async function firstAdminShown(db: Db): Promise<void> {
  await db.deleteFrom('settings').where('name', '=', UNSHOWN).execute()
}
