import { z } from 'zod'
import { updateDetails, wantedUpdate } from './agent-updates.ts'
import { applications } from './applications.ts'
import { call } from './call.ts'
import { cleanLine, epochMs } from './fields.ts'
import { reviewSeq } from './gateway-reviews.ts'
import { heartbeatSnoozes } from './snoozes.ts'

const label = cleanLine(200)
/** A hundred years. */
const UPTIME_MAX_SECONDS = 3_155_760_000
/** No kernel reports more, because it cannot count so many processes. */
export const LOAD_MAX = 100_000
export const TEMPERATURE_MIN = -100
export const TEMPERATURE_MAX = 300
const INFERENCE_MAX_MS = 3_600_000
const SECONDS_AN_HOUR = 3_600
const COUNT_MAX = 1_000_000_000

/**
 * The features of a hub beyond the first version of the protocol, which its answer to a heartbeat names. A gateway
 * sends a feature's fields only after the hub named it in this session: an older hub refuses fields that it does not
 * know. The fields of a feature never change; new fields come with a new name.
 */
export const GATEWAY_FEATURES = [
  'detection-details',
  'heartbeat-details',
  'ledger',
  'learning',
  'applications',
  'application-roles',
  'updates',
  'camera-problems',
  'frozen-cameras',
  'restarts',
  'protection',
  'ledger-of-people',
  'camera-views',
  'snooze',
] as const
/** Named by a hub that has a vision endpoint for its gateways. */
export const SECOND_LOOK_FEATURE = 'second-look'
export type GatewayFeature = (typeof GATEWAY_FEATURES)[number] | typeof SECOND_LOOK_FEATURE

/** The parts of a deterrent's state that come with the feature `heartbeat-details`. */
export const deterrentDetails = z.strictObject({
  /** The kind of device: `shelly`, `mqtt`, … */
  driver: label.optional(),
  /** When it switches off by itself, by the device's wall clock; null while it is off. */
  until: epochMs.nullable().optional(),
  /** The seconds that its budget has left in this hour. */
  secondsLeftThisHour: z.number().min(0).max(SECONDS_AN_HOUR).optional(),
})

/** The part of a deterrent's state that comes with the feature `protection`. */
export const deterrentProtection = z.strictObject({
  /**
   * Why it would refuse to fire now, as a code such as `cool_down`, and until when by the device's wall clock if that
   * is known. `not_armed_now`: only rules and programs may not fire it.
   */
  blocked: z.strictObject({ code: cleanLine(50).min(1), until: epochMs.nullable() }).optional(),
})

/** The part of a heartbeat that comes with the feature `protection`. */
export const heartbeatProtection = z.strictObject({
  /** By whom it is disarmed, since when, and until when; `until` is null until somebody arms it. */
  disarmed: z.strictObject({ by: label, at: epochMs, until: epochMs.nullable() }).optional(),
  /** Of the place where it is, such as `Europe/Berlin`. */
  timeZone: label.optional(),
})

/** The parts of a heartbeat that come with the feature `heartbeat-details`. */
export const heartbeatDetails = z.strictObject({
  /** Whether rules may fire deterrents. */
  armed: z.boolean().optional(),
  learning: z
    .strictObject({
      state: z.enum(['off', 'waiting', 'running', 'failed']),
      /** When the last run ended. */
      lastRunAt: epochMs.nullable(),
      /** The result of the last run, or what learning lacks, in a sentence. */
      message: cleanLine(500),
    })
    .optional(),
  /** Detections that wait for the hub, and those that were lost since the agent started. */
  queue: z
    .strictObject({ waiting: z.number().int().min(0).max(COUNT_MAX), lost: z.number().int().min(0).max(COUNT_MAX) })
    .optional(),
})

/** The part of a heartbeat that comes with the feature `applications`. */
export const heartbeatApplications = z.strictObject({ applications: applications.optional() })

/** The part of a heartbeat that comes with the feature `camera-problems`. */
export const heartbeatCameraProblems = z.strictObject({
  /** What is wrong with a camera, in a sentence; it may be in `problems` too. */
  cameraProblems: z
    .array(z.strictObject({ camera: label, problem: label }))
    .max(64)
    .optional(),
})

