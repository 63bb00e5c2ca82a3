/**
 * Watches the disk that the hub writes to. A reserve of free space is for people's calls: below it, the hub refuses
 * data of gateways. When another program fills the disk anyway, the hub deletes a file that it keeps for this case, so
 * that people can still sign in and fix it. The disk of a PostgreSQL server is invisible: there its refused writes
 * count, and a probe repeats until a row is accepted.
 */
import { randomBytes } from 'node:crypto'
import { open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import { HubError } from '../kernel/hub-error.ts'
import { createTasks } from '../kernel/tasks.ts'
import { engineOf } from './engine.ts'
import type { Tables } from './tables.ts'

const LOOK_INTERVAL_MS = 2_000
/** How old a check may be before the hub stores a gateway's data: the disk fills fast. */
const FRESH_MS = 200
const RETRY_AFTER_MS = 60_000
const MIB = 1024 * 1024
const RESERVE_MAX_BYTES = 256 * MIB
const RESERVE_SHARE = 0.1
const FILE_MAX_BYTES = 32 * MIB
const FILE_NAME = 'reserve-for-people'
const PROBE_BYTES = 64 * 1024
/** The reserve counts as refilled above this multiple, so that the state does not flap. */
const REFILLED = 1.1
/** A trouble that comes back sooner than this is still the same one: people are not told again. */
const OVER_AFTER_MS = 10 * 60_000

export type StorageTrouble = { state: 'low' | 'full'; message: string }

export type StorageWatch = {
  /** Undefined when there is none. */
  trouble(): StorageTrouble | undefined
  /** False before the first look too. */
  hasRoom(): boolean
  /** Rejects with `storage_low`: for data that may wait, such as a gateway's. */
  requireRoom(): Promise<void>
  /** Throws `storage_low` with the reason for a person. */
  checkStorage(): void
  /** Call it when a write failed because the database is full. */
  onFull(): void
  start(): Promise<void>
  /** Checks now. */
  look(): Promise<void>
  stop(): Promise<void>
}

type Options = {
  db: Kysely<Tables>
  databaseUrl: string
  dataDir: string
  /** Bytes; default: a tenth of the disk, at most 256 MiB. */
  reserveBytes: number | undefined
  log: Logger
  /** Called once for each trouble, and when it gets worse; again until it resolves. */
  onTrouble: (trouble: StorageTrouble) => Promise<void>
  clock: () => number
}

/** Frees the reserve of a full disk before the hub opens its database there, which needs some room. */
export async function makeRoomToStart({
  databaseUrl,
  dataDir,
}: Pick<Options, 'databaseUrl' | 'dataDir'>): Promise<void> {
  const folder = folderOf(databaseUrl, dataDir)
  const file = join(folder, FILE_NAME)
  const found = await stat(file).catch(() => undefined)
  if (!found) return
  const { bsize, bavail } = await statfs(folder)
  if (bsize * bavail < found.size / 2) await rm(file)
}

/** The folder on the disk that fills. */
function folderOf(databaseUrl: string, dataDir: string): string {
  return engineOf(databaseUrl) === 'sqlite' ? dirname(databaseUrl.slice('sqlite:'.length)) : dataDir
}

export function createStorageWatch(options: Options): StorageWatch {
  const { db, databaseUrl, dataDir, reserveBytes, log, onTrouble, clock } = options
  const isSqlite = engineOf(databaseUrl) === 'sqlite'
  const folder = folderOf(databaseUrl, dataDir)
  const file = join(folder, FILE_NAME)
  let trouble: StorageTrouble | undefined
  let isRefused = false
  /** The troubles that people were told of. */
  const told = new Set<StorageTrouble['state']>()
  let roomSince: number | undefined
  /** The troubles that were logged; empty once there is room again. */
  const logged = new Set<StorageTrouble['state']>()
  let hasLooked = false
  let lookedAtMs = -Infinity
  const tasks = createTasks({ log, failure: 'could not check the hub’s disk' })

  async function look(): Promise<void> {
    lookedAtMs = performance.now()
    const { bsize, blocks, bavail } = await statfs(folder)
    const size = bsize * blocks
    const free = bsize * bavail
    const reserve = Math.min(reserveBytes ?? RESERVE_MAX_BYTES, size * RESERVE_SHARE)
    const fileBytes = Math.min(FILE_MAX_BYTES, Math.floor(reserve / 2))
    if (isRefused) {
      // Told before the probe: once the probe's row fits, the trouble is over and nobody would learn of it.
      await tell()
      if (await takesRows()) isRefused = false
    }
    if (isRefused || free < fileBytes / 2) await rm(file, { force: true })
    const wanted = reserve * (trouble ? REFILLED : 1)
    if (isRefused) trouble = { state: 'full', message: "The hub's database has no room: make some on its disk." }
    else if (free < wanted) {
      if (trouble?.state !== 'low' && isSqlite) await sql`pragma wal_checkpoint(truncate)`.execute(db)
      trouble = { state: 'low', message: `${words(free)} of ${words(size)} are free on the hub's disk: make room.` }
    } else {
      if (trouble) log.info('there is room on the hub’s disk again: gateways are accepted')
      trouble = undefined
      logged.clear()
      roomSince ??= clock()
      if (isSqlite && free > wanted + 2 * fileBytes) await keepFile(file, fileBytes)
    }
    hasLooked = true
    if (!trouble) return
    if (!logged.has(trouble.state))
      log.error({ state: trouble.state }, `${trouble.message} The hub refuses data of gateways until there is room.`)
    logged.add(trouble.state)
    await tell()
  }

  /** The full disk may refuse this too: the next look tries again. */
  async function tell(): Promise<void> {
    if (!trouble) return
    if (roomSince !== undefined && Math.abs(clock() - roomSince) >= OVER_AFTER_MS) told.clear()
    roomSince = undefined
    if (told.has(trouble.state) || told.has('full')) return
    const { state } = trouble
    await onTrouble(trouble).then(
      () => told.add(state),
      () => undefined,
    )
  }

  /** Writes and removes a row that needs new pages. */
  async function takesRows(): Promise<boolean> {
    try {
      // PostgreSQL compresses repetition, and a compressed row fits into a full database.
      const filler = randomBytes(PROBE_BYTES / 2).toString('hex')
      await db.deleteFrom('storage_probe').execute()
      await db.insertInto('storage_probe').values({ id: 1, filler }).execute()
      await db.deleteFrom('storage_probe').execute()
      return true
    } catch {
      return false
    }
  }

  return {
    trouble: () => trouble,
    hasRoom: () => hasLooked && trouble === undefined,
    async requireRoom() {
      if (performance.now() - lookedAtMs > FRESH_MS) await tasks.run(look)
      if (trouble) throw new HubError('storage_low', { retryAfterMs: RETRY_AFTER_MS })
    },
    checkStorage() {
      if (trouble) throw new HubError('storage_low', { message: trouble.message })
    },
    onFull() {
      if (isRefused) return
      isRefused = true
      trouble = { state: 'full', message: "The hub's database has no room: make some on its disk." }
      void tasks.run(look)
    },
    async start() {
      await tasks.run(look)
      tasks.every(LOOK_INTERVAL_MS, look)
    },
    look: () => tasks.run(look),
    stop: () => tasks.stop(),
  }
}

/** Random bytes, so that no file system compresses it. */
async function keepFile(path: string, bytes: number): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: -1 }))
  if (size === bytes) return
  const handle = await open(path, 'w', 0o600)
  try {
    for (let written = 0; written < bytes; written += MIB)
      await handle.write(randomBytes(Math.min(MIB, bytes - written)))
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function words(bytes: number): string {
  const megabytes = bytes / 1_000_000
  return megabytes < 1_000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1_000).toFixed(1)} GB`
}
