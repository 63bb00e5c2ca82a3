import { join } from 'node:path'
import type { Role } from '@hedgerow/contract'
import { createPasswords } from '../../apps/hub/src/accounts/passwords.ts'
import { createUser } from '../../apps/hub/src/accounts/accounts.ts'
import { openDatabase } from '../../apps/hub/src/database/database.ts'
import type { Db } from '../../apps/hub/src/database/tables.ts'
import type { Credentials, Hub } from './hub.ts'

/** Looks into a hub's SQLite file, beside the running hub or after its end, for what no call of the contract does. */
export async function withDatabase<T>(hub: Hub, work: (db: Db) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url: `sqlite:${join(hub.dataDir, 'hub.sqlite')}` })
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}

/** A person with this role, who can sign in at once. */
export async function addPerson(hub: Hub, person: { username: string; role: Role }): Promise<Credentials> {
  const credentials = { username: person.username, password: `the password of ${person.username}` }
  await withDatabase(hub, (db) => createUser(db, createPasswords(), { ...credentials, role: person.role }))
  return credentials
}

/** Changes a user behind the running hub's back: their sessions stay. */
export async function changeUser(hub: Hub, username: string, change: { active?: 0 | 1; role?: Role }): Promise<void> {
  await withDatabase(hub, (db) => db.updateTable('users').set(change).where('username', '=', username).execute())
}
