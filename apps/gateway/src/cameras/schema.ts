import { z } from 'zod'

const PROTOCOLS = ['http:', 'https:', 'rtsp:', 'rtsps:', 'rtmp:', 'rtmps:']
const NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$/

const share = z.number().min(0).max(1)
const polygon = z
  .array(z.tuple([share, share]))
  .min(3, 'A polygon has at least three corners.')
  .max(100)

const name = z.string().regex(NAME, 'A name has letters, digits, spaces and . _ -, at most 100 characters.')

export const MINIMUM_SCORE_LEAST = 0.1
export const minimumScore = z.number().min(MINIMUM_SCORE_LEAST).max(1)

export const cameraAddress = z
  .string()
  .max(1_000)
  .refine(
    (text) => URL.canParse(text) && PROTOCOLS.includes(new URL(text).protocol) && new URL(text).hostname !== '',
    'This must be an address that begins with http, https, rtsp, rtsps, rtmp or rtmps.',
  )
  .refine(isDecodable, 'A % in the user name or the password is written %25.')

function isDecodable(text: string): boolean {
  if (!URL.canParse(text)) return true
  const { username, password } = new URL(text)
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

const camera = z.strictObject({
  url: cameraAddress
    .optional()
    .describe(
      'MJPEG or a snapshot over HTTP; anything else through FFmpeg. Leave it out for a camera of Frigate or of a program; rules can then name that camera. User and password may be part of it: `rtsp://viewer:${GATE_PASSWORD}@HOST/stream2`.',
    ),
  framesPerSecond: z.number().min(0.2).max(30).default(5).describe('How many pictures a second are looked at.'),
  minimumScore: minimumScore
    .optional()
    .describe(
      'How sure a detection of this camera must be at least once, 0 to 1; the value of `sources.eye` when left out.',
    ),
  zones: z.record(name, polygon).default({}).describe('Places by name: corners in shares of the picture, 0 to 1.'),
  masks: z.array(polygon).max(64).default([]).describe('Movement in here is ignored.'),
  hardwareDecoding: z
    .enum(['none', 'auto', 'vaapi', 'v4l2m2m', 'drm', 'cuda', 'qsv', 'videotoolbox'])
    .default('none')
    .describe("FFmpeg's `-hwaccel`; `v4l2m2m` is a Raspberry Pi's decoder of H.264."),
})

/** The part `cameras` of gateway.yaml: each camera by its name. */
export const camerasSettings = z
  .record(name, camera)
  .refine((cameras) => Object.keys(cameras).length <= 64, 'A gateway has at most 64 cameras.')
export type ListedCamera = z.output<typeof camera>
/** A camera that the gateway itself reads. */
export type CameraSettings = ListedCamera & { url: string }

export function hasUrl(settings: ListedCamera): settings is CameraSettings {
  return settings.url !== undefined
}
