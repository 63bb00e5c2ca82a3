/**
 * The calls of a device's own interface, which the agent answers on port 8080 below `DEVICE_API_BASE`: to a person whom
 * the hub vouches for, or who signed in with the device's password.
 */
import { z } from 'zod'
import { call } from './call.ts'
import { detection } from './detections.ts'
import { FIRING_MAX_SECONDS } from './deterrents.ts'
import { heartbeat } from './heartbeats.ts'

const { cameras, detectors, deterrents, problems } = heartbeat.shape
const named = z.strictObject({ name: z.string().min(1).max(200) })
const identified = z.strictObject({ id: z.string().min(1).max(200) })
const armed = z.object({ armed: z.boolean() })

const session = z.object({
  name: z.string(),
  /** `hub`: the hub says who asks; `device`: somebody who knows the device's password. */
  via: z.enum(['hub', 'device']),
  /** Whether this person may fire, arm and configure; everybody may look, stop and disarm. */
  mayManage: z.boolean(),
})
export type DeviceSession = z.output<typeof session>

const status = z.object({
  name: z.string(),
  location: z.string(),
  version: z.string(),
  /** Null until a hub has approved the gateway. */
  gatewayId: z.string().nullable(),
  hubUrl: z.string().nullable(),
  vpnAddress: z.string().nullable(),
  fingerprint: z.string(),
  hubFingerprint: z.string().nullable(),
  /** The steps from a new device to one that its hub hears. */
  conditions: z.array(
    z.object({
      step: z.string(),
      label: z.string(),
      state: z.enum(['waiting', 'done', 'failed']),
      at: z.string().nullable(),
      detail: z.string(),
    }),
  ),
  detectionsWaiting: z.number(),
  armed: z.boolean(),
  cameras,
  detectors,
  deterrents,
  problems,
})
export type DeviceStatus = z.output<typeof status>

export const deviceCalls = {
  getSession: call({ method: 'GET', path: '/v1/session', response: session }),
  /** Answers with the session's cookie. */
  signIn: call({
    method: 'POST',
    path: '/v1/session',
    body: z.strictObject({ password: z.string().min(1).max(200) }),
    response: session,
  }),
  signOut: call({ method: 'DELETE', path: '/v1/session', response: null }),
  getStatus: call({ method: 'GET', path: '/v1/status', response: status }),
  readLatest: call({
    method: 'GET',
    path: '/v1/cameras/:name/latest',
    params: named,
    query: z.strictObject({ height: z.coerce.number().int().min(16).max(4_320).optional() }),
    media: 'image/jpeg',
    response: null,
  }),
  /** Newest first. */
  listDetections: call({
    method: 'GET',
    path: '/v1/detections',
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(200).default(60),
      camera: z.string().min(1).max(100).optional(),
      label: z.string().min(1).max(100).optional(),
      before: z.iso.datetime({ offset: true }).optional(),
    }),
    response: z.array(detection.omit({ thumbnail: true })),
  }),
  readSnapshot: call({
    method: 'GET',
    path: '/v1/detections/:id/snapshot',
    params: identified,
    query: z.strictObject({ boxed: z.enum(['true', 'false']).optional() }),
    media: 'image/jpeg',
    response: null,
  }),
  readClip: call({
    method: 'GET',
    path: '/v1/detections/:id/clip',
    params: identified,
    media: 'video/mp4',
    response: null,
  }),
  fireDeterrent: call({
    method: 'POST',
    path: '/v1/deterrents/:name/fire',
    params: named,
    body: z.strictObject({ seconds: z.number().int().min(1).max(FIRING_MAX_SECONDS).optional() }),
    response: z.object({ seconds: z.number(), until: z.number() }),
  }),
  stopDeterrent: call({ method: 'POST', path: '/v1/deterrents/:name/stop', params: named, response: null }),
  stopAll: call({ method: 'POST', path: '/v1/stop', response: null }),
  arm: call({ method: 'POST', path: '/v1/arm', response: armed }),
  disarm: call({ method: 'POST', path: '/v1/disarm', response: armed }),
} as const

export type DeviceCalls = typeof deviceCalls
