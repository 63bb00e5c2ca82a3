/** The calls of the device's local API; the OpenAPI document that the device serves is made of them. */
import {
  detection,
  deviceUpdates,
  heartbeat,
  reportDetections,
  type Heartbeat,
  gatewayLearning,
  learningUndo,
} from '@hedgerow/contract'
import { z } from 'zod'
import type { DeviceCall } from '../../calls/dispatcher.ts'

export const API_PATH = '/api/v1'

/** The status that the device's own programs report, for the next heartbeat. */
export type DeviceReport = Partial<Pick<Heartbeat, 'cameras' | 'detectors' | 'deterrents' | 'problems'>>

const { cameras, detectors, deterrents, problems } = heartbeat.shape
const programStatus = z.strictObject({ cameras, detectors, deterrents, problems }).partial() as z.ZodType<DeviceReport>

const deviceStatus = z.object({
  version: z.string(),
  hubUrl: z.string().nullable().describe('The hub’s address; null while none is found.'),
  gatewayId: z.string().nullable().describe('Null until a hub has approved the gateway.'),
  armed: z.boolean().describe('Whether rules and programs may fire deterrents.'),
  cameras,
  detectors,
  deterrents,
  problems,
  detectionsWaiting: z.number().int().describe('How many detections wait for the hub.'),
  updates: deviceUpdates.describe('The version that runs, and updates.'),
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
    .describe('The steps from a new device to one that is connected to its hub.'),
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

type LocalCall = DeviceCall & { summary: string }

export const localCalls = {
  reportDetections: {
    method: 'POST',
    path: '/detections',
    summary: 'Reports detections. The same id again updates a detection.',
    body: reportDetections.body,
    response: z.object({ accepted: z.number().int().describe('How many detections are on the device’s disk.') }),
  },
  listDetections: {
    method: 'GET',
    path: '/detections',
    summary: 'The recent detections of this device, newest first.',
    query: z.strictObject({
      limit: count.describe('The largest number of detections.'),
      camera: text,
      label: text,
      since: time.describe('Only detections that began at this time or later.'),
      before: time.describe('Only detections that began before this time.'),
    }),
    response: z.object({ detections: z.array(detection.omit({ thumbnail: true })) }),
  },
  readSnapshot: {
    method: 'GET',
    path: '/detections/:id/snapshot.jpg',
    summary: 'The picture of a detection.',
    query: z.strictObject({
      boxed: z.enum(['true', 'false']).optional().describe("With the object's box drawn, if it is known."),
    }),
    media: 'image/jpeg',
  },
  readClip: {
    method: 'GET',
    path: '/detections/:id/clip.mp4',
    summary: 'The clip of a detection, whole or a range of it.',
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
    summary: 'The status that the device reports to the hub.',
    response: deviceStatus,
  },
  patchStatus: {
    method: 'PATCH',
    path: '/status',
    summary: 'Replaces these parts of the status that the next heartbeats report to the hub; the others stay.',
    body: programStatus,
    response: z.object({}),
  },
  putStatus: {
    method: 'PUT',
    path: '/status',
    summary: 'As PATCH. Until the next minor version, after which it takes all parts.',
    body: programStatus,
    response: z.object({}),
  },
  getLearning: {
    method: 'GET',
    path: '/learning',
    summary: 'What the device learned from reviews, by camera and label.',
    response: gatewayLearning,
  },
  learnNow: {
    method: 'POST',
    path: '/learning/run',
    summary: 'Learns now, as it does every night. It goes on after the answer.',
    response: z.object({}),
  },
  undoLearning: {
    method: 'POST',
    path: '/learning/undo',
    summary: 'Goes back to an earlier version of a camera and label, to the one before the active one, or to none.',
    body: learningUndo,
    response: z.object({
      undone: z.boolean().describe('False when none was active, or it cannot go back to the version.'),
    }),
  },
  readModel: {
    method: 'GET',
    path: '/models/:name/archive.tgz',
    summary: 'A model that the hub hands out. Only for the command “hedgerow-gateway model add” on this device.',
    media: 'application/gzip',
  },
  goBack: {
    method: 'POST',
    path: '/version/back',
    summary: 'Returns to the version before. Only for the command “hedgerow-gateway back” on this device.',
    response: z.object({ version: z.string().describe('The version that starts now.') }),
  },
} as const satisfies Record<string, LocalCall>

export function callOf(name: keyof typeof localCalls): LocalCall {
  return localCalls[name]
}
