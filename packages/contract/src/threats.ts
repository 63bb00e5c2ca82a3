import { z } from 'zod'
import { incidentId, storedDetection } from './detections.ts'
import { call } from './call.ts'
import { moment, oneLine, tag } from './fields.ts'
import { gatewayId } from './gateways.ts'
import { pageQuery } from './lists.ts'
import { siteName } from './sites.ts'

/** A person's review of an incident: the label is right or wrong; a label from the person replaces the reported one. */
export const reviewVerdict = z.enum(['right', 'wrong'])
export type ReviewVerdict = z.output<typeof reviewVerdict>

/**
 * One event for people: the detections of one gateway and label with less than 45 s between them. Its `cover` is the
 * detection with the highest score that has a picture.
 */
export const incident = z.object({
  id: incidentId,
  gatewayId,
  gatewayName: z.string(),
  location: z.string(),
  site: siteName.nullable(),
  /** The label from a person if there is one, else the reported one. */
  label: z.string(),
  reportedLabel: z.string(),
  severity: z.enum(['alert', 'detection']),
  startedAt: z.iso.datetime(),
  /** When the last of its detections ended, or when the last one began, if it has not ended. */
  lastAt: z.iso.datetime(),
  /** The number of its detections. */
  detections: z.number().int(),
  /** The camera of the cover; without a picture, that of the first detection. */
  camera: z.string(),
  score: z.number(),
  coverId: z.string().nullable(),
  /** A deterrent was fired at it. */
  isFired: z.boolean(),
  /** Its gateway holds it back, because it looks like detections that people called wrong there. */
  isSuppressed: z.boolean(),
  /** Its review contradicts all other reviews there: somebody should look again. */
  isDoubtful: z.boolean(),
  /** Its camera or gateway was snoozed: it was announced to nobody. */
  isSnoozed: z.boolean(),
  review: z.object({ verdict: reviewVerdict, by: z.string(), at: z.iso.datetime() }).nullable(),
})
export type Incident = z.output<typeof incident>

const texts = oneLine(200)
/** A list is one parameter: `label=boar,deer`. */
const listOf = (most: number) =>
  z
    .string()
    .max(20_000)
    .transform((text) => text.split(',').filter((part) => part !== ''))
    .refine((parts) => parts.length <= most, `At most ${most} values`)

/** An incident must match all parameters. */
export const incidentFilter = z.strictObject({
  /** The id or name of its gateway's site; a text that names no site is the exact location of gateways without one. */
  site: texts.optional(),
  /** A tag of its gateway. */
  tag: tag.optional(),
  gateway: gatewayId.optional(),
  /** Cameras of that gateway. */
  camera: texts.optional(),
  label: listOf(20).optional(),
  severity: z.enum(['alert', 'detection']).optional(),
  review: z.enum(['none', 'right', 'wrong']).optional(),
  fired: z.literal('yes').optional(),
  /** Held-back incidents are listed only with `hidden`; `doubtful` lists those that gateways ask people about again. */
  learning: z.enum(['hidden', 'doubtful']).optional(),
  /** Those that one message of an alert rule was about. */
  alert: z
    .string()
    .regex(/^[\w-]{1,40}$/, 'This is not the id of an alert')
    .optional(),
  /** The incident began at `from` or later, and before `to`. */
  from: moment.optional(),
  to: moment.optional(),
})
export type IncidentFilter = z.output<typeof incidentFilter>

/** The newest 60 incidents of the gateways that the caller may see, or a page, newest first. */
export const listIncidents = call({
  method: 'GET',
  path: '/v1/hub/incidents',
  query: pageQuery.extend(incidentFilter.shape),
  response: z.array(incident),
})

/**
 * How many incidents there are of each label, severity and review, and with and without a firing, for the numbers
 * beside the filters. The filters of these four don't count here. Counted in the newest 10,000, or in those of each
 * gateway when the filter leaves up to 8 of them; `isWhole` is false when there may be more. Counts above 2,000 may be
 * a second old, but have every review.
 */
