/**
 * The hub's settings: the defaults of the contract, overlaid with the rows that somebody saved, one JSON value a row.
 * A row that a newer or older hub would not accept counts as unset rather than stopping the hub. Everybody reads them
 * anew where they matter, inside their own transaction, so a change acts at once; save.ts changes them.
 */
import { hubSettings, type HubSettings } from '@hedgerow/contract'
import type { Db } from '../database/tables.ts'

const NAMES = Object.keys(hubSettings.shape)

export async function readSettings(db: Db): Promise<HubSettings> {
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
