import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Logger } from 'pino'

export const BUSY_TIMEOUT_MS = 5_000

/**
 * Opens a SQLite file of the data directory and makes its tables; no other user can read it. A damaged file is renamed
 * to `PATH.damaged`, and an empty one takes its place.
 */
export function openSqliteFile(path: string, tables: string, log: Logger): DatabaseSync {
  try {
    return openTables(path, tables)
  } catch (error) {
    if (!isDamaged(error)) throw withCode(error, path)
    log.error({ err: error, file: path }, 'a file is damaged; set it aside and started a new one')
    for (const suffix of SUFFIXES.slice(1)) rmSync(`${path}${suffix}`, { force: true })
    renameSync(path, `${path}.damaged`)
    return openTables(path, tables)
  }
}

/** SQLite gives its other files, which have these suffixes, the mode of the first. */
const SUFFIXES = ['', '-wal', '-shm']

function closeToOthers(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  try {
    for (const suffix of SUFFIXES) if (existsSync(path + suffix)) chmodSync(path + suffix, 0o600)
  } catch {
    // File systems such as FAT have no rights to change.
  }
}

function openTables(path: string, tables: string): DatabaseSync {
  closeToOthers(path)
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec(tables)
    const check = database.prepare('pragma quick_check(1)').get()
    if (check?.['quick_check'] !== 'ok') throw new DamagedError(String(check?.['quick_check']))
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

class DamagedError extends Error {
  override name = 'DamagedError'
}

/** SQLITE_ERROR comes from tables of another layout, SQLITE_CORRUPT and SQLITE_NOTADB from damage. */
function isDamaged(error: unknown): boolean {
  if (error instanceof DamagedError) return true
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return code === 1 || code === 11 || code === 26
}

/** SQLite's result codes FULL, IOERR and READONLY as the system's: a start explains them as those of any file. */
const CODES: Record<number, string> = { 13: 'ENOSPC', 10: 'EIO', 8: 'EROFS' }

function withCode(error: unknown, path: string): unknown {
  const { errcode } = error as { errcode?: number }
  const code = errcode === undefined ? undefined : CODES[errcode & 0xff]
  return code === undefined ? error : Object.assign(new Error(`${path}: ${code}`, { cause: error }), { code, path })
}

/** Runs `action` in a transaction. */
export function transact(database: DatabaseSync, action: () => void): void {
  database.exec('begin immediate')
  try {
    action()
    database.exec('commit')
  } catch (error) {
    database.exec('rollback')
    throw error
  }
}

export function usedBytes(database: DatabaseSync): number {
  const pragma = (name: string) => Number(database.prepare(`pragma ${name}`).get()?.[name])
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
}
