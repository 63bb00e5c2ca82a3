import { join } from 'node:path'
import { z } from 'zod'
import { DataFileError, makePrivateDirectory, readJsonFile, writeDurably } from '../../kernel/durable-file.ts'

/**
 * Stores on disk up to which time the review items of this Frigate have been reported: after an outage of the gateway
 * or of Frigate, items are fetched from that time on. It also stores reported items for a while, so that an unchanged
 * one is not reported again, its severity never falls, and its pictures are found.
 */
const schema = z.object({
  severity: z.enum(['alert', 'detection']),
  startTime: z.number(),
  isOver: z.boolean(),
  /** The reported version of the item; compared as a whole. */
  mark: z.string(),
  objectId: z.string().optional(),
  hasPicture: z.boolean(),
})
export type KnownReview = z.output<typeof schema>

const stored = z.object({
  /** The progress of another Frigate is ignored. */
  url: z.string(),
  /** Seconds since 1970, by Frigate's clock: everything that began before has been reported. */
  caughtUpTo: z.number().nullable(),
  reviews: z.array(z.tuple([z.string(), schema])),
})

export type Progress = {
  get(id: string): KnownReview | undefined
  set(id: string, review: KnownReview): void
  /**
   * The time from which items must be fetched, at most `hours` before `now`; `isGap` when older ones are lost. Both
   * times are seconds since 1970, by Frigate's clock.
   */
  since(now: number, hours: number): { after: number; isGap: boolean }
  /** Everything up to this time has been reported. */
  caughtUp(seconds: number): void
  stop(): Promise<void>
}

const REVIEWS_MAX = 1_000
/** After a crash, items that were not yet written are reported again, which changes nothing. */
const WRITE_AFTER_MS = 2_000
/** Frigate reports the end of an item up to two minutes late. */
const OVERLAP_SECONDS = 180
/** A gateway that meets its Frigate for the first time begins with the last hour. */
const FIRST_HOURS = 1

export async function openProgress(
  dataDir: string,
  url: string,
  options: { onError(error: unknown): void },
): Promise<Progress> {
  const folder = join(dataDir, 'frigate')
  await makePrivateDirectory(folder)
  const path = join(folder, 'progress.json')
  const found = await readJsonFile(path, stored).catch((error: unknown) => {
    // The file holds nothing that cannot be fetched again.
    if (!(error instanceof DataFileError)) throw error
    options.onError(error)
    return undefined
  })
  const own = found?.url === url ? found : undefined
  const reviews = new Map<string, KnownReview>(own?.reviews)
  let caughtUpTo = own?.caughtUpTo ?? null
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function write(): void {
    timer = undefined
    writing = writing
      .then(() => writeDurably(path, JSON.stringify({ url, caughtUpTo, reviews: [...reviews] })))
      .catch(options.onError)
  }

  const changed = () => void (timer ??= setTimeout(write, WRITE_AFTER_MS))

  return {
    get: (id) => reviews.get(id),
    set(id, review) {
      reviews.delete(id)
      reviews.set(id, review)
      if (reviews.size > REVIEWS_MAX) reviews.delete(oldestOf(reviews))
      changed()
    },
    since(now, hours) {
      if (caughtUpTo === null) return { after: now - Math.min(hours, FIRST_HOURS) * 3_600, isGap: false }
      // Frigate lists what has not ended, or ended later than this, whenever it began.
      const wanted = caughtUpTo - OVERLAP_SECONDS
      const earliest = now - hours * 3_600
      return { after: Math.max(wanted, earliest), isGap: caughtUpTo < earliest }
    },
    caughtUp(seconds) {
      if (caughtUpTo !== null && caughtUpTo >= seconds) return
      caughtUpTo = seconds
      changed()
    },
    async stop() {
      if (timer !== undefined) {
        clearTimeout(timer)
        write()
      }
      await writing
    },
  }
}

/** The item to drop: the one reported longest ago, finished ones first. */
function oldestOf(reviews: ReadonlyMap<string, KnownReview>): string {
  for (const [id, { isOver }] of reviews) if (isOver) return id
  for (const id of reviews.keys()) return id
  return ''
}
