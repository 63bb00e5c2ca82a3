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
/** The times are arguments for tests. */
export type LockOptions = {
  onTakenOver?: (() => void) | undefined
  patienceMs?: number
  heartbeatMs?: number
  silenceMs?: number
}

/** A hub that runs has the database. */
export class DatabaseInUse extends ConfigError {}

/** How long to wait for a hub that is just ending, or whose end the server has not noticed yet. */
const PATIENCE_MS = 2_000
const RETRY_INTERVAL_MS = 250
/** Any constant works, but every hub must use the same. */
const POSTGRES_LOCK = 4_831_208
const SQLITE_BUSY = 5
/** How often the holder says that it lives, and after how long without a word PostgreSQL gives the lock away. */
const HEARTBEAT_MS = 10_000
const SILENCE_MS = 40_000
const POOLED =
  'HUB_DATABASE_URL leads to a connection pooler that hands out a connection for each transaction, where a ' +
  'second hub would not be noticed. Use pool_mode=session (PgBouncer), or the address of PostgreSQL itself.'

/**
 * Throws a `ConfigError` when another process holds the lock for longer than `patienceMs`. `onTakenOver` is called when
 * PostgreSQL lost this hub's connection and another hub has taken the lock.
 */
export async function lockDatabase(url: string, options: LockOptions = {}): Promise<DatabaseLock> {
  const { onTakenOver = () => {}, patienceMs = PATIENCE_MS } = options
  const { heartbeatMs = HEARTBEAT_MS, silenceMs = SILENCE_MS } = options
  return url.startsWith('sqlite:')
    ? lockFile(url.slice('sqlite:'.length), patienceMs)
    : lockPostgres(url, { patienceMs, heartbeatMs, silenceMs }, onTakenOver)
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
    throw new DatabaseInUse([
      `Another hub is running on ${path}. Stop it, or set HUB_DATA_DIR or HUB_DATABASE_URL to another place.`,
    ])
  }
  return { release: async () => file.close() }
}

/** Every attempt, also after this hub lost its lock. Each has a connection of its own. */
async function lockPostgres(url: string, options: Required<Omit<LockOptions, 'onTakenOver'>>, onTakenOver: () => void) {
  const { patienceMs, heartbeatMs, silenceMs } = options
  const { connectPostgres } = await import('./postgres-endpoints.ts')
  const released = new AbortController()
  let holder: Client | undefined = await acquire()
  if (!holder)
    throw new DatabaseInUse(['Another hub is running on this database (HUB_DATABASE_URL). Stop it, or name another.'])

  /** Undefined when another process holds the lock. */
  async function acquire(): Promise<Client | undefined> {
    const client = await connectPostgres(url, { query_timeout: silenceMs })
    try {
      await refusePooling(client)
      await endWithMachine(client, silenceMs)
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
    void beat(client)
    return client
  }

  /** Ends the connection, and with it the lock, once it does not answer in time or does not hold the lock. */
  async function beat(client: Client): Promise<void> {
    const ended = new AbortController()
    client.once('end', () => ended.abort())
    try {
      for (;;) {
        await sleep(heartbeatMs, undefined, { ref: false, signal: ended.signal })
        await requireLock(client)
      }
    } catch {
      await client.end().catch(() => {})
    }
  }

  /**
   * A pooler hands out the connection that was used last, or the one that was used longest ago. The first gives both
   * clients the same, and the second gives one client two, unless there is only one. Where others use the pool at this
   * moment, the heartbeat may have to notice it.
   */
  async function refusePooling(client: Client): Promise<void> {
    const other = await connectPostgres(url)
    try {
      const first = await processOf(client)
      const second = await processOf(client)
      if (first !== second || (await processOf(other)) === second) throw new ConfigError([POOLED])
    } finally {
      await other.end()
    }
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

async function processOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ process: number }>('select pg_backend_pid() as process')
  return rows[0]!.process
}

/** Makes the server end this session soon after the hub's machine has vanished; it would wait for two hours. */
async function endWithMachine(client: Client, silenceMs: number): Promise<void> {
  const seconds = Math.max(1, Math.round(silenceMs / 1_000 / 4))
  await client.query(`
    set tcp_keepalives_idle = ${seconds}; set tcp_keepalives_interval = ${seconds}; set tcp_keepalives_count = 3`)
  // Also where a proxy that has not vanished is in between. They came with PostgreSQL 12 and 14.
  for (const setting of ['tcp_user_timeout', 'idle_session_timeout'])
    await client.query('select set_config($1, $2, false) from pg_settings where name = $1', [setting, `${silenceMs}ms`])
}

/** Rejects when the session does not hold the lock: the way to the server changed under this connection. */
async function requireLock(client: Client): Promise<void> {
  const { rows } = await client.query(
    "select 1 from pg_locks where locktype = 'advisory' and objid = $1 and pid = pg_backend_pid() and granted",
    [POSTGRES_LOCK],
  )
  if (rows.length === 0) throw new Error('the lock is lost')
}
