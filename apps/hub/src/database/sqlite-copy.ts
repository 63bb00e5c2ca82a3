import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { ConfigError } from '../config.ts'

const BUSY_TIMEOUT_MS = 5_000

/** A consistent copy, also while others write. `to` is empty or does not exist. */
export function copySqlite(from: string, to: string): void {
  if (!existsSync(from)) throw new ConfigError([`There is no database at ${from} (HUB_DATA_DIR, HUB_DATABASE_URL).`])
  const database = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.prepare('vacuum into ?').run(to)
  } finally {
    database.close()
  }
}
