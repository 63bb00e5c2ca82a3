import { z } from 'zod'
import { call } from './call.ts'
import { cleanLine, moment } from './fields.ts'
import { gatewayId } from './gateways.ts'
import { searchQuery } from './lists.ts'

export const hubStats = call({
  method: 'GET',
  path: '/v1/hub/stats',
  response: z.object({
    totalGateways: z.number().int(),
    /** Gateways whose status is online or warning. */
    activeGateways: z.number().int(),
    totalUsers: z.number().int(),
    /** Detections of severity alert since local midnight of the hub. */
    threats: z.number().int(),
  }),
})

/** What is wrong with the hub itself, for everybody signed in; empty when it works. */
export const hubProblems = call({
  method: 'GET',
  path: '/v1/hub/problems',
  response: z.array(z.object({ part: z.enum(['storage']), message: z.string() })),
})

export const activityEntry = z.object({
  id: z.string(),
  message: z.string(),
  timestamp: z.iso.datetime(),
  type: z.enum(['info', 'success', 'warning', 'error']),
  /** The gateway it is about; null for none, or one that was deleted. */
  gatewayId: gatewayId.nullable(),
})
export type ActivityEntry = z.output<typeof activityEntry>

/**
 * The newest 50 entries, or a page, of the gateways that the caller may see, newest first. `q` matches part of the
 * message, in the newest 10,000 entries.
 */
export const recentActivity = call({
  method: 'GET',
  path: '/v1/hub/activity/recent',
  query: searchQuery,
  response: z.array(activityEntry),
})

/** The last 24 hours, oldest first: 24 entries; the last one is the current hour. */
export const hubTimeline = call({
  method: 'GET',
  path: '/v1/hub/timeline',
  response: z.array(
    z.object({
      hour: z.iso.datetime(),
      /** The most gateways connected at once in that hour. */
      activeConnections: z.number().int(),
      /** Detections of severity alert in that hour. */
      threats: z.number().int(),
    }),
  ),
})

/** The bytes FF D8 FF as base64. */
const JPEG_START = '/9j/'
const THUMBNAIL_BASE64_LIMIT = Math.ceil((64 * 1024) / 3) * 4

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
})
export type Detection = z.output<typeof detection>

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

/** A JPEG as base64. Answers `detection_not_found` when there is none. */
export const readDetectionThumbnail = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/detections/:detectionId/thumbnail',
  params: z.strictObject({ id: gatewayId, detectionId: z.string().min(1).max(100) }),
  errors: ['gateway_not_found', 'detection_not_found'],
  response: z.object({ jpeg: z.string() }),
})

/** Inserts or updates by (gateway, id); committed before the answer. */
export const reportDetections = call({
  method: 'POST',
  path: '/v1/gateway/detections',
  body: z.strictObject({ detections: z.array(detection).min(1).max(500) }),
  signed: true,
  errors: ['gateway_unknown', 'signature_invalid', 'request_replayed', 'too_many_requests'],
  response: z.object({ accepted: z.number().int() }),
})
