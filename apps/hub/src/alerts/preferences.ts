import type { AlertPreferences, Language } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { readSetting } from '../settings/settings.ts'
import { hubTimeZone, type Reader } from './seen.ts'

/** What a person has not chosen is the hub's language and clock. */
export async function readPreferences(db: Db, userId: string): Promise<AlertPreferences> {
  return { ...(await sharedReader(db)), quietHours: null, ...(await readChosen(db, userId)) }
}

async function readChosen(db: Db, userId: string): Promise<Partial<AlertPreferences>> {
  const row = await db
    .selectFrom('alert_preferences')
    .select('preferences')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row ? (JSON.parse(row.preferences) as Partial<AlertPreferences>) : {}
}

/** Everybody who reads a shared channel; `language` is that of a rule that has one. */
export async function sharedReader(db: Db, language: Language | null = null): Promise<Reader> {
  return { language: language ?? (await readSetting(db, 'language')), timeZone: hubTimeZone() }
}

/** The language of a person's messages; the hub's for an id of something else. */
export async function languageOf(db: Db, userId: string): Promise<Language> {
  return (await readPreferences(db, userId)).language
}

/** Throws `changed_meanwhile`. */
export function savePreferences(
  db: Kysely<Tables>,
  change: Change<AlertPreferences>,
  act: Act,
): Promise<AlertPreferences> {
  const { userId } = act.actor
  return inTransaction(db, async (transaction) => {
    const after = edited(await readPreferences(transaction, userId), change)
    const { seen: _seen, ...chosen } = change
    const values = { preferences: JSON.stringify({ ...(await readChosen(transaction, userId)), ...chosen }) }
    await transaction
      .insertInto('alert_preferences')
      .values({ user_id: userId, ...values })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
      .execute()
    await record(transaction, { kind: 'profile.updated', ...by(act), data: {} })
    return after
  })
}
