/**
 * The folder of recordings: a bounded number of days and bytes, whole files only. A file is written under another name
 * and renamed when it is whole and on disk, so after a power cut it is whole or missing.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { closeToOthers, makePrivateDirectory, syncPath, WITHOUT_RIGHTS } from '../kernel/durable-file.ts'
import { inWords } from '../kernel/failure.ts'

export type RecordingFolder = {
  write(name: string, bytes: Uint8Array): Promise<void>
  /** A path for a file that is being written. A file that is not adopted is deleted at the next start. */
  newPart(): string
  /** Keeps a whole file under each of `names`, without a second copy if the file system allows it. */
  adopt(part: string, names: readonly string[]): Promise<void>
  /** Undefined when there is no such recording. */
  pathOf(name: string): string | undefined
  /** Sentences for people. */
  problems(): string[]
  stop(): Promise<void>
}

export type RecordingFolderOptions = {
  path: string
  days: number
  megabytes: number
  /** Whether a person called the detection wrong: its recordings are deleted first. */
  isWrong(detectionId: string): boolean
  /** Milliseconds since 1970. */
  clock: () => number
  log: Logger
  /** Free space of the disk; the system's answer when left out. */
  freeBytes?: () => Promise<number>
}

type Recording = { bytes: number; at: number; inode: bigint }

const DAY_MS = 86_400_000
const PRUNE_EVERY_MS = 3_600_000
const MEGABYTE = 1_000_000
/** Left free for the detections themselves: they matter more than their clips. */
const LEFT_FREE_BYTES = 200 * MEGABYTE
/**
 * The subfolder for files that are being written. Each run has a folder of its own in it, and deletes those of earlier
 * runs: an FFmpeg that outlives its run leaves no file.
 */
const MAKING = 'making'

export async function openRecordingFolder(options: RecordingFolderOptions): Promise<RecordingFolder> {
  const { path: folder, days, megabytes, isWrong, clock, log } = options
  const { freeBytes = () => freeBytesOf(folder) } = options
  const recordings = new Map<string, Recording>()
  let problem: string | undefined
  const making = join(folder, MAKING, randomUUID())
  /** Runs one change after the other. */
  let turn: Promise<unknown> = Promise.resolve()

  function newPart(): string {
    try {
      mkdirSync(making, { recursive: true, mode: 0o700 })
    } catch (error) {
      // Whoever writes to it gets the reason too.
      log.warn({ err: error }, 'the folder of recordings cannot be made')
    }
    return join(making, randomUUID())
  }

  async function note(name: string): Promise<void> {
    const { size, mtimeMs, ino } = await stat(join(folder, name), { bigint: true })
    recordings.set(name, { bytes: Number(size), at: Number(mtimeMs), inode: ino })
  }

  /** Files may vanish and come back, such as with the disk that they are on. */
  async function look(): Promise<void> {
    await mkdir(making, { recursive: true, mode: 0o700 })
    const entries = await readdir(folder, { withFileTypes: true })
    const names = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name))
    for (const name of recordings.keys()) if (!names.has(name)) recordings.delete(name)
    for (const name of names) {
      if (recordings.has(name)) continue
      await closeToOthers(join(folder, name)).catch(WITHOUT_RIGHTS)
      await note(name)
    }
  }

  async function remove(name: string): Promise<void> {
    recordings.delete(name)
    await rm(join(folder, name), { force: true })
  }

  /** A file with several names counts once. */
  function usedBytes(): number {
    const files = new Map([...recordings.values()].map(({ inode, bytes }) => [inode, bytes]))
    return [...files.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  async function prune(): Promise<void> {
    await look()
    const oldest = clock() - days * DAY_MS
    const inOrder = [...recordings]
      .map(([name, { at }]) => ({ name, at, isWrong: isWrong(detectionOf(name)) }))
      .toSorted((a, b) => Number(b.isWrong) - Number(a.isWrong) || a.at - b.at)
    for (const { name, at } of inOrder) if (at < oldest) await remove(name)
    const allowed = Math.min(megabytes * MEGABYTE, usedBytes() + (await freeBytes()) - LEFT_FREE_BYTES)
    for (const { name } of inOrder) {
      if (usedBytes() <= allowed) break
      await remove(name)
    }
    problem = allowed < 0 ? 'The disk has no room for recordings; older ones were deleted.' : undefined
  }

  async function keep(part: string, names: readonly string[]): Promise<void> {
    try {
      // FFmpeg makes its files readable to all.
      await closeToOthers(part).catch(WITHOUT_RIGHTS)
      await syncFile(part)
      const [first, ...others] = names.map((name) => join(folder, name))
      await rename(part, first!)
      for (const other of others) await linkOrCopy(first!, other, newPart())
      await syncPath(folder)
      for (const name of names) await note(name)
      await prune()
    } catch (error) {
      problem = `A recording could not be stored: ${inWords(error)}.`
      throw error
    } finally {
      await rm(part, { force: true })
    }
  }

  function inTurn(action: () => Promise<void>): Promise<void> {
    const done = turn.then(action)
    turn = done.catch(() => {})
    return done
  }

  await makePrivateDirectory(folder)
  await rm(join(folder, MAKING), { recursive: true, force: true, maxRetries: 5 })
  await prune()
  const pruning = setInterval(
    () =>
      void inTurn(prune).catch((error: unknown) => log.error({ err: error }, 'old recordings could not be deleted')),
    PRUNE_EVERY_MS,
  )
  pruning.unref()

  return {
    write: (name, bytes) =>
      inTurn(async () => {
        const part = newPart()
        try {
          await writeWhole(part, bytes)
        } catch (error) {
          problem = `A recording could not be written: ${inWords(error)}.`
          await rm(part, { force: true })
          throw error
        }
        await keep(part, [name])
      }),
    newPart,
    adopt: (part, names) => inTurn(() => keep(part, names)),
    pathOf: (name) => (recordings.has(name) && existsSync(join(folder, name)) ? join(folder, name) : undefined),
    problems: () => (problem === undefined ? [] : [problem]),
    async stop() {
      clearInterval(pruning)
      await turn
    },
  }
}

/** The id of the detection: the name without its extension. */
function detectionOf(name: string): string {
  return name.replace(/\.[a-z0-9]{1,5}$/, '')
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
  } finally {
    await file.close()
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** FAT has no links. */
async function linkOrCopy(from: string, to: string, part: string): Promise<void> {
  await rm(to, { force: true })
  try {
    await link(from, to)
  } catch {
    await copyFile(from, part)
    await syncFile(part)
    await rename(part, to)
  }
}
