/**
 * The hub's settings: the contract's defaults, overlaid with saved rows, one JSON value each. A row that this version
 * does not accept counts as unset and does not stop the hub. Every user reads them anew, inside its own transaction, so
 * a change takes effect at once; save.ts changes them.
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
