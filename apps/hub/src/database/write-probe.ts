/**
 * Whether the hub can write. Only a write tells: a disk with free space may be read-only, over its quota or out of
 * inodes, and a PostgreSQL may be a standby.
 */
import { randomBytes } from 'node:crypto'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { FactData } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Engine } from './engine.ts'
import { writeRefusal, type WriteRefusal } from './storage-errors.ts'
import type { Tables } from './tables.ts'

export type StorageTrouble = FactData['storage.low']

const FILE_NAME = 'write-probe'
const FILE_BYTES = 4_096
const LARGE_ROW_BYTES = 64 * 1024
const SMALL_ROW = 0
const LARGE_ROW = 1

/** Stores a small row. Throws what is no refusal to write, such as a lost connection. */
export async function troubleOfDatabase(db: Kysely<Tables>, engine: Engine): Promise<StorageTrouble | undefined> {
  const filler = randomBytes(8).toString('hex')
  try {
    await db
      .insertInto('storage_probe')
      .values({ id: SMALL_ROW, filler })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ filler }))
      .execute()
    return undefined
  } catch (error) {
    const refusal = writeRefusal(error)
    if (refusal === undefined) throw error
    return troubleOf(refusal, engine)
  }
}

/** Writes and removes a row that needs new pages, or pages that deleted rows left. */
export async function takesLargeRow(db: Kysely<Tables>): Promise<boolean> {
  try {
    // PostgreSQL compresses repetition, and a compressed row fits into a full database.
    const filler = randomBytes(LARGE_ROW_BYTES / 2).toString('hex')
    await db.deleteFrom('storage_probe').where('id', '=', LARGE_ROW).execute()
    await db.insertInto('storage_probe').values({ id: LARGE_ROW, filler }).execute()
    await db.deleteFrom('storage_probe').where('id', '=', LARGE_ROW).execute()
    return true
  } catch {
    return false
  }
}

export function troubleOf(refusal: WriteRefusal, engine: Engine): StorageTrouble {
  if (refusal === 'full') return { state: 'full', message: "The hub's database has no room: make some on its disk." }
  const message =
    engine === 'postgres'
      ? refusal === 'read-only'
        ? 'PostgreSQL accepts no writes: it is a standby, or was made read-only.'
        : 'The disk of PostgreSQL refuses writes: its log says why.'
      : refusal === 'read-only'
        ? "The hub's database is read-only: let the hub's user write to its file and folder."
        : "The disk of the hub's database refuses writes: it is read-only, faulty or over a quota."
  return { state: 'unwritable', message }
}

/** Writes a file to the disk, and removes it. A folder that holds no database need not exist. */
export async function troubleOfFolder(folder: string, hasDatabase: boolean): Promise<StorageTrouble | undefined> {
  const file = join(folder, FILE_NAME)
  try {
    const handle = await open(file, 'w', 0o600)
    try {
      await handle.write(randomBytes(FILE_BYTES))
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rm(file)
    return undefined
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined)
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !hasDatabase) return undefined
    return { state: 'folder', message: await reasonOf(code, folder) }
  }
}

async function reasonOf(code: string | undefined, folder: string): Promise<string> {
  switch (code) {
    case 'EROFS':
      return "The hub's disk is read-only: it has a fault, or was mounted so."
    case 'EDQUOT':
      return "The quota of the hub's user on its disk is used up: make room, or raise it."
    case 'EACCES':
    case 'EPERM':
      return "The hub may not write to its data folder: give it to the hub's user."
    case 'ENOENT':
      return "The hub's data folder is gone: bring its disk back."
    case 'ENOSPC': {
      const { files, ffree } = await statfs(folder)
      return files > 0 && ffree === 0
        ? "The hub's disk has no inode left for another file: delete files on it."
        : "The hub's disk is full: make room."
    }
    default:
      return `The hub's disk refuses writes (${code}).`
  }
}
