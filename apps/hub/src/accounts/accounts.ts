/**
 * Users: who may sign in, under which name and role. Usernames are compared case-folded and in NFKC, passwords are
 * kept as argon2id hashes only. Refuses a taken username. Called by sign-in, by the first start and by tests.
 */
import { randomUUID } from 'node:crypto'
import type { Role, SessionUser } from '@hedgerow/contract'
import type { Selectable } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import type { Passwords } from './passwords.ts'

export type UserRow = Selectable<Tables['users']>

export type NewUser = {
  username: string
  password: string
  role: Role
  email?: string
  firstName?: string
  lastName?: string
}

/** The form in which a username must be unique, so that look-alikes of case and width are one name. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase()
}

export async function createUser(db: Db, passwords: Passwords, user: NewUser): Promise<UserRow> {
  const row: UserRow = {
    id: randomUUID(),
    username: user.username,
    username_key: usernameKey(user.username),
    email: user.email ?? '',
    first_name: user.firstName ?? '',
    last_name: user.lastName ?? '',
    role: user.role,
    active: 1,
    password_hash: await passwords.hash(user.password),
    last_login_at: null,
    created_at: Date.now(),
  }
  await db.insertInto('users').values(row).execute()
  return row
}

/** What a person may know of themselves. */
export function toSessionUser(row: UserRow): SessionUser {
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role,
    mustSetUpTwoFactor: false,
  }
}
