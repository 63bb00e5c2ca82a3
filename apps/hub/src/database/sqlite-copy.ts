import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ConfigError } from '../config.ts'

const KEPT_BEFORE_MIGRATIONS = 5
const BUSY_TIMEOUT_MS = 5_000

/** Copies a SQLite file beside it, into backups/, and drops all but the newest few that were made like this. */
export function copyBeforeMigrating(path: string, now: Date): void {
  const folder = join(dirname(path), 'backups')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const prefix = `${basename(path)}.before-migration-`
  // What a start that was killed meanwhile has left is no copy.
  for (const entry of readdirSync(folder))
    if (entry.startsWith(prefix) && entry.endsWith('.unfinished')) rmSync(join(folder, entry))
  const name = `${prefix}${now.toISOString().replaceAll(/[:.]/g, '-')}`
  copySqlite(path, join(folder, `${name}.unfinished`))
  chmodSync(join(folder, `${name}.unfinished`), 0o600)
  renameSync(join(folder, `${name}.unfinished`), join(folder, name))
  const kept = readdirSync(folder).filter((entry) => entry.startsWith(prefix))
  for (const old of kept.toSorted().slice(0, -KEPT_BEFORE_MIGRATIONS)) rmSync(join(folder, old))
}

/** A consistent copy, also while others write. `to` is empty or not there. */
export function copySqlite(from: string, to: string): void {
  if (!existsSync(from)) throw new ConfigError([`There is no database at ${from} (HUB_DATA_DIR, HUB_DATABASE_URL).`])
  const database = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.prepare('vacuum into ?').run(to)
  } finally {
    database.close()
  }
}
