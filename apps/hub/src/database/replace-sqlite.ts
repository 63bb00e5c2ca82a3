import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Replaces the SQLite database `target` by `copy`, which nobody has open, and returns the name under which the old one
 * is kept, intact or damaged. A whole database exists under `target` at every moment, so that after a kill the next
 * start never makes a new one.
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
  // SQLite would apply the old database's log to the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(target + suffix, { force: true })
  renameSync(copy, target)
  sync(dirname(target))
  return replaced
}

/** Writes the database's log back into it. A damaged database keeps its log beside it. */
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

/** Links a second name, so that the first always exists; copies where the file system has no links. */
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
