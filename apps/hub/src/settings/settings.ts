/**
 * The hub's settings: the contract's defaults, overlaid with saved rows, one JSON value each. A row that this version
 * does not accept counts as unset and does not stop the hub. Every user reads them anew, so a change takes effect at
 * once; within a transaction from the database, else from memory once the hub keeps them. save.ts changes them.
 */
import { hubSettings, type HubSettings } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { dropAfter } from '../facts/facts.ts'

const NAMES = Object.keys(hubSettings.shape)

/** Of each database, those that its hub keeps; a transaction is another object, so it never reads these. */
const keptOf = new WeakMap<Db, { settings: Promise<HubSettings> | undefined }>()

/**
 * Keeps this database's settings in memory until they change. Only the process that locks the database may do this, and
 * before it adds followers that read the settings.
 */
export function keepSettings(db: Kysely<Tables>): void {
  const kept: { settings: Promise<HubSettings> | undefined } = { settings: undefined }
  keptOf.set(db, kept)
  dropAfter(db, 'settings', ['settings.changed', 'settings.restored'], () => {
    kept.settings = undefined
  })
}

export function readSettings(db: Db): Promise<HubSettings> {
  const kept = keptOf.get(db)
  if (!kept) return readRows(db)
  if (kept.settings) return kept.settings
  const reading = readRows(db).then((settings): HubSettings => Object.freeze(settings))
  kept.settings = reading
  reading.catch(() => {
    if (kept.settings === reading) kept.settings = undefined
  })
  return reading
}

async function readRows(db: Db): Promise<HubSettings> {
  const rows = await db.selectFrom('settings').selectAll().where('name', 'in', NAMES).execute()
  const saved = Object.fromEntries(rows.map((row) => [row.name, parseJson(row.value)]))
  const parsed = hubSettings.safeParse(saved)
  if (parsed.success) return parsed.data
  for (const { path } of parsed.error.issues) delete saved[String(path[0])]
  return hubSettings.parse(saved)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
