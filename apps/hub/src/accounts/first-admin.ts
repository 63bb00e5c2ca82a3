import { randomBytes } from 'node:crypto'
import { writeAudit } from '../audit/audit.ts'
import type { Db } from '../database/tables.ts'
import { createUser } from './accounts.ts'
import type { Passwords } from './passwords.ts'

const DEFAULT_USERNAME = 'admin'
/** 120 bits, which base64url writes as 20 characters. */
const PASSWORD_BYTES = 15

export type FirstAdmin = {
  username: string
  /** Only when it was made here: this is the one time that it is known. */
  generatedPassword?: string
}

/** Creates an admin when there is no user at all, with what the configuration names or a generated password. */
export async function ensureFirstAdmin(
  db: Db,
  passwords: Passwords,
  wanted: { username?: string | undefined; password?: string | undefined },
): Promise<FirstAdmin | undefined> {
  if (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) return undefined
  const username = wanted.username ?? DEFAULT_USERNAME
  const password = wanted.password ?? randomBytes(PASSWORD_BYTES).toString('base64url')
  const user = await createUser(db, passwords, { username, password, role: 'admin' })
  await writeAudit(db, { actor: 'hub', action: 'user.create', target: user.id, result: 'ok' })
  return wanted.password === undefined ? { username, generatedPassword: password } : { username }
}
