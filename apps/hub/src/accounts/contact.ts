import type { FactKind } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { cachedRead } from '../facts/cached-read.ts'

const STALE_AFTER = [
  'profile.updated',
  'user.registered',
  'user.created',
  'user.updated',
  'user.deleted',
] as const satisfies FactKind[]

/**
 * The address that visitors of the hub may write to: the configured one, or that of the first active administrator who
 * has one.
 */
export function createContact(db: Kysely<Tables>, configured: string | undefined): () => Promise<string | undefined> {
  const read = cachedRead(db, { name: 'contact', kinds: STALE_AFTER }, async () => {
    const admins = db.selectFrom('users').select('email').where('role', '=', 'admin').where('active', '=', 1)
    return (await admins.where('email', '!=', '').orderBy('created_at').orderBy('id').executeTakeFirst())?.email
  })
  return async () => configured ?? (await read())
}
