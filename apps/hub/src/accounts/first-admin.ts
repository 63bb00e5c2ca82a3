import { randomBytes } from 'node:crypto'
import type { Db } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HUB, record } from '../facts/facts.ts'
import { insertUser } from './accounts.ts'
import type { Passwords } from './passwords.ts'

const DEFAULT_USERNAME = 'admin'
/** 120 bits, which base64url writes as 20 characters. */
const PASSWORD_BYTES = 15

export type FirstAdmin = {
  username: string
  /** Set only when the hub generated it; it is shown this one time. */
  generatedPassword?: string
}

/** Creates an admin when there is no user, with the configured or a generated password. */
export async function ensureFirstAdmin(
  db: Db,
  passwords: Passwords,
  wanted: { username?: string | undefined; email?: string | undefined; password?: string | undefined },
): Promise<FirstAdmin | undefined> {
  if (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) return undefined
  const username = wanted.username ?? DEFAULT_USERNAME
  const password = wanted.password ?? randomBytes(PASSWORD_BYTES).toString('base64url')
  const passwordHash = await passwords.hash(password)
  await inTransaction(db, async (transaction) => {
    const now = Date.now()
    const role = 'admin'
    const user = { username, role, email: wanted.email ?? '' } as const
    const { id } = await insertUser(transaction, user, passwordHash, now)
    await record(transaction, { kind: 'user.created', at: now, actor: HUB, target: id, data: { username, role } })
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

/** Undoes `ensureFirstAdmin` of a start that failed, so that the next one shows a password that nobody has missed. */
export async function removeFirstAdmin(db: Db, { username }: FirstAdmin): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const found = await transaction.deleteFrom('users').where('username', '=', username).returning('id').execute()
    for (const { id } of found)
      await record(transaction, { kind: 'user.deleted', at: Date.now(), actor: HUB, target: id, data: { username } })
  })
}
