import { z } from 'zod'
import { readJsonFile, writeDurably } from '../kernel/durable-file.ts'

/** Facts about updates in the data directory, which a reinstallation of the program keeps. */
const updateFile = z.strictObject({
  /**
   * The highest numbers that were seen, and a time that has certainly passed (time-floor.ts): expiry is never judged by
   * an earlier one. Its name is from when only the making of releases counted; older versions read this file too.
   */
  seen: z.strictObject({ keys: z.int(), release: z.int(), createdAt: z.number() }),
  /** The update that was begun last. */
  begun: z.strictObject({ number: z.int(), attempt: z.int() }).optional(),
  /** Why it failed. */
  failure: z.string().optional(),
})
export type UpdateMemory = z.output<typeof updateFile>

export type UpdateFile = {
  current(): UpdateMemory
  /** Rejects with the disk's error; then nothing has changed. */
  write(memory: UpdateMemory): Promise<void>
}

/** Throws DataFileError for a damaged file. */
export async function openUpdateFile(path: string): Promise<UpdateFile> {
  let memory = (await readJsonFile(path, updateFile)) ?? { seen: { keys: 0, release: 0, createdAt: 0 } }
  return {
    current: () => memory,
    async write(changed) {
      await writeDurably(path, `${JSON.stringify(changed)}\n`)
      memory = changed
    },
  }
}
