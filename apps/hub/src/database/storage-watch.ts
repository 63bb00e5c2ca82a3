/**
 * Watches the disk that the hub writes to. A reserve of free space is for people's calls: below it, the hub refuses
 * data of gateways. When another program fills the disk anyway, the hub deletes a file that it keeps for this case, so
 * that people can still sign in and fix it. Pages that deleted rows left in a SQLite file count as space, because new
 * rows are stored there. The disk of a PostgreSQL server is invisible: there its refused writes count, and a probe
 * repeats until a row is accepted.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import { HubError } from '../kernel/hub-error.ts'
import { createTasks } from '../kernel/tasks.ts'
import { engineOf } from './engine.ts'
import { freePages, giveBack } from './free-pages.ts'
import type { WriteRefusal } from './storage-errors.ts'
import type { Tables } from './tables.ts'
import { takesLargeRow, troubleOf, troubleOfDatabase, troubleOfFolder, type StorageTrouble } from './write-probe.ts'

const LOOK_INTERVAL_MS = 2_000
/** How old a check may be before the hub stores a gateway's data: the disk fills fast. */
const FRESH_MS = 200
const RETRY_AFTER_MS = 60_000
const MIB = 1024 * 1024
const RESERVE_MAX_BYTES = 256 * MIB
const RESERVE_SHARE = 0.1
const FILE_MAX_BYTES = 32 * MIB
const FILE_NAME = 'reserve-for-people'
/** Every caller of `/readyz` in this time gets the result of one probe: a flood of them must not wear out a card. */
const PROBE_FRESH_MS = 5_000
/** The same while writes are refused, so that a hub that can write again is soon ready. */
const REFUSED_FRESH_MS = 1_000
/** How often the hub probes by itself. */
const PROBE_INTERVAL_MS = 60_000
/** A disk that does not answer makes the hub unready too. */
const PROBE_PATIENCE_MS = 5_000
const NO_PAGES = { bytes: 0, mayGiveBack: false }
/** The reserve counts as refilled above this multiple, so that the state does not flap. */
const REFILLED = 1.1
/** A trouble that comes back sooner than this is still the same one: people are not told again. */
const OVER_AFTER_MS = 10 * 60_000

