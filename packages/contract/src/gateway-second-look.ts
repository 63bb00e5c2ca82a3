import { z } from 'zod'
import { call } from './call.ts'
import { verdict } from './detections.ts'
import { cleanLine } from './fields.ts'

/** The longest JPEG of a second look, in bytes. */
export const SECOND_LOOK_PICTURE_MAX_BYTES = 256 * 1024
/** The bytes FF D8 FF as base64. */
const JPEG_START = '/9j/'
/** A day. */
const PAUSE_MAX_SECONDS = 86_400

/**
 * For hubs that name the feature `second-look`: the hub asks its vision endpoint whether a picture shows what the
 * gateway's detector said. The answer is that of the endpoint, or `unsure` when it is late; the gateway stores it as a
 * verdict of the detection.
 */
export const askSecondLook = call({
  method: 'POST',
  path: '/v1/gateway/second-look',
  body: z.strictObject({
    label: cleanLine(100).min(1),
    camera: cleanLine(100).min(1),
    zone: cleanLine(100).optional(),
    /** When it was seen, in local time of the camera. */
    at: cleanLine(50).min(1),
    /** Normal things at this camera, in the owner's words. */
    normal: cleanLine(500).optional(),
    /** A JPEG of the object and its surroundings, as base64. */
    picture: z
      .base64()
      .max(Math.ceil(SECOND_LOOK_PICTURE_MAX_BYTES / 3) * 4)
      .startsWith(JPEG_START, 'Must be a JPEG'),
  }),
  signed: true,
  errors: [
    'gateway_unknown',
    'signature_invalid',
    'request_replayed',
    'too_many_requests',
    'hub_busy',
    'second_look_unavailable',
  ],
  response: z.object({
    ...verdict.pick({ by: true, outcome: true, score: true, reason: true }).shape,
    /** The gateway does not ask again before this time is over. */
    retryAfterSeconds: z.number().int().min(1).max(PAUSE_MAX_SECONDS).optional(),
  }),
})
