import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const MIGRATION_BACKUPS_KEPT = 5

/**
 * Makes `write` copy the database called `name` into `folder`, under a name with the time, and deletes all but the
 * newest few of these copies. A copy gets its name only when it is complete.
 */
export async function keepMigrationBackup(
  { folder, name, now }: { folder: string; name: string; now: Date },
  write: (file: string) => void | Promise<void>,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const prefix = `${name}.before-migration-`
  // Half-written files of a killed start are not backups.
  for (const entry of readdirSync(folder))
    if (entry.startsWith(prefix) && entry.includes('.unfinished')) rmSync(join(folder, entry))
  const file = join(folder, `${prefix}${now.toISOString().replaceAll(/[:.]/g, '-')}`)
  await write(`${file}.unfinished`)
  chmodSync(`${file}.unfinished`, 0o600)
  renameSync(`${file}.unfinished`, file)
  const copies = readdirSync(folder).filter((entry) => entry.startsWith(prefix))
  for (const old of copies.toSorted().slice(0, -MIGRATION_BACKUPS_KEPT)) rmSync(join(folder, old))
}