export const countIncidents = call({
  method: 'GET',
  path: '/v1/hub/incidents/counts',
  query: incidentFilter,
  response: z.object({
    isWhole: z.boolean(),
    /** How many incidents each value of the filter `learning` would list, with all other filters. */
    hidden: z.number().int(),
    doubtful: z.number().int(),
    groups: z.array(
      z.object({
        label: z.string(),
        severity: z.enum(['alert', 'detection']),
        review: z.enum(['none', 'right', 'wrong']),
        isFired: z.boolean(),
        count: z.number().int(),
      }),
    ),
  }),
})

/** What a deterrent did about an incident, or why it did nothing. */
export const deed = z.object({
  deterrent: z.string(),
  at: moment,
  seconds: z.number(),
  outcome: z.enum(['fired', 'refused', 'failed']),
  /** The code of a refusal, such as `cool_down`; null when the gateway told none. */
  code: z.string().nullable(),
  /** Why it was refused or failed, in words. */
  reason: z.string(),
  /** Whether the object had left a minute later; null while nobody knows. */
  gone: z.boolean().nullable(),
})
export type Deed = z.output<typeof deed>

/** One incident with its detections, oldest first, at most 200, and what was done about it. */
export const readIncident = call({
  method: 'GET',
  path: '/v1/hub/incidents/:id',
  params: z.strictObject({ id: incidentId }),
  errors: ['incident_not_found'],
  response: incident.extend({ list: z.array(storedDetection), deeds: z.array(deed) }),
})

/** The incidents before and after one in the list with the same filters; null at its ends. */
export const readNeighbours = call({
  method: 'GET',
  path: '/v1/hub/incidents/:id/neighbours',
  params: z.strictObject({ id: incidentId }),
  query: incidentFilter,
  errors: ['incident_not_found'],
  response: z.object({ newer: incidentId.nullable(), older: incidentId.nullable() }),
})

/**
 * Reviews these incidents, all or none. `verdict: null` withdraws a review. `label` with `wrong` is the right label.
 * Answers with the former reviews, and with a `reviewId` for each, by which `undoReviews` brings everything back.
 */
export const reviewIncidents = call({
  method: 'POST',
  path: '/v1/hub/incidents/review',
  body: z
    .strictObject({
      ids: z.array(incidentId).min(1).max(500),
      verdict: reviewVerdict.nullable(),
      label: oneLine(100)
        .min(1, 'Enter what it is')
        .regex(/^[^,]*$/, 'A label has no comma')
        .optional(),
    })
    .refine(({ verdict, label }) => label === undefined || verdict === 'wrong', {
      path: ['label'],
      message: 'Only what is wrong gets another label',
    }),
  errors: ['incident_not_found'],
  response: z.array(
    z.object({ id: incidentId, verdict: reviewVerdict.nullable(), label: z.string().nullable(), reviewId: z.string() }),
  ),
})

/**
 * Brings incidents back as they were before these reviews of the caller: the former review with its person, and whether
 * learning held them back or asked about them. Answers with the incidents that it brought back; one that somebody
 * reviewed again since stays as it is. Reviews can be undone for seven days.
 */
export const undoReviews = call({
  method: 'POST',
  path: '/v1/hub/incidents/review/undo',
  body: z.strictObject({ reviewIds: z.array(oneLine(50)).min(1).max(500) }),
  errors: ['review_not_found', 'incident_not_found'],
  response: z.object({ incidentIds: z.array(incidentId) }),
})

/**
 * A ZIP of the newest 10,000 detections that the filter selects: `detections.csv`, `coco.json` (COCO's object detection
 * format) and the pictures. Written as it is read; one at a time for each person, and four in all. A box in `coco.json`
 * is the object's where the picture is the whole frame. The pictures of Frigate and of the gateway's own detector show
 * the object with its surroundings: there the box is the whole picture, as it is where the box is unknown.
 */
export const exportIncidents = call({
  method: 'GET',
  path: '/v1/hub/incidents/export',
  recorded: true,
  query: incidentFilter,
  errors: ['export_busy'],
  media: 'application/zip',
  response: null,
})
