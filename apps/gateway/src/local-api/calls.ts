/** The calls of the device's local API, their errors, and the OpenAPI document that the device serves of them. */
import { detection, heartbeat, reportDetections, type Heartbeat } from '@hedgerow/contract'
import { z } from 'zod'

export const API_PATH = '/api/v1'

/** A status that only the device's own programs know; the next heartbeat carries it. */
export type DeviceReport = Partial<Pick<Heartbeat, 'cameras' | 'detectors' | 'deterrents' | 'problems'>>

const { cameras, detectors, deterrents, problems } = heartbeat.shape
const programStatus = z.strictObject({ cameras, detectors, deterrents, problems }).partial() as z.ZodType<DeviceReport>

const deviceStatus = z.object({
  version: z.string(),
  gatewayId: z.string().nullable().describe('Null until a hub has approved the gateway.'),
  armed: z.boolean().describe('Whether rules and programs may fire deterrents.'),
  cameras,
  detectors,
  deterrents,
  problems,
  detectionsWaiting: z.number().int().describe('How many wait for the hub.'),
  conditions: z
    .array(
      z.object({
        step: z.string(),
        label: z.string(),
        state: z.enum(['waiting', 'done', 'failed']),
        at: z.string().nullable(),
        detail: z.string(),
      }),
    )
    .describe('The steps from a new device to one that its hub hears.'),
})

const firing = z.object({
  id: z.string(),
  deterrent: z.string(),
  seconds: z.number(),
  until: z.number().describe('When it ends at the latest, in milliseconds since 1970.'),
})

const count = z.coerce.number().int().min(1).max(500).default(50)
const text = z.string().min(1).max(100).optional()
const time = z.iso.datetime({ offset: true }).optional()

/**
 * `:name` in a path is one segment, percent-encoded. A call with `media` answers a file of that type, the others JSON
 * of `response`.
 */
type LocalCall = {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  summary: string
  query?: z.ZodObject
  body?: z.ZodType
  /** When true, a request without a body is as good. */
  bodyOptional?: boolean
  response?: z.ZodType
  media?: string
}

export const localCalls = {
  reportDetections: {
    method: 'POST',
    path: '/detections',
    summary: 'Reports detections. The same id again brings a detection up to date.',
    body: reportDetections.body,
    response: z.object({ accepted: z.number().int().describe('How many are safe on the disk of the device.') }),
  },
  listDetections: {
    method: 'GET',
    path: '/detections',
    summary: 'The recent detections of this device, newest first.',
    query: z.strictObject({
      limit: count.describe('How many at most.'),
      camera: text,
      label: text,
      since: time.describe('Those that began at this time or later.'),
      before: time.describe('Those that began before this time.'),
    }),
    response: z.object({ detections: z.array(detection.omit({ thumbnail: true })) }),
  },
  readSnapshot: {
    method: 'GET',
    path: '/detections/:id/snapshot.jpg',
    summary: 'The picture of a detection.',
    query: z.strictObject({
      boxed: z.enum(['true', 'false']).optional().describe("With the object's box drawn, where it is known."),
    }),
    media: 'image/jpeg',
  },
  readClip: {
    method: 'GET',
    path: '/detections/:id/clip.mp4',
    summary: 'The film of a detection, whole or a range of it.',
    media: 'video/mp4',
  },
  listCameras: {
    method: 'GET',
    path: '/cameras',
    summary: 'The cameras of all sources.',
    response: z.object({ cameras }),
  },
  readLatest: {
    method: 'GET',
    path: '/cameras/:name/latest.jpg',
    summary: 'The newest picture of a camera.',
    query: z.strictObject({ height: z.coerce.number().int().min(16).max(4_320).optional().describe('In pixels.') }),
    media: 'image/jpeg',
  },
  fireDeterrent: {
    method: 'POST',
    path: '/deterrents/:name/fire',
    summary: 'Fires a deterrent, within the limits of gateway.yaml.',
    body: z.strictObject({ seconds: z.number().int().min(1).max(1_800).optional() }),
    bodyOptional: true,
    response: z.object({ firing }),
  },
  stopDeterrent: {
    method: 'POST',
    path: '/deterrents/:name/stop',
    summary: 'Switches a deterrent off.',
    response: z.object({}),
  },
  arm: {
    method: 'POST',
    path: '/arm',
    summary: 'Lets rules and programs fire deterrents.',
    response: z.object({ armed: z.boolean() }),
  },
  disarm: {
    method: 'POST',
    path: '/disarm',
    summary: 'Switches all deterrents off; nothing fires until the device is armed again.',
    response: z.object({ armed: z.boolean() }),
  },
  getStatus: {
    method: 'GET',
    path: '/status',
    summary: 'What the device tells the hub of itself.',
    response: deviceStatus,
  },
  putStatus: {
    method: 'PUT',
    path: '/status',
    summary: 'Replaces the named parts of what the next heartbeats tell the hub.',
    body: programStatus,
    response: z.object({}),
  },
} as const satisfies Record<string, LocalCall>

export const localErrors = {
  not_found: { status: 404, message: 'There is no such call.' },
  detection_not_found: { status: 404, message: 'The device has no detection of this id.' },
  deterrent_not_found: { status: 404, message: 'gateway.yaml has no deterrent of this name.' },
  no_picture: { status: 404, message: 'The device has no picture of this.' },
  method_not_allowed: { status: 405, message: 'This call takes another method.' },
  browser_refused: { status: 403, message: 'This API is for programs, not for pages in a browser.' },
  api_not_configured: { status: 403, message: 'Add sources.api to gateway.yaml to report detections.' },
  token_required: { status: 401, message: 'Send the token of gateway.yaml as Authorization: Bearer.' },
  unsupported_media_type: { status: 415, message: 'The body must be application/json.' },
  invalid_json: { status: 400, message: 'The body is not valid JSON.' },
  json_too_complex: { status: 400, message: 'The body holds too many values or is nested too deep.' },
  invalid_request: { status: 400, message: 'Some fields are not valid.' },
  payload_too_large: { status: 413, message: 'The body is larger than 2 MiB.' },
  not_fired: { status: 409, message: 'The deterrent was not fired.' },
  too_many_requests: { status: 429, message: 'Too many calls. Wait a second.' },
  camera_failed: { status: 502, message: 'The camera or the application behind it gave no picture.' },
  internal_error: { status: 500, message: "The call failed. The agent's log has the details." },
} as const

export type LocalErrorCode = keyof typeof localErrors
export function callOf(name: keyof typeof localCalls): LocalCall {
  return localCalls[name]
}
