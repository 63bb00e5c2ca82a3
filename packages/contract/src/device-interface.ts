/**
 * The calls of a device's own interface, which the agent answers on port 8080 below `DEVICE_API_BASE`: to a person that
 * the hub names, or that signed in with the device's password.
 */
import { z } from 'zod'
import { deviceUpdates } from './agent-updates.ts'
import { call } from './call.ts'
import {
  clipErrors,
  deviceConditions,
  identified,
  named,
  pictureErrors,
  pictureSize,
  snapshotKind,
} from './device-parts.ts'
import { box, detection } from './detections.ts'
import { deterrentSetupCalls } from './deterrent-setup.ts'
import { FIRING_MAX_SECONDS, ledgerEntry } from './deterrents.ts'
import { disarmTime } from './gateway-door.ts'
import { heartbeat, heartbeatProtection } from './heartbeats.ts'
import { cameraName, heartbeatSnoozes, snoozeLasts } from './snoozes.ts'
import { gatewayLearning, learningUndo, namesUndo } from './learning.ts'

const { cameras, detectors, deterrents, problems } = heartbeat.shape
const armed = z.object({ armed: z.boolean() })

/** Of calls that change gateway.yaml, and of those that need the password which that needs. */
const ofPasswords = ['password_required', 'wrong_password'] as const
const ofChanges = [...ofPasswords, 'file_changed', 'file_invalid', 'file_unwritable'] as const
const ofCameras = ['file_invalid', 'camera_not_found'] as const

const devicePassword = z.string().min(1).max(200)
const fileText = z.string().max(1_000_000)
const path = z.array(z.union([z.string().max(200), z.number().int().min(0)]))
/** Line and column count from 1. The message begins with the path, if there is one. */
const fileError = z.object({ line: z.number(), column: z.number(), message: z.string(), path: path.optional() })
export type DeviceFileError = z.output<typeof fileError>

const share = z.number().min(0).max(1)
const shape = z
  .array(z.tuple([share, share]))
  .min(3)
  .max(100)
/** The name of a camera or a zone. */
const placeName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$/,
    'A name has letters from a to z, digits, spaces and . _ -, at most 100 characters.',
  )

const labelled = z.string().min(1).max(100)
/** What the eye wants of objects, by label, as in gateway.yaml. */
const eyeOptions = {
  scores: z.record(labelled, z.number().min(0.1).max(1)),
  /** Areas are shares of the picture; a shape is width divided by height. */
  sizes: z.record(
    labelled,
    z.strictObject({
      minimumArea: share.optional(),
      maximumArea: share.optional(),
      minimumShape: z.number().min(0).max(100).optional(),
      maximumShape: z.number().min(0).max(100).optional(),
    }),
  ),
  /** How many squares around what moves a model looks at. */
  regions: z.number().int().min(0).max(4),
}

/** The fields of a camera in gateway.yaml that may be changed; omitted fields stay. */
const cameraChange = z.strictObject({
  zones: z.record(placeName, shape).optional(),
  masks: z.array(shape).max(64).optional(),
  objectMasks: z.array(shape).max(64).optional(),
  ...z.strictObject(eyeOptions).partial().shape,
  framesPerSecond: z.number().min(0.2).max(30).optional(),
  minimumScore: z.number().min(0.1).max(1).optional(),
})
export type CameraChange = z.output<typeof cameraChange>
/** `hash`: the hash of the file when it was read, so that nobody's change is lost. `password`: as for `saveFile`. */
const fileChange = { hash: z.string().max(100), password: devicePassword.optional() }

/**
 * A change of one value of gateway.yaml, as it would be written there: `${NAME}` and `!file PATH` name secrets. Without
 * a value it is deleted; the number behind a list's last item adds one. Everything else keeps its bytes.
 */
const edits = z
  .array(z.strictObject({ path: path.min(1).max(12), value: z.json().optional() }))
  .min(1)
  .max(50)
export type SettingsEdit = z.output<typeof edits>[number]
/** What is wrong with the value at a path, for the field that has it. */
const finding = z.object({ path, message: z.string() })

