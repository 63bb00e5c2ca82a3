import { writeFile } from 'node:fs/promises'
import { DataFileError, readJsonFile, writeDurably } from '../kernel/durable-file.ts'
import { savedState, type SavedState } from './saved-state.ts'

export type StateFile = {
  /** Undefined when there was none. */
  readonly found: SavedState | undefined
  /** Why the file was unreadable; `found` is then a disarmed state. */
  readonly problem: string | undefined
  /**
   * Writes the result of `compose` when its turn comes; waiting calls share one write. Rejects with the disk's error.
   */
  write(compose: () => SavedState): Promise<void>
  /**
   * Empties the file, which needs no space on the disk, so that the next start is disarmed. Call it when a device that
   * was disarmed cannot write that. False when this fails too.
   */
  empty(): Promise<boolean>
}

export async function openStateFile(path: string, boot: string): Promise<StateFile> {
  const { found, problem } = await read(path, boot)
  let writing: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  return {
    found,
    problem,
    write(compose) {
      if (waiting) return waiting
      const started = writing.then(() => {
        waiting = undefined
        const write = writeDurably(path, `${JSON.stringify(compose())}\n`)
        writing = write.catch(() => {})
        return write
      })
      waiting = started
      return started
    },
    async empty() {
      try {
        await writeFile(path, '', { mode: 0o600, flush: true })
        return true
      } catch {
        return false
      }
    },
  }
}

async function read(path: string, boot: string): Promise<{ found: SavedState | undefined; problem?: string }> {
  try {
    return { found: await readJsonFile(path, savedState) }
  } catch (error) {
    if (!(error instanceof DataFileError)) throw error
    // The charges are unknown, and so is whether a person had disarmed it.
    return {
      found: { version: 1, boot, armed: false, charges: {}, persons: {}, firings: [] },
      problem: 'The state of the deterrents was damaged: the device is disarmed until a person arms it',
    }
  }
}
