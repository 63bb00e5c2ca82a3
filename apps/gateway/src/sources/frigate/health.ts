import type { Heartbeat } from '@hedgerow/contract'
import { cameraInWords } from '../../cameras/camera-error.ts'
import { frozenWords, type Frozen } from '../../cameras/freeze.ts'
import type { CameraWatch } from '../../deterrents/watch.ts'
import type { CameraNames, SourceState } from '../source.ts'
import type { FrigateError } from './failure.ts'
import { isReplay, type Config, type Profile, type Stats } from './messages.ts'
import type { FrigateSettings } from './schema.ts'
import { namesOf } from './names.ts'

/** Frigate's part of the heartbeat: its cameras, its detectors, and a sentence for each problem. */
export type Health = {
  takeStats(stats: Stats): void
  takeConfig(config: Config): void
  takeProfile(profile: Profile): void
  /** `<camera>/status/detect`: `online`, `offline` or `disabled`. */
  takeStatus(camera: string, status: string): void
  /** A new connection: Frigate says a status only when it changes, and those of before may have changed. */
  forgetStatuses(): void
  /** `transport`: the connection to Frigate; `error` is undefined when it answers. */
  answers(transport: Transport, error?: FrigateError): void
  /** A transient failure: it counts as a problem for an hour after the last report. */
  report(sentence: string): void
  /** The size in pixels of the stream that Frigate detects on; undefined while it is unknown. */
  frameOf(camera: string): { width: number; height: number } | undefined
  knows(camera: string): boolean
  isOffline(camera: string): boolean
  /** When the statistics last counted pictures of it, in milliseconds since 1970. */
  lastOnlineAt(camera: string): number | undefined
  /** Whether each camera's persons would be reported; undefined while the cameras are unknown. */
  watch(): CameraWatch | undefined
  /** What each camera can report; undefined while that is unknown. */
  names(): ReadonlyMap<string, CameraNames> | undefined
  /** What is wrong with a camera, in sentences; undefined when Frigate does not know it. */
  problemsOf(camera: string): string[] | undefined
  /** The enabled cameras that send pictures. */
  sending(): string[]
  state(): SourceState
}

type Transport = 'http' | 'messages'
type Camera = Heartbeat['cameras'][number]

const CAMERAS_MAX = 64
const DETECTORS_MAX = 16
const PROBLEM_CHARACTERS_MAX = 200
/** Frigate restarts in less than a minute, which is not a problem. */
const PROBLEM_AFTER_MS = 60_000
const TOLD_MS = 3_600_000
const TOLD_MAX = 5
const INFERENCE_MAX_MS = 3_600_000
const FPS_MAX = 1_000
/** Each step is longer than a minute, so that the sentence does not change all the time. */
const SPANS: readonly [ms: number, words: string][] = [
  [86_400_000, 'a day'],
  [3_600_000, 'an hour'],
  [600_000, '10 minutes'],
  [120_000, '2 minutes'],
]