export type StorageWatch = {
  /** Undefined when there is none. */
  trouble(): StorageTrouble | undefined
  /** False before the first look too. */
  hasRoom(): boolean
  /** Rejects with `storage_low`: for data that may wait, such as a gateway's. */
  requireRoom(): Promise<void>
  /** Rejects when the hub cannot write, with the reason for a person: `storage_low` or `storage_unavailable`. */
  checkStorage(): Promise<void>
  /** Call it when the database refused to write. */
  onWriteRefused(refusal: WriteRefusal): void
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
  const engine = engineOf(databaseUrl)
  const isSqlite = engine === 'sqlite'
  const folder = folderOf(databaseUrl, dataDir)
  const file = join(folder, FILE_NAME)
  /** The database refuses to write, until a probe is accepted. */
  let refusal: StorageTrouble | undefined
  let low: StorageTrouble | undefined
  let ofFolder: StorageTrouble | undefined
  /** The troubles that people were told of. */
  const reportedStates = new Set<StorageTrouble['state']>()
  let roomSince: number | undefined
  /** The troubles that were logged; empty once there is none. */
  const logged = new Set<StorageTrouble['state']>()
  let hasLooked = false
  let lookedAtMs = -Infinity
  let isProbing = false
  let probedAtMs = -Infinity
  let writing: Promise<void> = Promise.resolve()
  /** As `writing`; it rejects when the disk does not answer. */
  let probed = writing
  /** Whether the last probe failed. */
  let isRefused = false
  const tasks = createTasks({ log, name: 'storage-watch', on: 'each hub', failure: 'could not check the hub’s disk' })

  /** With any of these the hub refuses data of gateways. */
  const ofRoom = () => refusal ?? low
  const trouble = () => ofRoom() ?? ofFolder

  async function look(): Promise<void> {
    lookedAtMs = performance.now()
    const { bsize, blocks, bavail } = await statfs(folder)
    const size = bsize * blocks
    const free = bsize * bavail
    const reserve = Math.min(reserveBytes ?? RESERVE_MAX_BYTES, size * RESERVE_SHARE)
    const fileBytes = Math.min(FILE_MAX_BYTES, Math.floor(reserve / 2))
    const before = trouble()
    if (refusal) {
      // Told before the probe: once the probe's row fits, the trouble is over and nobody would learn of it.
      await announce(refusal)
      if (await takesLargeRow(db)) refusal = undefined
    }
    // A read-only disk keeps it.
    if (refusal || free < fileBytes / 2) await rm(file, { force: true }).catch(() => undefined)
    const wanted = reserve * (before ? REFILLED : 1)
    const reusable = isSqlite && !refusal && free < wanted ? await freePages(db) : NO_PAGES
    // Also a write into free pages needs some disk, for the write-ahead log.
    const room = free < fileBytes / 2 ? free : free + reusable.bytes
    if (room >= wanted) low = undefined
    else {
      if (!low && isSqlite && !refusal) await sql`pragma wal_checkpoint(truncate)`.execute(db)
      low = { state: 'low', message: `${inWords(free, reusable.bytes, size)} on the hub's disk: make room.` }
    }
    if (reusable.mayGiveBack && reusable.bytes > 0 && free >= fileBytes / 2) await giveBack(db)
    hasLooked = true
    await report()
    // The probe says why the disk refuses a file.
    if (!trouble() && isSqlite && free > wanted + 2 * fileBytes)
      await keepFile(file, fileBytes).catch(() => void probe(REFUSED_FRESH_MS).catch(() => undefined))
  }

  async function report(): Promise<void> {
    const now = trouble()
    if (!now) {
      if (logged.size > 0) log.info('the hub can write to its disk again: gateways are accepted')
      logged.clear()
      roomSince ??= clock()
      return
    }
    if (!logged.has(now.state))
      log.error(
        { state: now.state },
        now.state === 'folder' ? now.message : `${now.message} The hub refuses data of gateways until that is over.`,
      )
    logged.add(now.state)
    await announce(now)
  }

  /** The full disk may refuse this too: the next look tries again. */
  async function announce(now: StorageTrouble): Promise<void> {
    if (roomSince !== undefined && Math.abs(clock() - roomSince) >= OVER_AFTER_MS) reportedStates.clear()
    roomSince = undefined
    if (reportedStates.has(now.state) || reportedStates.has('full')) return
    await onTrouble(now).then(
      () => reportedStates.add(now.state),
      () => undefined,
    )
  }

  async function tryWrites(): Promise<void> {
    const folders = await Promise.all(
      [...new Set([folder, dataDir])].map((one) => troubleOfFolder(one, isSqlite && one === folder)),
    )
    ofFolder = folders.find((found) => found !== undefined)
    const refused = await troubleOfDatabase(db, engine)
    // The folder's reason is more exact; the folder of a PostgreSQL is elsewhere.
    if (refused) refusal = { ...refused, message: (isSqlite ? folders[0]?.message : undefined) ?? refused.message }
  }

  /** The result of one probe for all who ask meanwhile and soon after. Rejects when the database is away. */
  function probe(maxAgeMs = PROBE_FRESH_MS): Promise<void> {
    const oldestMs = isRefused ? REFUSED_FRESH_MS : maxAgeMs
    if (isProbing || performance.now() - probedAtMs < oldestMs) return probed
    isProbing = true
    probedAtMs = performance.now()
    writing = tryWrites().finally(() => {
      isProbing = false
    })
    probed = Promise.race([writing, noAnswer()])
    probed.then(
      () => (isRefused = trouble() !== undefined),
      () => (isRefused = true),
    )
    return probed
  }

  async function lookAndProbe(): Promise<void> {
    // Not awaited: a disk that does not answer must not stop the looks.
    probe(PROBE_INTERVAL_MS).catch((err: unknown) => log.warn({ err }, 'could not write to the hub’s disk as a test'))
    await look()
  }

  return {
    trouble,
    hasRoom: () => hasLooked && trouble() === undefined,
    async requireRoom() {
      if (performance.now() - lookedAtMs > FRESH_MS) await tasks.run(look)
      if (ofRoom()) throw new HubError('storage_low', { retryAfterMs: RETRY_AFTER_MS })
    },
    async checkStorage() {
      await probe()
      const now = trouble()
      if (!now) return
      const { state, message } = now
      throw new HubError(state === 'low' || state === 'full' ? 'storage_low' : 'storage_unavailable', { message })
    },
    onWriteRefused(why) {
      if (refusal) return
      refusal = troubleOf(why, engine)
      void tasks.run(look)
    },
    async start() {
      // Beside a PostgreSQL nothing else makes it this early.
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined)
      await probe()
      await tasks.run(look)
      tasks.every(LOOK_INTERVAL_MS, lookAndProbe)
    },
    look: () => tasks.run(look),
    async stop() {
      await tasks.stop()
      await writing.catch(() => undefined)
    },
  }
}

async function noAnswer(): Promise<never> {
  await after(PROBE_PATIENCE_MS, undefined, { ref: false })
  throw new HubError('storage_unavailable', { message: "The hub's disk does not answer." })
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

function inWords(free: number, reusable: number, size: number): string {
  const inDatabase = reusable >= 1_000_000 ? `, and ${words(reusable)} in its database,` : ''
  return `${words(free)} of ${words(size)}${inDatabase} are free`
}

function words(bytes: number): string {
  const megabytes = bytes / 1_000_000
  return megabytes < 1_000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1_000).toFixed(1)} GB`
}
