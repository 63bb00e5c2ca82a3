/**
 * The gateway calls as hubs of the first version check them: strict, so that a field of later versions is refused. Kept
 * as they were, to test that an agent of today works with such a hub; never changed.
 */
import { z } from 'zod'

const label = z.string().max(200)
const epochMs = z.number().int().min(0).max(253_402_300_799_999)
const moment = z.iso.datetime().max(30)

export const firstHeartbeat = z.strictObject({
  bootId: z.string().min(8).max(64),
  sequence: z.number().int().min(0),
  uptimeSeconds: z.number().min(0).max(3_155_760_000),
  version: label,
  clock: epochMs,
  load: z.number().min(0).max(100_000),
  memory: z.number().min(0).max(1),
  disk: z.number().min(0).max(1),
  temperature: z.number().min(-100).max(300).nullable(),
  cameras: z
    .array(
      z.strictObject({
        name: label,
        state: z.enum(['online', 'offline', 'disabled']),
        fps: z.number().min(0).max(1_000),
      }),
    )
    .max(64),
  detectors: z.array(z.strictObject({ name: label, inferenceMs: z.number().min(0).max(3_600_000) })).max(16),
  deterrents: z.array(z.strictObject({ name: label, state: z.enum(['ready', 'active', 'fault']) })).max(64),
  problems: z.array(label).max(32),
})

const firstDetection = z.strictObject({
  id: z.string().min(1).max(100),
  camera: z.string().min(1).max(100),
  label: z.string().min(1).max(100),
  severity: z.enum(['alert', 'detection']),
  score: z.number().min(0).max(1),
  startedAt: moment,
  endedAt: moment.optional(),
  thumbnail: z.base64().max(87_384).startsWith('/9j/').optional(),
  validated: z.boolean().optional(),
  falsePositive: z.boolean().optional(),
  deterrent: z.string().max(100).optional(),
})

export const firstDetections = z.strictObject({ detections: z.array(firstDetection).min(1).max(500) })
