/** What people said of this device's detections, as the hub tells it: the newest, in one file, for what learns here. */
import type { DoorReviews } from '@hedgerow/contract'
import { doorReviews } from '@hedgerow/contract'
import { readJsonFile, writeDurably } from '../durable-file.ts'

type Review = DoorReviews['reviews'][number]

export type Reviews = {
  /** Resolves when they are safe on disk. A review with a lower `seq` than the known one changes nothing. */
  put(reviews: readonly Review[]): Promise<void>
  /** In the order in which they were said. */
  all(): Review[]
  isWrong(detectionId: string): boolean
}

const REVIEWS_MAX = 20_000
const file = doorReviews.shape.reviews.element.array()

/** Throws DataFileError for a damaged file. */
export async function openReviews(path: string): Promise<Reviews> {
  const known = new Map((await readJsonFile(path, file))?.map((review) => [review.detection, review]))
  let turn: Promise<unknown> = Promise.resolve()
  const all = () => [...known.values()].toSorted((a, b) => a.seq - b.seq)

  async function put(reviews: readonly Review[]): Promise<void> {
    for (const review of reviews) {
      const before = known.get(review.detection)
      if (!before || before.seq < review.seq) known.set(review.detection, review)
    }
    for (const { detection } of all().slice(0, Math.max(0, known.size - REVIEWS_MAX))) known.delete(detection)
    await writeDurably(path, JSON.stringify(all()))
  }

  return {
    put(reviews) {
      const written = turn.then(() => put(reviews))
      turn = written.catch(() => {})
      return written
    },
    all,
    isWrong: (detectionId) => known.get(detectionId)?.verdict === 'wrong',
  }
}
