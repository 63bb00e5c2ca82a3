import { z } from 'zod'

const PROTOCOLS = ['http:', 'https:', 'rtsp:', 'rtsps:', 'rtmp:', 'rtmps:']
const NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$/

const share = z.number().min(0).max(1)
const polygon = z
  .array(z.tuple([share, share]))
  .min(3, 'A polygon has at least three corners.')
  .max(100)

const name = z.string().regex(NAME, 'A name has letters from a to z, digits, spaces and . _ -, at most 100 characters.')

/** Whether it may stand below `cameras`; programs may report others. */
export const isCameraName = (text: string) => NAME.test(text)

export const MINIMUM_SCORE_LEAST = 0.1
export const minimumScore = z.number().min(MINIMUM_SCORE_LEAST).max(1)
/** For a label that neither the file nor the model has a score for. */
export const USUAL_SCORE = 0.6

/** By label. */
export const scores = z.record(z.string().min(1).max(100), minimumScore)
/** How many squares a model looks at, unless the file says another number. */
export const REGIONS = 2
export const regions = z.number().int().min(0).max(4)
const sizeLimits = z
  .strictObject({
    minimumArea: share.optional(),
    maximumArea: share.optional(),
    minimumShape: z.number().min(0).max(100).optional(),
    maximumShape: z.number().min(0).max(100).optional(),
  })
  .refine(
    ({ minimumArea = 0, maximumArea = 1, minimumShape = 0, maximumShape = Infinity }) =>
      minimumArea < maximumArea && minimumShape < maximumShape,
    'A minimum is less than its maximum.',
  )
export type SizeLimits = z.output<typeof sizeLimits>
export const sizes = z.record(z.string().min(1).max(100), sizeLimits)

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
      'The address of its pictures. The gateway reads MJPEG and snapshots over HTTP itself, anything else with ' +
        'FFmpeg. Leave it out for a camera of Frigate or of another program, so that rules can name that camera. ' +
        'The address may hold a user and a password: `rtsp://viewer:${GATE_PASSWORD}@HOST/stream2`.',
    ),
  framesPerSecond: z.number().min(0.2).max(30).default(5).describe('How many pictures a second the eye looks at.'),
  transport: z
    .enum(['tcp', 'udp'])
    .default('tcp')
    .describe(
      'How a camera with `rtsp` or `rtsps` sends its video. Over UDP a lost packet damages whole seconds, so ' +
        '`udp` is for cameras that offer nothing else.',
    ),
  minimumScore: minimumScore
    .optional()
    .describe('The score that a detection of this camera must reach, 0 to 1; when left out, that of `sources.eye`.'),
  zones: z
    .record(name, polygon)
    .default({})
    .describe('Areas by name: the corners of each, as shares of the width and the height, 0 to 1.'),
  masks: z
    .array(polygon)
    .max(64)
    .default([])
    .describe('Areas in which movement is ignored, with corners like those of `zones`.'),
  objectMasks: z
    .array(polygon)
    .max(64)
    .default([])
    .describe(
      'Areas in which no object stands: one whose foot, the middle of the lower edge of its box, is inside is ' +
        'not reported. Persons there keep water off.',
    ),
  scores: scores.optional().describe('As `scores` of `sources.eye`, for this camera.'),
  sizes: sizes.optional().describe('As `sizes` of `sources.eye`, for this camera.'),
  regions: regions.optional().describe('As `regions` of `sources.eye`, for this camera.'),
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
