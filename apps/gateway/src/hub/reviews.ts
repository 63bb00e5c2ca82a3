/**
 * Fetches people's reviews of this device's detections from the hub. Every answer to a heartbeat has the number of the
 * newest; the record has the number of the last one here. So none is missed after an outage of either side, and none is
 * fetched twice.
 */
import { readGatewayReviews, type GatewayReview } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { inWords } from '../kernel/failure.ts'
import { keepSending, type Sender } from './sending.ts'

/** Part of the device's record: `detections/reviews.ts`. */
export type StoredReviews = {
  put(gatewayId: string, reviews: readonly GatewayReview[]): void
  newest(gatewayId: string): number
}

export type ReviewReader = Pick<Sender, 'done'> & {
  /** The hub sent the number of its newest review; an older hub sends none. */
  learn(newest: number | undefined): void
}

export function keepReadingReviews(options: {
  reviews: StoredReviews
  /** A hub that knows this device as another gateway has other reviews. */
  gatewayId: () => string | undefined
  wayToHub: Parameters<typeof keepSending>[0]['wayToHub']
  log: Logger
  signal: AbortSignal
}): ReviewReader {
  const { reviews, wayToHub, log, signal } = options
  let newest = 0

  const { wake, done } = keepSending({
    wayToHub,
    async sendNext(post) {
      const gatewayId = options.gatewayId()
      if (gatewayId === undefined) return false
      const after = reviews.newest(gatewayId)
      if (newest <= after) return false
      const answer = await post(readGatewayReviews, { after })
      reviews.put(gatewayId, answer.reviews)
      // When the hub has fewer reviews than it said, they are not fetched again and again.
      if (reviews.newest(gatewayId) <= after) newest = after
      return true
    },
    onFailure: (error, retryAfterMs) => log.warn({ retryAfterMs, reason: inWords(error) }, 'reviews wait at the hub'),
    signal,
  })
  return {
    learn(reported = 0) {
      newest = reported
      wake()
    },
    done,
  }
}
