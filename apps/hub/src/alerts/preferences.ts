import { alertPreferences, type AlertPreferences, type FactActor, type Language } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import { readSetting } from '../settings/settings.ts'
import { hubTimeZone, type Reader } from './seen.ts'

const DEFAULTS = alertPreferences.parse({})

/** A person who has saved none has the hub's language and clock. */
export async function readPreferences(db: Db, userId: string): Promise<AlertPreferences> {
  const row = await db
    .selectFrom('alert_preferences')
    .select('preferences')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row
    ? { ...DEFAULTS, ...(JSON.parse(row.preferences) as AlertPreferences) }
    : { ...DEFAULTS, ...(await sharedReader(db)) }
}

/** Everybody who reads a shared channel; `language` is that of a rule that has one. */
export async function sharedReader(db: Db, language: Language | null = null): Promise<Reader> {
  return { language: language ?? (await readSetting(db, 'language')), timeZone: hubTimeZone() }
}

/** The language of a person's messages; the hub's for an id of something else. */
export async function languageOf(db: Db, userId: string): Promise<Language> {
  return (await readPreferences(db, userId)).language
}

export function savePreferences(
  db: Kysely<Tables>,
  preferences: AlertPreferences,
  { userId, actor, now }: { userId: string; actor: FactActor; now: number },
): Promise<AlertPreferences> {
  return inTransaction(db, async (transaction) => {
    const values = { preferences: JSON.stringify(preferences) }
    await transaction
      .insertInto('alert_preferences')
      .values({ user_id: userId, ...values })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
      .execute()
    await record(transaction, { kind: 'profile.updated', at: now, actor, data: {} })
    return preferences
  })
}
