import { z } from 'zod'
import { call } from './call.ts'
import { cleanLine, epochMs } from './fields.ts'

/** The most reviews in one answer. */
export const REVIEWS_AT_ONCE = 500

/** Counts up over all reviews of a gateway, with gaps: a changed review gets a new number. */
export const reviewSeq = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/** A person's review of a detection, as its gateway gets it. */
export const gatewayReview = z.object({
  seq: reviewSeq.min(1),
  detection: cleanLine(100).min(1),
  /** Null withdraws the review. */
  verdict: z.enum(['right', 'wrong']).nullable(),
  /** The right label, when a person corrected it. */
  label: cleanLine(100).min(1).nullable(),
  /** The time of the review, by the hub's clock. */
  at: epochMs,
})
export type GatewayReview = z.output<typeof gatewayReview>

/**
 * Gives a gateway the reviews of its detections after the number that it has; the answer to a heartbeat has the newest
 * number. Only the latest review of each detection, in the order of the numbers.
 */
export const readGatewayReviews = call({
  method: 'POST',
  path: '/v1/gateway/reviews',
  body: z.strictObject({ after: reviewSeq }),
  signed: true,
  errors: ['gateway_unknown', 'signature_invalid', 'request_replayed', 'too_many_requests', 'hub_busy'],
  response: z.object({ reviews: z.array(gatewayReview).max(REVIEWS_AT_ONCE) }),
})
