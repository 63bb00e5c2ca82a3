/** The filters of Threats that people save; each person has their own. */
import { randomBytes } from 'node:crypto'
import { SAVED_VIEWS_MAX, type SavedView } from '@hedgerow/contract'
import { base32 } from '@hedgerow/enrolment'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import type { Act } from '../facts/facts.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'

const ID_BYTES = 10

export function listSavedViews(db: Db, userId: string): Promise<SavedView[]> {
  return db
    .selectFrom('saved_views')
    .select(['id', 'name', 'filter'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(SAVED_VIEWS_MAX)
    .execute()
}

/** Replaces the view of the same name. Throws `too_many_saved_views`. */
export function saveView(
  db: Kysely<Tables>,
  { name, filter }: Pick<SavedView, 'name' | 'filter'>,
  { actor: { userId }, now }: Act,
): Promise<SavedView> {
  return inTransaction(db, async (transaction) => {
    const own = await listSavedViews(transaction, userId)
    const existing = own.find((view) => view.name === name)
    if (existing) {
      await transaction.updateTable('saved_views').set({ filter }).where('id', '=', existing.id).execute()
      return { ...existing, filter }
    }
    if (own.length >= SAVED_VIEWS_MAX) throw new HubError('too_many_saved_views')
    const view = { id: base32(randomBytes(ID_BYTES)).toLowerCase(), name, filter }
    await transaction
      .insertInto('saved_views')
      .values({ ...view, user_id: userId, created_at: now })
      .execute()
    return view
  })
}

export async function deleteSavedView(db: Db, userId: string, id: string): Promise<undefined> {
  await db.deleteFrom('saved_views').where('id', '=', id).where('user_id', '=', userId).execute()
}
