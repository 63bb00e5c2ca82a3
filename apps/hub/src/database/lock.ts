/**
 * One hub for each database: two would fight over the gateways' tunnels and each other's memory. The lock ends with its
 * process, however that ends. Taken by hub/storage.ts before the database is opened, and by `hub restore`.
 */
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { ConfigError } from '../config.ts'
import { makePrivateFolder } from './private-files.ts'
import { storageError } from './storage-errors.ts'

export type DatabaseLock = { release(): Promise<void> }
export type LockOptions = { onTakenOver?: (() => void) | undefined; patienceMs?: number }

/** How long to wait for a hub that is just ending, or whose end the server has not noticed yet. */
const PATIENCE_MS = 2_000
const RETRY_INTERVAL_MS = 250
/** Any constant works, but every hub must use the same. */
const POSTGRES_LOCK = 4_831_208
const SQLITE_BUSY = 5

/**
 * Throws a `ConfigError` when another process holds the lock for longer than `patienceMs`. `onTakenOver` is called when
 * PostgreSQL lost this hub's connection and another hub has taken the lock.
 */
export async function lockDatabase(url: string, options: LockOptions = {}): Promise<DatabaseLock> {
  const { onTakenOver = () => {}, patienceMs = PATIENCE_MS } = options
  return url.startsWith('sqlite:')
    ? lockFile(url.slice('sqlite:'.length), patienceMs)
    : lockPostgres(url, patienceMs, onTakenOver)
}

/** Locks an empty SQLite file beside the database: SQLite uses the operating system's locks on every platform. */
function lockFile(path: string, patienceMs: number): DatabaseLock {
  makePrivateFolder(dirname(path))
  const file = new DatabaseSync(`${path}.lock`, { timeout: patienceMs })
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new ConfigError([`Another hub is running on ${path}. Stop it, or set HUB_DATA_DIR to another folder.`])
  }
  return { release: async () => file.close() }
}

async function lockPostgres(url: string, patienceMs: number, onTakenOver: () => void): Promise<DatabaseLock> {
  const released = new AbortController()
  let holder: Client | undefined = await acquire()
  if (!holder)
    throw new ConfigError(['Another hub is running on this database (HUB_DATABASE_URL). Stop it, or name another.'])

  /** Undefined when another process holds the lock. */
  async function acquire(): Promise<Client | undefined> {
    const { Client } = await import('pg')
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true })
    client.on('error', () => {})
    try {
      await client.connect()
      for (const startedAt = performance.now(); ; await sleep(RETRY_INTERVAL_MS)) {
        const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
          POSTGRES_LOCK,
        ])
        if (rows[0]?.locked) break
        if (performance.now() - startedAt > patienceMs) {
          await client.end()
          return undefined
        }
      }
    } catch (error) {
      await client.end().catch(() => {})
      throw storageError(error)
    }
    client.once('end', () => void acquireAgain())
    return client
  }

  async function acquireAgain(): Promise<void> {
    for (; !released.signal.aborted; await sleep(RETRY_INTERVAL_MS, undefined, { ref: false })) {
      try {
        holder = await acquire()
      } catch {
        continue
      }
      if (released.signal.aborted) await holder?.end()
      else if (!holder) onTakenOver()
      return
    }
  }

  return {
    async release() {
      released.abort()
      await holder?.end().catch(() => {})
    },
  }
}