/**
 * `frozen`: it sends the same picture again and again. Only for hubs that named the feature `frozen-cameras`; to others
 * such a camera is `offline`. `covered`, `turned`, `unfocused`: against its own usual pictures. Only for hubs that
 * named the feature `camera-views`; to others such a camera is `online`, with a problem.
 */
export const cameraState = z.enum(['online', 'frozen', 'covered', 'turned', 'unfocused', 'offline', 'disabled'])
export type CameraState = z.output<typeof cameraState>
/** It watches nothing, or not what it should. */
export type BlindState = Exclude<CameraState, 'online' | 'disabled'>

/** The part of a heartbeat that comes with the feature `restarts`. */
export const heartbeatRestarts = z.strictObject({
  /** Starts of the agent after an end that nobody asked for: no stop, no update, and no start of the device. */
  restarts: z
    .strictObject({
      sinceBoot: z.number().int().min(0).max(COUNT_MAX),
      /** Of those since the device started. */
      lastHour: z.number().int().min(0).max(COUNT_MAX),
      lastDay: z.number().int().min(0).max(COUNT_MAX),
      /** The end before the last of them, as `an uncaught TypeError`; empty for none. */
      reason: label,
    })
    .optional(),
})

/** The report that a gateway sends every 30 s. Fractions are 0 to 1, temperatures degrees Celsius. */
export const heartbeat = z.strictObject({
  /** New at every boot of the device. Two at the same time with one identity mean a cloned device. */
  bootId: cleanLine(64).min(8),
  sequence: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  uptimeSeconds: z.number().min(0).max(UPTIME_MAX_SECONDS),
  version: label,
  /** The device's wall clock when it sent this, in milliseconds since 1970. */
  clock: epochMs,
  /** Load average over one minute, divided by the number of processors. */
  load: z.number().min(0).max(LOAD_MAX),
  memory: z.number().min(0).max(1),
  disk: z.number().min(0).max(1),
  temperature: z.number().min(TEMPERATURE_MIN).max(TEMPERATURE_MAX).nullable(),
  cameras: z
    .array(
      z.strictObject({
        name: label,
        state: cameraState,
        fps: z.number().min(0).max(1_000),
      }),
    )
    .max(64),
  detectors: z.array(z.strictObject({ name: label, inferenceMs: z.number().min(0).max(INFERENCE_MAX_MS) })).max(16),
  deterrents: z
    .array(
      z.strictObject({
        name: label,
        state: z.enum(['ready', 'active', 'fault']),
        ...deterrentDetails.shape,
        ...deterrentProtection.shape,
      }),
    )
    .max(64),
  /** Any other problem, one sentence each. */
  problems: z.array(label).max(32),
  ...heartbeatDetails.shape,
  ...heartbeatApplications.shape,
  ...updateDetails.shape,
  ...heartbeatCameraProblems.shape,
  ...heartbeatRestarts.shape,
  ...heartbeatProtection.shape,
  ...heartbeatSnoozes.shape,
})
export type Heartbeat = z.output<typeof heartbeat>

/** Through the tunnel, where the source address is the identity; or signed, on the public API, when UDP is blocked. */
export const sendHeartbeat = call({
  method: 'POST',
  path: '/v1/gateway/heartbeat',
  body: heartbeat,
  signed: true,
  errors: ['gateway_unknown', 'signature_invalid', 'request_replayed', 'too_many_requests', 'hub_busy'],
  response: z.object({
    serverTime: epochMs,
    settings: z.object({ heartbeatIntervalSeconds: z.number().int().min(1).max(86_400) }),
    /**
     * `GATEWAY_FEATURES` of this hub, and `SECOND_LOOK_FEATURE`; an older hub names none, a newer one may name more.
     */
    features: z.array(z.string()).optional(),
    /** The number of the newest review of its detections, 0 without any; an older hub sends none. */
    reviews: reviewSeq.optional(),
    /** The release that the gateway should run; absent when the hub asks for none. */
    update: wantedUpdate.optional(),
  }),
})

/** The gateway's own `GET /api/health` on port 8080, readable from the hub's origin. */
export const gatewayHealth = z.object({
  status: z.literal('ok'),
  /** Null until a hub has approved the gateway. */
  gatewayId: z.string().nullable(),
  version: z.string(),
  uptimeSeconds: z.number().min(0).max(UPTIME_MAX_SECONDS),
})
export type GatewayHealth = z.output<typeof gatewayHealth>
