/** People's reviews of a gateway's detections: counts by camera and day, and the latest ones with their authors. */
import { z } from 'zod'
import { call } from './call.ts'
import { incidentId } from './detections.ts'
import { gatewayId } from './gateways.ts'
import { reviewVerdict } from './threats.ts'

/** How many days are counted, today included. */
export const REVIEW_DAYS = 30

/**
 * Counted from reviews of detections only; unreviewed detections do not count. `days` has the last 30 days of the hub's
 * calendar, oldest first, by when the detection began. `latest` has the newest 10 reviewed incidents.
 */
export const readReviewCounts = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/reviews',
  params: z.strictObject({ id: gatewayId }),
  errors: ['gateway_not_found'],
  response: z.object({
    days: z.array(z.iso.date()),
    /** By name; `right` and `wrong` have one number for each day. */
    cameras: z.array(
      z.object({ camera: z.string(), right: z.array(z.number().int()), wrong: z.array(z.number().int()) }),
    ),
    latest: z.array(
      z.object({
        incidentId,
        verdict: reviewVerdict,
        /** The label from the gateway, and the label from a person. */
        reportedLabel: z.string(),
        label: z.string(),
        camera: z.string(),
        by: z.string(),
        at: z.iso.datetime(),
      }),
    ),
  }),
})
export type ReviewCounts = z.output<typeof readReviewCounts.response>
