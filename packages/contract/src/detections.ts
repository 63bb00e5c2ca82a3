/** Detections: a gateway's reports of one object on one camera, as sent, stored and shown. */
import { z } from 'zod'
import { call } from './call.ts'
import { firing } from './deterrents.ts'
import { cleanLine, moment } from './fields.ts'
import { gatewayId } from './gateways.ts'
import { searchQuery } from './lists.ts'
import { detectionSnoozed } from './snoozes.ts'

/** The longest thumbnail (JPEG) of a detection, in bytes. */
export const THUMBNAIL_MAX_BYTES = 64 * 1024
/** The bytes FF D8 FF as base64. */
const JPEG_START = '/9j/'
const THUMBNAIL_BASE64_LIMIT = Math.ceil(THUMBNAIL_MAX_BYTES / 3) * 4
const VERDICTS_MAX = 16
const FIRINGS_MAX = 16
const VERDICT_MAX_MS = 3_600_000

const fraction = z.number().min(0).max(1)

/** Part of a picture, in fractions of its width and height; `x` and `y` are of the upper left corner. */
export const box = z.strictObject({ x: fraction, y: fraction, width: fraction, height: fraction })
export type Box = z.output<typeof box>

/** The opinion of one stage about a detection. */
export const verdict = z.strictObject({
  /** `motion`, `detector`, `second-look`, `learned`, or a program's own name. */
  stage: cleanLine(50).min(1),
  /** The model or program that decided. */
  by: cleanLine(200).min(1),
  outcome: z.enum(['confirmed', 'rejected', 'unsure']),
  score: fraction.optional(),
  /** A sentence for people. */
  reason: cleanLine(500).optional(),
  /** How long it took. */
  ms: z.number().min(0).max(VERDICT_MAX_MS).optional(),
})
export type Verdict = z.output<typeof verdict>

/** The fields of the feature `learning`: only for hubs whose answers to heartbeats name it. */
export const detectionLearning = z.strictObject({
  /**
   * The gateway holds it back, because it looks like detections that people called wrong there. It is no threat and
   * fires nothing.
   */
  suppressed: z.boolean().optional(),
  /** Its review contradicts all other reviews there: somebody should look again. */
  doubtful: z.boolean().optional(),
})

/** The fields of the feature `detection-details`: only for hubs whose answers to heartbeats name it. */
export const detectionDetails = z.strictObject({
  /** Its source: `frigate`, `eye` or `api`. */
  source: cleanLine(100).optional(),
  /** The zone of the camera that the object entered. */
  zone: cleanLine(100).optional(),
  /** Where the object is in the thumbnail's whole frame. */
  box: box.optional(),
  /** In the order of the stages. */
  verdicts: z.array(verdict).max(VERDICTS_MAX).optional(),
  /** The deterrents that it set off, or would have. */
  firings: z.array(firing).max(FIRINGS_MAX).optional(),
})
export type DetectionDetails = z.output<typeof detectionDetails>

export const detection = z.strictObject({
  id: cleanLine(100).min(1),
  camera: cleanLine(100).min(1),
  label: cleanLine(100).min(1),
  severity: z.enum(['alert', 'detection']),
  score: z.number().min(0).max(1),
  startedAt: moment,
  endedAt: moment.optional(),
  /** A JPEG of at most 64 KiB, as base64. */
  thumbnail: z.base64().max(THUMBNAIL_BASE64_LIMIT).startsWith(JPEG_START, 'Must be a JPEG').optional(),
  validated: z.boolean().optional(),
  falsePositive: z.boolean().optional(),
  deterrent: cleanLine(100).optional(),
  ...detectionDetails.shape,
  ...detectionLearning.shape,
  ...detectionSnoozed.shape,
})
export type Detection = z.output<typeof detection>

export const incidentId = z.string().regex(/^[\w-]{1,40}$/, 'This is not the id of an incident')

/** A detection as the hub stores it; `readDetectionThumbnail` reads its thumbnail. */
export const storedDetection = z.object({
  id: z.string(),
  camera: z.string(),
  label: z.string(),
  severity: z.enum(['alert', 'detection']),
  score: z.number(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  hasThumbnail: z.boolean(),
  validated: z.boolean().nullable(),
  falsePositive: z.boolean().nullable(),
  deterrent: z.string().nullable(),
  incidentId: incidentId.nullable(),
  ...detectionDetails.shape,
  ...detectionLearning.shape,
  ...detectionSnoozed.shape,
})
export type StoredDetection = z.output<typeof storedDetection>

/**
 * The newest 50 detections of one gateway, or a page, newest first. `q` matches part of the label or the camera, in the
 * newest 10,000.
 */
export const listDetections = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/detections',
  params: z.strictObject({ id: gatewayId }),
  query: searchQuery,
  errors: ['gateway_not_found'],
  response: z.array(storedDetection),
})

/** The JPEG's bytes, with an `ETag`. Answers `detection_not_found` when there is none. */
export const readDetectionThumbnail = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/detections/:detectionId/thumbnail',
  params: z.strictObject({ id: gatewayId, detectionId: z.string().min(1).max(100) }),
  errors: ['gateway_not_found', 'detection_not_found'],
  media: 'image/jpeg',
  response: null,
})

/** Inserts or updates by (gateway, id); committed before the answer. */
export const reportDetections = call({
  method: 'POST',
  path: '/v1/gateway/detections',
  body: z.strictObject({ detections: z.array(detection).min(1).max(500) }),
  signed: true,
  errors: ['gateway_unknown', 'signature_invalid', 'request_replayed', 'too_many_requests', 'hub_busy'],
  response: z.object({
    accepted: z.number().int(),
    /** Detections that were stored without their picture, because it is no JPEG or too large. */
    withoutPicture: z.array(z.string()).optional(),
  }),
})
