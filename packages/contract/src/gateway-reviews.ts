import { z } from 'zod'
import { call } from './call.ts'
import { cleanLine, epochMs } from './fields.ts'

/** How many one call answers at most. */
export const REVIEWS_AT_ONCE = 500

/** Counts up over all reviews of a gateway, with gaps: a review that is changed gets a new number. */
export const reviewSeq = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/** What a person said of a detection, as its gateway hears it. */
export const gatewayReview = z.object({
  seq: reviewSeq.min(1),
  detection: cleanLine(100).min(1),
  /** Null takes back what was said. */
  verdict: z.enum(['right', 'wrong']).nullable(),
  /** What it is instead. */
  label: cleanLine(100).min(1).nullable(),
  /** When it was said, by the hub's clock. */
  at: epochMs,
})
export type GatewayReview = z.output<typeof gatewayReview>

/**
 * A gateway asks for what people said of its detections since the number that it has; the answer to a heartbeat tells
 * the newest one. Of each detection the latest review, by number.
 */
export const readGatewayReviews = call({
  method: 'POST',
  path: '/v1/gateway/reviews',
  body: z.strictObject({ after: reviewSeq }),
  signed: true,
  errors: ['gateway_unknown', 'signature_invalid', 'request_replayed', 'too_many_requests'],
  response: z.object({ reviews: z.array(gatewayReview).max(REVIEWS_AT_ONCE) }),
})
