/**
 * The hub's settings: the contract's defaults, overlaid with saved rows, one JSON value each. A row that this version
 * does not accept counts as unset and does not stop the hub. Every user reads them anew, inside its own transaction, or
 * reads those that `keepSettings` keeps, so a change takes effect at once; save.ts changes them.
 */
import { hubSettings, type HubSettings } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { cachedRead } from '../facts/cached-read.ts'

const NAMES = Object.keys(hubSettings.shape)

export async function readSettings(db: Db): Promise<HubSettings> {
  const rows = await db.selectFrom('settings').selectAll().where('name', 'in', NAMES).execute()
  const saved = Object.fromEntries(rows.map((row) => [row.name, parseJson(row.value)]))
  const parsed = hubSettings.safeParse(saved)
  if (parsed.success) return parsed.data
  for (const { path } of parsed.error.issues) delete saved[String(path[0])]
  return hubSettings.parse(saved)
}

/** Reads one setting, which is faster than all of them. */
export async function readSetting<Name extends keyof HubSettings>(db: Db, name: Name): Promise<HubSettings[Name]> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  const schema = hubSettings.shape[name]
  const saved = schema.safeParse(row && parseJson(row.value))
  return (saved.success ? saved.data : schema.parse(undefined)) as HubSettings[Name]
}

/** The settings in memory, for code that needs them many times a second. They are read again after each change. */
export const keepSettings = (db: Kysely<Tables>) =>
  cachedRead(db, { name: 'settings', kinds: ['settings.changed', 'settings.restored'] }, async () =>
    Object.freeze(await readSettings(db)),
  )

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
