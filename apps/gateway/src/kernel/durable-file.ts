import nodeFiles from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'

/** A damaged file in the data directory. The agent never replaces it. */
export class DataFileError extends Error {
  override name = 'DataFileError'
}

const { chmod, mkdir, stat } = nodeFiles

/** The part of `node:fs/promises` that writes need; tests pass one that fails or loses power. */
export type Files = Pick<typeof nodeFiles, 'open' | 'rename' | 'rm'>

const RIGHTS_OF_OTHERS = 0o077
const WRITABLE_BY_ALL = 0o002
/** With the sticky bit, as on /tmp, users cannot replace each other's files. */
const STICKY = 0o1000

/**
 * Makes the data directory with mode 0700 when it is missing. One that a person made keeps its mode, because it may be
 * a directory that other programs use; each file in it is private. Throws DataFileError when every user of the device
 * can write to it.
 */
export async function makeDataDirectory(path: string): Promise<void> {
  await makeDirectory(path)
  const { mode } = await stat(path)
  if ((mode & WRITABLE_BY_ALL) === 0 || (mode & STICKY) !== 0 || process.platform === 'win32') return
  throw new DataFileError(
    `Every user of this device can write to ${path} (mode ${(mode & 0o777).toString(8)}) and so replace its ` +
      `keys. Make it the gateway's alone, with "chmod 700 ${path}".`,
  )
}

/** Not Node's own recursion: it never ends below /proc, which refuses each new directory as if its parent were gone. */
async function makeDirectory(path: string): Promise<void> {
  const look = (at: string) => stat(at).catch(() => undefined)
  if ((await look(path))?.isDirectory()) return
  if (!(await look(dirname(path)))) await makeDirectory(dirname(path))
  await mkdir(path, 0o700).catch(async (error: unknown) => {
    if (!(await look(path))?.isDirectory()) throw error
  })
}

/** A directory of the agent's own inside of the data directory: it has mode 0700, whoever made it. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await makeDataDirectory(path)
  await closeToOthers(path).catch(WITHOUT_RIGHTS)
}

/** Takes all rights on a file or directory from other users. */
export async function closeToOthers(path: string): Promise<void> {
  const { mode } = await stat(path)
  if ((mode & RIGHTS_OF_OTHERS) !== 0) await chmod(path, mode & 0o700)
}

/** File systems such as FAT have no rights to change. */
export const WITHOUT_RIGHTS = (): void => {}

/**
 * Replaces `path` atomically, so that a crash leaves either the old or the new content: temporary file, fsync, rename,
 * fsync of the directory, which is made again when it vanished. Calls for one path must not overlap.
 */
export async function writeDurably(
  path: string,
  content: string,
  mode = 0o600,
  files: Files = nodeFiles,
): Promise<void> {
  const temporary = `${path}.tmp`
  await files.rm(temporary, { force: true })
  const make = () => files.open(temporary, 'wx', 0o600)
  const file = await make().catch(async (error: unknown) => {
    if (!isMissing(error)) throw error
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    return make()
  })
  try {
    await file.chmod(mode)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await files.rename(temporary, path)
  await syncPath(dirname(path), files)
}

/** Makes a file's content survive a power cut, or the new, renamed and removed entries of a directory. */
export async function syncPath(path: string, files: Pick<Files, 'open'> = nodeFiles): Promise<void> {
  const file = await files.open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Undefined when there is no such file. Throws DataFileError when its content is not JSON of `schema`. */
export async function readJsonFile<S extends z.ZodType>(
  path: string,
  schema: S,
  files: Pick<typeof nodeFiles, 'readFile'> = nodeFiles,
): Promise<z.output<S> | undefined> {
  let text: string
  try {
    text = await files.readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  // The values may be secret, so only field names are shown.
  const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'the whole file').join(', ')
  throw new DataFileError(`${path} is damaged (${fields}). Restore it from a backup, or move it away to start over.`)
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