const rehearsal = z.object({
  /** In their order. */
  rules: z.array(
    z.object({
      name: z.string(),
      sentence: z.string(),
      /** How often it would have fired in the last 24 hours. */
      fired: z.number(),
      /** The same with the file on disk; null for a rule of another name. */
      firedBefore: z.number().nullable(),
      /** Why it did not fire, most often, for what has its labels; null when nothing such was there. */
      reason: z.string().nullable(),
    }),
  ),
  /** Those that a rule would have fired for, newest first. */
  detections: z.array(
    z.object({
      id: z.string(),
      label: z.string(),
      camera: z.string(),
      score: z.number(),
      startedAt: z.string(),
      /** The names of the rules, after the change and with the file on disk. */
      rules: z.array(z.string()),
      rulesBefore: z.array(z.string()),
    }),
  ),
})
export type Rehearsal = z.output<typeof rehearsal>

const cameraSettings = z.object({
  /** The hash of gateway.yaml on disk. */
  hash: z.string(),
  zones: z.record(z.string(), shape),
  masks: z.array(shape),
  objectMasks: z.array(shape),
  /** Its own values, else those of the eye. */
  ...eyeOptions,
  framesPerSecond: z.number(),
  /** Its own value, else that of the eye; null when the eye does not look at it. */
  minimumScore: z.number().nullable(),
})
export type CameraSettings = z.output<typeof cameraSettings>

/** The address in the form of gateway.yaml: `${NAME}` is replaced by a variable. */
const cameraAddress = z.string().trim().min(1).max(1_000)
const trial = z.object({
  isOnline: z.boolean(),
  fps: z.number(),
  /** Sentences for people. */
  problems: z.array(z.string()),
})

const foundCamera = z.object({
  host: z.string(),
  /** Why its streams are unknown, in words. */
  problem: z.string().nullable(),
  /** Addresses without user and password; `isBest` marks the recommended one of those with the same `name`. */
  streams: z.array(
    z.object({ name: z.string(), url: z.string(), profile: z.string(), video: z.string(), isBest: z.boolean() }),
  ),
})
export type FoundCamera = z.output<typeof foundCamera>

const session = z.object({
  name: z.string(),
  /** `hub`: a person that the hub names; `device`: somebody who knows the device's password. */
  via: z.enum(['hub', 'device']),
  /** Whether this person may fire, arm and configure; everybody may look, stop and disarm. */
  mayManage: z.boolean(),
  /** Whether the device's password was given in this visit: calls that take it need none then. */
  confirmed: z.boolean(),
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
  conditions: deviceConditions,
  detectionsWaiting: z.number(),
  updates: deviceUpdates,
  armed: z.boolean(),
  ...heartbeatProtection.shape,
  ...heartbeatSnoozes.shape,
  /**
   * Each with the problems that are about it. `overlays`: what the camera writes into its picture, where nothing
   * wakes the eye.
   */
  cameras: z.array(z.object({ ...cameras.element.shape, problems, overlays: z.array(box) })),
  /** Empty while no camera gives the eye a good picture. */
  detectors,
  /** `sources.eye.model`; null when nothing of the device looks at cameras. */
  model: z.string().nullable(),
  deterrents,
  problems,
})
export type DeviceStatus = z.output<typeof status>

const detectorState = z.object({
  /** The hash of gateway.yaml on disk. */
  hash: z.string(),
  /** `sources.eye.model`; null when nothing of the device looks at cameras. */
  model: z.string().nullable(),
  /** The detector that `addDetector` adds. */
  offered: z.object({
    name: z.string(),
    page: z.string(),
    megabytes: z.number(),
    licence: z.object({ name: z.string(), url: z.string().nullable() }),
  }),
  isAdded: z.boolean(),
  /** What adding does now, in words; null when it does nothing. */
  step: z.string().nullable(),
  /** Why the last try failed, in words. */
  failure: z.string().nullable(),
})

/** An object that the device follows now. */
export type LiveBox = { label: string; score: number; box: { x: number; y: number; width: number; height: number } }

