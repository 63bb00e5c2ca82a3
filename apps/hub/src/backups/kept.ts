/** The backups that this hub has made in a folder, by its own records: it deletes no other file there. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { engineOf } from '../database/engine.ts'
import type { Db } from '../database/tables.ts'

export type BackupFile = { id: number; file: string; at: number }

const MIB = 1024 ** 2
const SPARE_BYTES = 16 * MIB
/** What the hub itself wants to be free: database/storage-watch.ts. */
const RESERVE_MAX_BYTES = 256 * MIB
const RESERVE_SPARE = 1.2
const WRITABLE_BY_ALL = 0o002
const STICKY = 0o1000

export function newFile(folder: string, now: number): string {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')
  return join(folder, `hedgerow-${time}Z-${randomBytes(2).toString('hex')}.backup`)
}

/**
 * Why no backup can be made there. A missing folder is not made: it may be a disk that is not mounted, and the backup
 * would fill the one below.
 */
export async function problemOfFolder(folder: string): Promise<string | undefined> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
  if (typeof found === 'string')
    return found === 'ENOENT' ? `there is no folder ${folder}` : `${folder} cannot be used (${found})`
  if (!found.isDirectory()) return `${folder} is no folder`
  if ((found.mode & WRITABLE_BY_ALL) !== 0 && (found.mode & STICKY) === 0)
    return `every user of this machine can write to ${folder}`
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => undefined,
    () => `the hub may not write to ${folder}`,
  )
}

/** Checked first: a copy that fills the hub's own disk would harm the hub. */
export async function problemOfRoom(
  db: Db,
  folder: string,
  { databaseUrl, dataDir, diskReserveBytes }: Pick<Config, 'databaseUrl' | 'dataDir' | 'diskReserveBytes'>,
): Promise<string | undefined> {
  const isSqlite = engineOf(databaseUrl) === 'sqlite'
  const size = isSqlite
    ? sql<{ bytes: number }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
    : sql<{ bytes: number }>`select pg_database_size(current_database())::double precision as bytes`
  const bytes = (await size.execute(db)).rows[0]?.bytes ?? 0
  const { bavail, bsize, blocks } = await statfs(folder)
  const home = isSqlite ? dirname(databaseUrl.slice('sqlite:'.length)) : dataDir
  const isOwnDisk = (await stat(folder)).dev === (await stat(home).catch(() => undefined))?.dev
  const reserve = diskReserveBytes ?? Math.min(RESERVE_MAX_BYTES, (bsize * blocks) / 10)
  const spare = SPARE_BYTES + (isOwnDisk ? RESERVE_SPARE * reserve : 0)
  if (bavail * bsize >= bytes + spare) return undefined
  return `the disk of ${folder} is full: ${words(bavail * bsize)} are free, and a backup needs ${words(bytes + spare)}`
}

const words = (bytes: number) =>
  bytes >= 1024 * MIB ? `${(bytes / 1024 / MIB).toFixed(1)} GiB` : `${Math.ceil(bytes / MIB)} MiB`

/** Complete backups in the folder, newest first. With `lookFor`, only those whose file is still there. */
export async function listKept(db: Db, folder: string, { lookFor }: { lookFor: boolean }): Promise<BackupFile[]> {
  const rows = await db.selectFrom('backups').selectAll().where('bytes', 'is not', null).orderBy('id', 'desc').execute()
  const files: BackupFile[] = []
  for (const { id, file, begun_at: at } of rows) {
    if (dirname(file) !== folder) continue
    if (!lookFor || (await stat(file).catch(() => undefined))) files.push({ id, file, at })
  }
  return files
}

/** Completes the record of backups that have their name, and removes what is left of those that never got it. */
export async function settle(db: Db, folder: string): Promise<void> {
  const begun = await db.selectFrom('backups').select(['id', 'file']).where('bytes', 'is', null).execute()
  for (const { id, file } of begun) {
    if (dirname(file) !== folder) continue
    const found = await stat(file).catch(() => undefined)
    const row = { bytes: found?.size ?? null, modified_at: found?.mtimeMs ?? null }
    if (found) {
      await db.updateTable('backups').set(row).where('id', '=', id).execute()
      continue
    }
    for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(`${file}.unfinished${suffix}`, { force: true })
    await db.deleteFrom('backups').where('id', '=', id).execute()
  }
}

/** Deletes all but the newest `keep`. A file that changed since it was made is somebody else's now, and stays. */
export async function prune(db: Db, folder: string, keep: number): Promise<void> {
  for (const { id, file } of (await listKept(db, folder, { lookFor: true })).slice(keep)) {
    const row = db.selectFrom('backups').select(['bytes', 'modified_at']).where('id', '=', id)
    const { bytes, modified_at: modifiedAt } = await row.executeTakeFirstOrThrow()
    const { size, mtimeMs } = await stat(file)
    if (size === bytes && mtimeMs === modifiedAt) await rm(file)
    await db.deleteFrom('backups').where('id', '=', id).execute()
  }
}