export function createHealth(
  settings: Pick<FrigateSettings, 'cameras' | 'mqtt' | 'severity'>,
  options: {
    clock: () => number
    frozen(camera: string): Frozen | undefined
    timeZone?: string | undefined
  },
): Health {
  const { clock, frozen, timeZone } = options
  let stats: Stats | undefined
  let config: Config | undefined
  let allowed: readonly string[] | undefined
  const statuses = new Map<string, string>()
  const onlineAt = new Map<string, number>()
  const failing = new Map<Transport, { since: number; error: FrigateError }>()
  const reportedAt = new Map<string, number>()
  /** Whether messages have arrived since the start. */
  let isHeard = false

  function stateOf(name: string, fps: number): Camera['state'] {
    if (config && Object.hasOwn(config.cameras, name) && !config.cameras[name]!.enabled) return 'disabled'
    const status = statuses.get(name)
    if (status === 'disabled') return 'disabled'
    if (failing.has('http') || status === 'offline' || fps === 0) return 'offline'
    return frozen(name) ? 'frozen' : 'online'
  }

  function cameras(): Camera[] {
    const names = new Set([...Object.keys(stats?.cameras ?? {}), ...Object.keys(config?.cameras ?? {})])
    return [...names]
      .filter((name) => !isReplay(name))
      .slice(0, CAMERAS_MAX)
      .map((name) => {
        const measured = stats && Object.hasOwn(stats.cameras, name) ? stats.cameras[name]!.camera_fps : 0
        const state = stateOf(name, measured)
        return { name, state, fps: state === 'online' || state === 'frozen' ? Math.min(FPS_MAX, measured) : 0 }
      })
  }

  /** Why an enabled camera of Frigate gives no picture or reports nothing, as far as Frigate says. */
  function problemsOf(name: string): string[] | undefined {
    const camera = cameras().find((one) => one.name === name)
    if (!camera || camera.state === 'disabled') return camera && []
    const error = failing.get('http')?.error
    const dark = error ? error.inWords(undefined) : `Frigate gets no pictures of camera ${name}.`
    const silent = whySilent(name)
    const still = frozen(name)
    return [
      ...(camera.state === 'offline' ? [dark] : []),
      ...(camera.state === 'frozen' && still
        ? [`${cameraInWords(name)}: ${frozenWords(still.what, still.sinceMs, timeZone)}.`]
        : []),
      ...(silent === undefined ? [] : [`Camera ${name} reports nothing, because ${silent}.`]),
    ]
  }

  /** The statistics have what somebody switched off since the last look at the configuration. */
  function detects(name: string): boolean {
    const counted = stats && Object.hasOwn(stats.cameras, name) ? stats.cameras[name]!.detection_enabled : undefined
    const own = config && Object.hasOwn(config.cameras, name) ? config.cameras[name]!.detect.enabled : undefined
    return Boolean(counted ?? own ?? true)
  }

  /** Why no review item of an enabled camera comes from Frigate, as a part of a sentence. */
  function whySilent(name: string): string | undefined {
    if (settings.cameras && !settings.cameras.includes(name)) return undefined
    if (allowed && !allowed.includes(name))
      return "Frigate's user for this gateway may not see it: its role needs the camera"
    const own = config && Object.hasOwn(config.cameras, name) ? config.cameras[name]! : undefined
    if (!detects(name)) return 'Frigate detects nothing there: set detect.enabled'
    if (!own) return undefined
    if (!own.record.enabled) return 'Frigate has review items of recorded cameras only: set record.enabled'
    const { alerts, detections } = own.review
    if (!alerts.enabled && settings.severity === 'alert')
      return 'its alerts are off in Frigate: set review.alerts.enabled'
    if (!alerts.enabled && !detections.enabled) return 'its alerts and detections are off in Frigate: set review'
    return undefined
  }

  const isEnabled = (name: string) => !config || !Object.hasOwn(config.cameras, name) || config.cameras[name]!.enabled

  /** A sentence for each reason, with all cameras that it is true of. */
  function silentCameras(): string[] {
    const names = new Set([...Object.keys(config?.cameras ?? {}), ...(allowed ? (settings.cameras ?? []) : [])])
    const enabled = [...names].filter((name) => !isReplay(name) && isEnabled(name))
    const reasons = Map.groupBy(enabled, whySilent)
    return [...reasons].flatMap(([reason, each]) => (reason === undefined ? [] : [saysSilent(each, reason)]))
  }

  /** Persons are reported by messages, so a Frigate without them sees nobody. */
  function watch(): CameraWatch | undefined {
    if (!config) return undefined
    const configured = namesOf(config)
    return new Map(
      cameras().map(({ name, state }) => {
        if (configured.get(name)?.seesPersons === false) return [name, 'unable']
        if (state === 'disabled' || !detects(name)) return [name, 'off']
        // Frigate keeps the messages of such a camera from its WebSocket.
        if (!settings.mqtt && allowed && !allowed.includes(name)) return [name, 'dark']
        return [name, state === 'online' && isHeard && !failing.has('messages') ? 'looking' : 'dark']
      }),
    )
  }

  function detectors(): Heartbeat['detectors'] {
    return Object.entries(stats?.detectors ?? {})
      .slice(0, DETECTORS_MAX)
      .map(([name, { inference_speed: ms }]) => ({ name, inferenceMs: Math.min(INFERENCE_MAX_MS, ms) }))
  }

  function problems(): string[] {
    const now = clock()
    const silent = new Set<string>()
    for (const { since, error } of failing.values()) {
      const span = SPANS.find(([ms]) => now - since >= ms)?.[1]
      if (now - since >= PROBLEM_AFTER_MS || error.isLasting) silent.add(error.inWords(span))
    }
    for (const [sentence, at] of reportedAt) if (now - at > TOLD_MS) reportedAt.delete(sentence)
    return [...silent, ...reportedAt.keys(), ...silentCameras()].map((text) => text.slice(0, PROBLEM_CHARACTERS_MAX))
  }

  return {
    takeStats(taken) {
      stats = taken
      for (const [name, { camera_fps: fps }] of Object.entries(taken.cameras))
        if (fps > 0 && (onlineAt.size < CAMERAS_MAX || onlineAt.has(name))) onlineAt.set(name, clock())
    },
    takeConfig: (taken) => (config = taken),
    takeProfile: ({ allowed_cameras: cameras }) => (allowed = cameras),
    forgetStatuses: () => statuses.clear(),
    isOffline: (camera) => cameras().some(({ name, state }) => name === camera && state === 'offline'),
    lastOnlineAt: (camera) => onlineAt.get(camera),
    takeStatus(camera, status) {
      if (statuses.size < CAMERAS_MAX || statuses.has(camera)) statuses.set(camera, status)
    },
    answers(transport, error) {
      if (transport === 'messages') isHeard ||= !error
      if (!error) failing.delete(transport)
      else failing.set(transport, { since: failing.get(transport)?.since ?? clock(), error })
    },
    report(sentence) {
      if (reportedAt.size < TOLD_MAX || reportedAt.has(sentence)) reportedAt.set(sentence, clock())
    },
    frameOf(camera) {
      const { width, height } =
        (config && Object.hasOwn(config.cameras, camera) && config.cameras[camera]!.detect) || {}
      return width && height ? { width, height } : undefined
    },
    knows: (camera) =>
      [stats?.cameras, config?.cameras].some(
        (configured) => configured !== undefined && Object.hasOwn(configured, camera),
      ),
    watch,
    names: () => config && namesOf(config),
    problemsOf,
    sending: () => cameras().flatMap(({ name, state }) => (state === 'online' || state === 'frozen' ? [name] : [])),
    state: () => ({ cameras: cameras(), detectors: detectors(), problems: problems() }),
  }
}

/** The reason must not be cut off by many names. */
function saysSilent(names: readonly string[], reason: string): string {
  const [first = '', second] = names
  const who =
    names.length > 2 ? `${first} and ${names.length - 1} more` : second === undefined ? first : `${first} and ${second}`
  return `${who} ${names.length > 1 ? 'report' : 'reports'} nothing, because ${reason}.`
}