export const deviceCalls = {
  getSession: call({ method: 'GET', path: '/v1/session', response: session }),
  /** Answers with the session's cookie. */
  signIn: call({
    method: 'POST',
    path: '/v1/session',
    body: z.strictObject({ password: devicePassword }),
    response: session,
    errors: ['wrong_password'],
  }),
  signOut: call({ method: 'DELETE', path: '/v1/session', response: null }),
  getStatus: call({ method: 'GET', path: '/v1/status', response: status }),
  /** The objects in the picture are in the header `LIVE_BOXES_HEADER`. */
  readLatest: call({
    method: 'GET',
    path: '/v1/cameras/:name/latest',
    params: named,
    query: pictureSize,
    media: 'image/jpeg',
    response: null,
    errors: pictureErrors.latest,
  }),
  /** Of a camera that is covered, turned or out of focus: its last usual picture, or the first other one. */
  readView: call({
    method: 'GET',
    path: '/v1/cameras/:name/view/:moment',
    params: named.extend({ moment: z.enum(['before', 'after']) }),
    media: 'image/jpeg',
    response: null,
    errors: ['no_picture'],
  }),
  /** What the camera sees from now on is its usual picture. */
  acceptView: call({
    method: 'POST',
    path: '/v1/cameras/:name/view',
    params: named,
    response: null,
    errors: ['no_picture'],
  }),
  /** What moves in the camera's overlays wakes the eye again, for good. */
  lookAtOverlays: call({
    method: 'DELETE',
    path: '/v1/cameras/:name/overlays',
    params: named,
    response: null,
    errors: ['camera_not_found'],
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
      /** Only detections that learning holds back, or asks people about again; all when left out. */
      learning: z.enum(['hidden', 'doubtful']).optional(),
    }),
    response: z.array(detection.omit({ thumbnail: true })),
  }),
  readSnapshot: call({
    method: 'GET',
    path: '/v1/detections/:id/snapshot',
    params: identified,
    query: snapshotKind,
    media: 'image/jpeg',
    response: null,
    errors: pictureErrors.snapshot,
  }),
  readClip: call({
    method: 'GET',
    path: '/v1/detections/:id/clip',
    params: identified,
    media: 'video/mp4',
    response: null,
    errors: clipErrors,
  }),
  fireDeterrent: call({
    method: 'POST',
    path: '/v1/deterrents/:name/fire',
    params: named,
    body: z.strictObject({ seconds: z.number().int().min(1).max(FIRING_MAX_SECONDS).optional() }),
    response: z.object({ seconds: z.number(), until: z.number() }),
    errors: ['deterrent_not_found', 'not_fired'],
  }),
  stopDeterrent: call({
    method: 'POST',
    path: '/v1/deterrents/:name/stop',
    params: named,
    response: null,
    errors: ['deterrent_not_found'],
  }),
  /** Newest first; `before` is the `id` of the last known entry. */
  listLedger: call({
    method: 'GET',
    path: '/v1/ledger',
    query: z.strictObject({
      before: z.coerce.number().int().min(1).optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    response: z.array(z.object(ledgerEntry.shape)),
  }),
  arm: call({ method: 'POST', path: '/v1/arm', response: armed, errors: ['not_armed'] }),
  /** Also switches all deterrents off. It never shortens a longer time. */
  disarm: call({
    method: 'POST',
    path: '/v1/disarm',
    query: z.strictObject({ lasts: disarmTime.optional() }),
    response: armed,
  }),
  /** For a while one camera or everything raises no alert and fires nothing. A later one replaces an earlier one. */
  snooze: call({
    method: 'POST',
    path: '/v1/snooze',
    body: z.strictObject({ camera: cameraName.optional(), lasts: snoozeLasts }),
    response: null,
    errors: ['too_many_snoozes'],
  }),
  endSnooze: call({
    method: 'POST',
    path: '/v1/end-snooze',
    body: z.strictObject({ camera: cameraName.optional() }),
    response: null,
    errors: ['not_snoozed'],
  }),
  /** As a snooze of everything; outages are no alert either. */
  maintain: call({
    method: 'POST',
    path: '/v1/maintenance',
    body: z.strictObject({ lasts: snoozeLasts }),
    response: null,
    errors: ['too_many_snoozes'],
  }),
  endMaintenance: call({ method: 'POST', path: '/v1/end-maintenance', response: null, errors: ['not_snoozed'] }),
  /** The rules of gateway.yaml in words, and how often each would have fired in the last 24 hours. */
  readRules: call({
    method: 'GET',
    path: '/v1/rules',
    response: z.array(
      z.object({
        name: z.string(),
        enabled: z.boolean(),
        sentence: z.string(),
        /** How often it would have fired. */
        fired: z.number(),
        /** Why not, most often, for what has its labels; null when nothing such was there. */
        reason: z.string().nullable(),
      }),
    ),
  }),
  /** Newest first, with the answer of each rule in words. */
  testRules: call({
    method: 'GET',
    path: '/v1/rules/test',
    response: z.array(
      z.object({
        id: z.string(),
        label: z.string(),
        camera: z.string(),
        score: z.number(),
        startedAt: z.string(),
        answers: z.array(z.object({ rule: z.string(), text: z.string(), fires: z.boolean() })),
      }),
    ),
  }),
  /** The text of gateway.yaml on disk, with the secrets that are written in it. */
  readFile: call({ method: 'GET', path: '/v1/file', response: z.object({ text: z.string(), hash: z.string() }) }),
  /** What gateway.yaml may hold, as JSON Schema. */
  readFileSchema: call({
    method: 'GET',
    path: '/v1/file/schema',
    response: z.record(z.string(), z.unknown()),
  }),
  checkFile: call({
    method: 'POST',
    path: '/v1/file/check',
    body: z.strictObject({ text: fileText }),
    response: z.object({ errors: z.array(fileError), warnings: z.array(fileError) }),
  }),
  /**
   * Replaces gateway.yaml if its hash is still `hash`. `password`: the device's own, required of people who come
   * through the hub, once in a visit: only the device decides what it may do. Its answer then sets a cookie.
   */
  saveFile: call({
    method: 'PUT',
    path: '/v1/file',
    body: z.strictObject({ text: fileText, ...fileChange }),
    response: z.object({ hash: z.string() }),
    errors: ofChanges,
  }),
  /** The values of gateway.yaml as they are written, and the names that its sources provide. */
  readSettings: call({
    method: 'GET',
    path: '/v1/settings',
    response: z.object({
      hash: z.string(),
      settings: z.record(z.string(), z.json()),
      names: z.object({
        /** What was seen, and what the models name. */
        labels: z.array(z.string()),
        cameras: z.array(z.object({ name: z.string(), zones: z.array(z.string()) })),
      }),
    }),
    errors: ['file_invalid'],
  }),
  /**
   * Changes values of gateway.yaml. For `file_invalid`, `fieldErrors` has the sentence of each value by its path with
   * dots between: `rules.2.zones.0`.
   */
  changeSettings: call({
    method: 'PATCH',
    path: '/v1/settings',
    body: z.strictObject({ edits, ...fileChange }),
    response: z.object({ hash: z.string() }),
    errors: ofChanges,
  }),
  /** What a change would mean, without saving it. `rehearsal` is null while it has errors, and when it is not about
   * rules, deterrents or the site. */
  previewSettings: call({
    method: 'POST',
    path: '/v1/settings/preview',
    body: z.strictObject({ edits, hash: fileChange.hash }),
    response: z.object({ errors: z.array(finding), warnings: z.array(finding), rehearsal: rehearsal.nullable() }),
    errors: ['file_changed', 'file_unwritable'],
  }),
  /** The settings in gateway.yaml of a camera that the device itself reads. */
  readCamera: call({
    method: 'GET',
    path: '/v1/cameras/:name',
    params: named,
    response: cameraSettings,
    errors: ofCameras,
  }),
  /** Changes one camera in gateway.yaml, and nothing else there. */
  changeCamera: call({
    method: 'PATCH',
    path: '/v1/cameras/:name',
    params: named,
    body: z.strictObject({ change: cameraChange, ...fileChange }),
    response: cameraSettings,
    errors: [...ofChanges, ...ofCameras],
  }),
  /** Moving objects of the last 24 hours, newest first, with the settings that would have made them detections. */
  listCandidates: call({
    method: 'GET',
    path: '/v1/cameras/:name/candidates',
    params: named,
    response: z.array(
      z.object({
        at: z.number(),
        label: z.string(),
        /** The highest `minimumScore` with which it would have been a detection. */
        score: z.number(),
        /** How long it was in view; a detection is seen three times within this. */
        seconds: z.number(),
      }),
    ),
  }),
  /** Writes a camera into gateway.yaml; the eye looks at it from then on. */
  addCamera: call({
    method: 'POST',
    path: '/v1/cameras',
    body: z.strictObject({ name: placeName, url: cameraAddress, ...fileChange }),
    response: cameraSettings,
    errors: [...ofChanges, ...ofCameras, 'camera_exists'],
  }),
  /**
   * Reads a camera for as long as somebody looks at it, without writing anything. `password`: as for `saveFile`,
   * because the device connects to an address that its file does not have.
   */
  tryCamera: call({
    method: 'POST',
    path: '/v1/trials',
    body: z.strictObject({ url: cameraAddress, password: devicePassword.optional() }),
    response: z.object({ id: z.string() }),
    errors: ofPasswords,
  }),
  readTrial: call({
    method: 'GET',
    path: '/v1/trials/:id',
    params: identified,
    response: trial,
    errors: ['trial_not_found'],
  }),
  readTrialPicture: call({
    method: 'GET',
    path: '/v1/trials/:id/latest',
    params: identified,
    media: 'image/jpeg',
    response: null,
    errors: ['trial_not_found', ...pictureErrors.latest],
  }),
  /** ONVIF cameras in the device's networks, or the one at an address; it takes some seconds. */
  findCameras: call({
    method: 'POST',
    path: '/v1/camera-search',
    body: z.strictObject({
      at: z.string().trim().min(1).max(200).optional(),
      /** The user name of the cameras. */
      user: z.string().min(1).max(100).optional(),
      cameraPassword: z.string().min(1).max(200).optional(),
      password: devicePassword.optional(),
    }),
    response: z.array(foundCamera),
    errors: ofPasswords,
  }),
  /** Which model looks, and which detector can be added. */
  readDetector: call({ method: 'GET', path: '/v1/detector', response: detectorState }),
  /** Begins to fetch the offered detector; `acceptedLicence` is its licence's name. `readDetector` has the progress. */
  addDetector: call({
    method: 'POST',
    path: '/v1/detector',
    body: z.strictObject({ acceptedLicence: z.string().max(100), password: devicePassword.optional() }),
    response: detectorState,
    errors: ofPasswords,
  }),
  /** Writes the offered detector into gateway.yaml as the model of the eye, and changes nothing else there. */
  chooseDetector: call({
    method: 'PUT',
    path: '/v1/detector',
    body: z.strictObject(fileChange),
    response: detectorState,
    errors: ofChanges,
  }),
  /** What the device learned from reviews. */
  readLearning: call({ method: 'GET', path: '/v1/learning', response: gatewayLearning }),
  /** False when no version was active. */
  undoLearning: call({
    method: 'POST',
    path: '/v1/learning/undo',
    body: learningUndo,
    response: z.object({ undone: z.boolean() }),
  }),
  /** Learns now, as it does every night. It goes on after the answer. */
  learnNow: call({ method: 'POST', path: '/v1/learning/run', response: null }),
  /** False when the version was not active. */
  undoNames: call({
    method: 'POST',
    path: '/v1/learning/undo-names',
    body: namesUndo,
    response: z.object({ undone: z.boolean() }),
  }),
  /** A proposed mask is not proposed again. */
  dismissMask: call({
    method: 'POST',
    path: '/v1/learning/dismiss',
    body: z.strictObject({ camera: z.string().min(1).max(100), id: z.string().min(1).max(64) }),
    response: null,
    errors: ['proposal_not_found'],
  }),
  ...deterrentSetupCalls,
} as const

export type DeviceCalls = typeof deviceCalls
