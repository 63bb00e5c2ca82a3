/**
 * The calls of a device's local API, for programs of its owner, which the agent answers on port 8080 below
 * `LOCAL_API_BASE`. The OpenAPI document that the device serves is made of them.
 */
import { z } from 'zod'
import { deviceUpdates } from './agent-updates.ts'
import { call } from './call.ts'
import { detection, reportDetections } from './detections.ts'
import { FIRING_MAX_SECONDS } from './deterrents.ts'
import {
  clipErrors,
  deviceConditions,
  identified,
  named,
  pictureErrors,
  pictureSize,
  snapshotKind,
} from './device-parts.ts'
import { heartbeat, type Heartbeat } from './heartbeats.ts'
import { gatewayLearning, learningUndo } from './learning.ts'

export const LOCAL_API_BASE = '/api'

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
  conditions: deviceConditions.describe('The steps from a new device to one that is connected to its hub.'),
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

export const localCalls = {
  reportDetections: call({
    method: 'POST',
    path: '/v1/detections',
    summary: 'Reports detections. The same id again updates a detection.',
    body: reportDetections.body,
    response: z.object({ accepted: z.number().int().describe('How many detections are on the device’s disk.') }),
  }),
  listDetections: call({
    method: 'GET',
    path: '/v1/detections',
    summary: 'The recent detections of this device, newest first.',
    query: z.strictObject({
      limit: count.describe('The largest number of detections.'),
      camera: text,
      label: text,
      since: time.describe('Only detections that began at this time or later.'),
      before: time.describe('Only detections that began before this time.'),
    }),
    response: z.object({ detections: z.array(detection.omit({ thumbnail: true })) }),
  }),
  readSnapshot: call({
    method: 'GET',
    path: '/v1/detections/:id/snapshot.jpg',
    summary: 'The picture of a detection.',
    params: identified,
    query: snapshotKind,
    media: 'image/jpeg',
    response: null,
    errors: pictureErrors.snapshot,
  }),
  readClip: call({
    method: 'GET',
    path: '/v1/detections/:id/clip.mp4',
    summary: 'The clip of a detection, whole or a range of it.',
    params: identified,
    media: 'video/mp4',
    response: null,
    errors: clipErrors,
  }),
  listCameras: call({
    method: 'GET',
    path: '/v1/cameras',
    summary: 'The cameras of all sources.',
    response: z.object({ cameras }),
  }),
  readLatest: call({
    method: 'GET',
    path: '/v1/cameras/:name/latest.jpg',
    summary: 'The newest picture of a camera.',
    params: named,
    query: pictureSize,
    media: 'image/jpeg',
    response: null,
    errors: pictureErrors.latest,
  }),
  fireDeterrent: call({
    method: 'POST',
    path: '/v1/deterrents/:name/fire',
    summary: 'Fires a deterrent, within the limits of gateway.yaml.',
    params: named,
    body: z.strictObject({ seconds: z.number().int().min(1).max(FIRING_MAX_SECONDS).optional() }),
    bodyOptional: true,
    response: z.object({ firing }),
    errors: ['deterrent_not_found', 'not_fired'],
  }),
  stopDeterrent: call({
    method: 'POST',
    path: '/v1/deterrents/:name/stop',
    summary: 'Switches a deterrent off.',
    params: named,
    response: z.object({}),
    errors: ['deterrent_not_found'],
  }),
  arm: call({
    method: 'POST',
    path: '/v1/arm',
    summary: 'Lets rules and programs fire deterrents.',
    response: z.object({ armed: z.boolean() }),
    errors: ['not_armed'],
  }),
  disarm: call({
    method: 'POST',
    path: '/v1/disarm',
    summary: 'Switches all deterrents off; nothing fires until the device is armed again.',
    response: z.object({ armed: z.boolean() }),
  }),
  getStatus: call({
    method: 'GET',
    path: '/v1/status',
    summary: 'The status that the device reports to the hub.',
    response: deviceStatus,
  }),
  patchStatus: call({
    method: 'PATCH',
    path: '/v1/status',
    summary: 'Replaces these parts of the status that the next heartbeats report to the hub; the others stay.',
    body: programStatus,
    response: z.object({}),
  }),
  putStatus: call({
    method: 'PUT',
    path: '/v1/status',
    summary: 'As PATCH. Until the next minor version, after which it takes all parts.',
    body: programStatus,
    response: z.object({}),
  }),
  getLearning: call({
    method: 'GET',
    path: '/v1/learning',
    summary: 'What the device learned from reviews, by camera and label.',
    response: gatewayLearning,
  }),
  learnNow: call({
    method: 'POST',
    path: '/v1/learning/run',
    summary: 'Learns now, as it does every night. It goes on after the answer.',
    response: z.object({}),
  }),
  undoLearning: call({
    method: 'POST',
    path: '/v1/learning/undo',
    summary: 'Goes back to an earlier version of a camera and label, to the one before the active one, or to none.',
    body: learningUndo,
    response: z.object({
      undone: z.boolean().describe('False when none was active, or it cannot go back to the version.'),
    }),
  }),
  readModel: call({
    method: 'GET',
    path: '/v1/models/:name/archive.tgz',
    summary: 'A model that the hub hands out. Only for the command “hedgerow-gateway model add” on this device.',
    params: named,
    media: 'application/gzip',
    response: null,
  }),
  goBack: call({
    method: 'POST',
    path: '/v1/version/back',
    summary: 'Returns to the version before. Only for the command “hedgerow-gateway back” on this device.',
    response: z.object({ version: z.string().describe('The version that starts now.') }),
    errors: ['no_way_back'],
  }),
} as const
