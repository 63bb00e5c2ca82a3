/**
 * Backups on a schedule, HUB_BACKUP_DIR: made by a process of its own, kept by number, and reported while they fail.
 * Age and failure are on the dashboard, in metrics, alerts and `hub doctor`.
 */
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Db, Tables } from '../database/tables.ts'
import { HUB, record } from '../facts/facts.ts'
import { createTasks } from '../kernel/tasks.ts'
import { copyInProcess } from './copy.ts'
import { listKept, newFile, problemOfFolder, problemOfRoom, prune, settle, type BackupFile } from './kept.ts'
import { HOUR_MS, isDue, isOverdue, periodMs } from './schedule.ts'

const LOOK_INTERVAL_MS = 60_000
const FIRST_LOOK_MS = 10_000
/** After a copy that failed; a folder that is missing is looked for every minute. */
const RETRY_MS = HOUR_MS
const TOLD_EVERY_MS = 24 * HOUR_MS
const COPY_MAX_MS = 6 * HOUR_MS

export type Backups = {
  start(): void
  /** Makes a backup when one is due. */
  look(): Promise<void>
  /** Undefined when no schedule is set. */
  state(): BackupState | undefined
  stop(): Promise<void>
}

/** `ageMs` is undefined without a backup; `trouble` says what is wrong, in a sentence. */
export type BackupState = { ageMs: number | undefined; trouble: string | undefined }

type CopyConfig = Pick<Config, 'backups' | 'databaseUrl' | 'dataDir' | 'diskReserveBytes'>

export function createBackups(options: {
  db: Kysely<Tables>
  config: CopyConfig
  clock: () => number
  log: Logger
}): Backups {
  const { db, config, clock, log } = options
  const schedule = config.backups
  if (!schedule) return { start: () => {}, look: async () => {}, state: () => undefined, stop: async () => {} }
  const { dir, times, keep } = schedule
  const tasks = createTasks({ log, name: 'backups', on: 'one hub', failure: 'could not look after the backups' })
  const stopping = new AbortController()
  let newest: BackupFile | undefined
  let failure: string | undefined
  let reportedAt: number | undefined
  let failedCopyAtMs = -Infinity

  async function look(): Promise<void> {
    const unusable = await problemOfFolder(dir)
    if (!unusable) await settle(db, dir)
    ;[newest] = await listKept(db, dir, { lookFor: !unusable })
    if (!isDue(times, newest?.at, clock())) return void (failure = unusable)
    if (!unusable && performance.now() - failedCopyAtMs < RETRY_MS) return
    const problem = unusable ?? (await problemOfRoom(db, dir, config)) ?? (await copy())
    if (stopping.signal.aborted) return
    if (problem !== undefined) return fail(problem)
    ;[newest] = await listKept(db, dir, { lookFor: true })
    failure = reportedAt = undefined
    log.info({ file: newest?.file }, 'a backup was made')
    await record(db, { kind: 'backup.made', at: clock(), actor: HUB, data: {} })
    await prune(db, dir, keep)
  }

  /** Its record comes first: what a crash leaves is then known to be the hub's own. */
  async function copy(): Promise<string | undefined> {
    const file = newFile(dir, clock())
    await db.insertInto('backups').values({ file, begun_at: clock() }).execute()
    const problem = await copyInProcess(
      { url: config.databaseUrl, file },
      { signal: stopping.signal, timeoutMs: Math.min(periodMs(times), COPY_MAX_MS) },
    )
    await settle(db, dir)
    if (problem !== undefined) failedCopyAtMs = performance.now()
    return problem
  }

  /** At once and then every day. */
  async function fail(problem: string): Promise<void> {
    const now = clock()
    failure = problem
    if (reportedAt !== undefined && Math.abs(now - reportedAt) < TOLD_EVERY_MS) return
    log.error({ reason: problem }, 'the backup failed')
    await record(db, { kind: 'backup.failed', at: now, actor: HUB, data: { message: troubleOf(now)! } })
    reportedAt = now
  }

  function troubleOf(now: number): string | undefined {
    const age = newest && ageInWords(now - newest.at)
    if (failure !== undefined)
      return `The backup fails: ${failure}. ${age ? `The newest is ${age} old.` : 'There is none yet.'}`
    return newest && isOverdue(times, newest.at, now) ? `The newest backup is ${age} old.` : undefined
  }

  return {
    start() {
      tasks.soon(FIRST_LOOK_MS, look)
      tasks.every(LOOK_INTERVAL_MS, look)
    },
    look: () => tasks.run(look),
    state() {
      const now = clock()
      return { ageMs: newest && Math.max(0, now - newest.at), trouble: troubleOf(now) }
    },
    stop() {
      stopping.abort()
      return tasks.stop()
    },
  }
}

type Scheduled = CopyConfig & { backups: NonNullable<Config['backups']> }

/** For a process beside the hub. Without a database only the folder is known. */
export async function lookAtBackups(config: Scheduled, db?: Db) {
  const ofFolder = await problemOfFolder(config.backups.dir)
  return { ofFolder, looked: db && (await lookAtMade(db, config, { isUsable: ofFolder === undefined })) }
}

/**
 * How many there are, the age of the newest one and whether that is too old, whether the next one has room, and what
 * the hub said when the last one failed.
 */
async function lookAtMade(db: Db, config: Scheduled, { isUsable }: { isUsable: boolean }) {
  const { dir, times } = config.backups
  const now = Date.now()
  const files = await listKept(db, dir, { lookFor: isUsable })
  const [newest] = files
  const lastFailure = await db
    .selectFrom('activity')
    .select(['at', 'message'])
    .where('kind', '=', 'backup.failed')
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return {
    count: files.length,
    age: newest && ageInWords(now - newest.at),
    isLate: newest !== undefined && isOverdue(times, newest.at, now),
    ofRoom: isUsable ? await problemOfRoom(db, dir, config) : undefined,
    failure:
      lastFailure && lastFailure.at > (newest?.at ?? -Infinity) && isDue(times, newest?.at, now)
        ? lastFailure.message
        : undefined,
  }
}

export function ageInWords(ms: number): string {
  const hours = Math.max(0, Math.floor(ms / HOUR_MS))
  const [count, unit] = hours < 48 ? [hours, 'hour'] : [Math.floor(hours / 24), 'day']
  return hours === 0 ? 'less than an hour' : `${count} ${unit}${count === 1 ? '' : 's'}`
}
