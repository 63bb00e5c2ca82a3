/**
 * The features of the hub beyond the first version of the protocol, from its last answer to a heartbeat. An older hub
 * refuses fields that it does not know, so they are left out until the hub has named their feature in this session.
 */
import {
  detectionDetails,
  detectionLearning,
  detectionSnoozed,
  deterrentDetails,
  deterrentProtection,
  heartbeatApplications,
  heartbeatCameraProblems,
  heartbeatDetails,
  heartbeatProtection,
  heartbeatRestarts,
  heartbeatSnoozes,
  updateDetails,
  type CameraState,
  type Detection,
  type GatewayFeature,
  type Heartbeat,
} from '@hedgerow/contract'

export type HubFeatures = {
  has(feature: GatewayFeature): boolean
  /** Whether a heartbeat of this session was answered, so that `has` knows the hub's features. */
  isKnown(): boolean
  /** The hub answered a heartbeat and named these features; an older hub names none. */
  learn(named: readonly string[] | undefined): void
  /** A new session begins, perhaps with another hub. */
  reset(): void
  /** The heartbeat without fields that this hub does not accept. */
  heartbeatFor(heartbeat: Heartbeat): Heartbeat
  /** The detections that this hub accepts: a hub without the filter for held-back detections does not get them. */
  detectionsFor(detections: readonly Detection[]): Detection[]
  /** The detections with the fields that every hub accepts. */
  withoutDetails(detections: readonly Detection[]): Detection[]
}

const DETECTION_DETAILS = new Set(Object.keys(detectionDetails.shape))
const DETECTION_SNOOZED = new Set(Object.keys(detectionSnoozed.shape))
const SNOOZES = new Set(Object.keys(heartbeatSnoozes.shape))
const DETECTION_LEARNING = new Set(Object.keys(detectionLearning.shape))
const HEARTBEAT_DETAILS = new Set(Object.keys(heartbeatDetails.shape))
const HEARTBEAT_APPLICATIONS = new Set(Object.keys(heartbeatApplications.shape))
const CAMERA_PROBLEMS = new Set(Object.keys(heartbeatCameraProblems.shape))
const RESTARTS = new Set(Object.keys(heartbeatRestarts.shape))
const UPDATE_DETAILS = new Set(Object.keys(updateDetails.shape))
const PROTECTION = new Set(Object.keys(heartbeatProtection.shape))
const DETERRENT_PROTECTION = new Set(Object.keys(deterrentProtection.shape))
const DETERRENT_DETAILS = new Set(Object.keys(deterrentDetails.shape))

export function createHubFeatures(): HubFeatures {
  let features: ReadonlySet<string> | undefined
  const has = (feature: GatewayFeature) => features?.has(feature) ?? false

  /**
   * An older hub offers each application to everybody who sees the gateway; this device refuses people who may not open
   * one.
   */
  function withApplications(heartbeat: Heartbeat): Heartbeat {
    if (has('application-roles') || !heartbeat.applications) return heartbeat
    return { ...heartbeat, applications: heartbeat.applications.map(({ name, title }) => ({ name, title })) }
  }

  return {
    has,
    isKnown: () => features !== undefined,
    learn: (named = []) => (features = new Set(named)),
    reset: () => (features = undefined),
    heartbeatFor(heartbeat) {
      const awake = has('snooze') ? heartbeat : withoutSnoozes(heartbeat)
      const whole = has('protection') ? awake : withoutProtection(awake)
      const counted = has('restarts') ? whole : without(RESTARTS, whole)
      const viewed = has('camera-views') ? counted : withoutStates(VIEWS, 'online', counted)
      const state = has('frozen-cameras') ? viewed : withoutStates(['frozen'], 'offline', viewed)
      const seen = has('camera-problems') ? state : without(CAMERA_PROBLEMS, state)
      const understood = has('updates') ? seen : without(UPDATE_DETAILS, seen)
      const sent = has('applications') ? withApplications(understood) : without(HEARTBEAT_APPLICATIONS, understood)
      if (has('heartbeat-details')) return sent
      const deterrents = sent.deterrents.map((deterrent) => without(DETERRENT_DETAILS, deterrent))
      return { ...without(HEARTBEAT_DETAILS, sent), deterrents }
    },
    detectionsFor(detections) {
      const shown = has('learning') ? detections : withoutLearning(detections)
      const marked = has('snooze') ? shown : shown.map((entry) => without(DETECTION_SNOOZED, entry))
      return has('detection-details') ? [...marked] : marked.map((entry) => without(DETECTION_DETAILS, entry))
    },
    withoutDetails: (detections) =>
      withoutLearning(detections).map((entry) => without(DETECTION_SNOOZED, without(DETECTION_DETAILS, entry))),
  }
}

function withoutProtection(heartbeat: Heartbeat): Heartbeat {
  const deterrents = heartbeat.deterrents.map((deterrent) => without(DETERRENT_PROTECTION, deterrent))
  return { ...without(PROTECTION, heartbeat), deterrents }
}

/** To an older hub a snoozed gateway is disarmed; it knows nothing of single cameras. */
function withoutSnoozes(heartbeat: Heartbeat): Heartbeat {
  const whole = heartbeat.snoozes?.find(({ camera }) => camera === null)
  const disarmed = heartbeat.disarmed ?? (whole && { by: whole.by, at: whole.at, until: whole.until })
  return { ...without(SNOOZES, heartbeat), ...(disarmed && { disarmed }) }
}

const VIEWS = ['covered', 'turned', 'unfocused'] as const

/** An older hub counts a frozen camera as offline: it sees nothing. Others are online, and their problem says more. */
function withoutStates(states: readonly CameraState[], instead: CameraState, heartbeat: Heartbeat): Heartbeat {
  const cameras = heartbeat.cameras.map((one) => (states.includes(one.state) ? { ...one, state: instead } : one))
  return { ...heartbeat, cameras }
}

/** Leaves out held-back detections: on that hub they would be threats like all others. */
function withoutLearning(detections: readonly Detection[]): Detection[] {
  return detections.filter(({ suppressed }) => !suppressed).map((entry) => without(DETECTION_LEARNING, entry))
}

/** All these fields are optional in `T`. */
function without<T extends object>(names: ReadonlySet<string>, value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name))) as T
}
