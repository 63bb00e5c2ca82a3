import type { Logger } from 'pino'
import { z } from 'zod'
import { readJsonFile, writeDurably } from '../kernel/durable-file.ts'
import { inWords } from '../kernel/failure.ts'
import type { UpdateFailure } from './updater.ts'
import type { VersionOnDisk } from './versions.ts'

/** For people only. It is not in `update.json`, because a previous version refuses new fields there. */
const historyFile = z.object({
  /** The releases that this device went back from, the newest last. */
  crashed: z.array(z.int()).optional(),
  running: z.object({ version: z.string(), number: z.int(), since: z.iso.datetime() }).nullable(),
  failure: z
    .object({
      number: z.int(),
      version: z.string().nullable(),
      at: z.iso.datetime(),
      message: z.string(),
      wasConfirmed: z.boolean().optional(),
    })
    .nullable(),
})
type History = z.output<typeof historyFile>

const CRASHED_KEPT = 20

export type UpdateHistory = {
  /** When this device changed to the version that runs. */
  since(running: VersionOnDisk): string
  noteFailure(failure: UpdateFailure): void
  /** Whether this device went back from that release after it had been confirmed. */
  hasCrashed(number: number): boolean
  /** The last failure, unless this version or a newer one runs now. */
  failure(running: VersionOnDisk): History['failure']
  /** Resolves when all is written. */
  close(): Promise<void>
}

/** A file that cannot be read or written is logged, and the history begins anew. */
export async function openHistory(path: string, { log, clock }: { log: Logger; clock: () => number }) {
  let history: History = { running: null, failure: null }
  try {
    history = (await readJsonFile(path, historyFile)) ?? history
  } catch (error) {
    log.warn({ reason: inWords(error) }, 'the history of updates begins anew')
  }
  let writing = Promise.resolve()
  const now = () => new Date(clock()).toISOString()

  function change(part: Partial<History>): void {
    history = { ...history, ...part }
    const text = `${JSON.stringify(history)}\n`
    writing = writing
      .then(() => writeDurably(path, text))
      .catch((error: unknown) => log.warn({ err: error }, 'the history of updates could not be written'))
  }

  return {
    since({ version, number }) {
      const runningVersion = history.running
      if (runningVersion?.version === version && runningVersion.number === number) return runningVersion.since
      const running = { version, number, since: now() }
      change({ running })
      return running.since
    },
    noteFailure(failure) {
      const crashed = [...(history.crashed ?? []), ...(failure.wasConfirmed ? [failure.number] : [])]
      change({ failure: { ...failure, at: now() }, crashed: crashed.slice(-CRASHED_KEPT) })
    },
    hasCrashed: (number) => history.crashed?.includes(number) ?? false,
    failure: (running) => (history.failure && history.failure.number > running.number ? history.failure : null),
    close: () => writing,
  } satisfies UpdateHistory
}
