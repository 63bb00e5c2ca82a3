import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Puts the SQLite database `copy`, which nobody has open, in the place of `target`, and gives the name under which the
 * one that was there is kept, sound or damaged. At every moment there is a whole database under `target`, so that a
 * kill in the middle never lets the next start make a new one.
 */
export function replaceSqlite(target: string, copy: string): string | undefined {
  const replaced = existsSync(target)
    ? `${target}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    : undefined
  if (replaced !== undefined) {
    foldLogIn(target)
    keep(target, replaced)
    if (existsSync(`${target}-wal`)) keep(`${target}-wal`, `${replaced}-wal`)
  }
  sync(copy)
  // They would be taken for those of the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(target + suffix, { force: true })
  renameSync(copy, target)
  sync(dirname(target))
  return replaced
}

/** What still stands in its write-ahead log belongs to it. A damaged one keeps its log beside it as it is. */
function foldLogIn(path: string): void {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    database.exec('pragma wal_checkpoint(truncate)')
  } catch {
    return
  } finally {
    database?.close()
  }
}

/** Under a second name, so that it never lacks its first; copied where the file system has no links. */
function keep(path: string, name: string): void {
  try {
    linkSync(path, name)
  } catch {
    copyFileSync(path, name)
    sync(name)
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
