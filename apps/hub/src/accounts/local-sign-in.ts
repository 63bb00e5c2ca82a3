/** Passwords on a hub that accepts none: the command line allows one person for an hour, when no provider helps. */
import { inTransaction } from '../database/transaction.ts'
import type { Db } from '../database/tables.ts'
import { record, type Authorship } from '../facts/facts.ts'
import type { UserRow } from './accounts.ts'

const ALLOWED_MS = 3_600_000

export function mayUsePassword(user: Pick<UserRow, 'local_sign_in_until'> | undefined, now: number): boolean {
  const until = user?.local_sign_in_until ?? 0
  // With a clock that was set back it would last much too long.
  return until > now && until <= now + ALLOWED_MS
}

export async function allowPassword(db: Db, user: Pick<UserRow, 'id' | 'username'>, author: Authorship): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const until = author.at + ALLOWED_MS
    await transaction.updateTable('users').set({ local_sign_in_until: until }).where('id', '=', user.id).execute()
    const { username } = user
    await record(transaction, { kind: 'user.local-sign-in-allowed', ...author, target: user.id, data: { username } })
  })
}
