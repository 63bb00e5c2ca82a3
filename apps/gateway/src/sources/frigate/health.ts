import type { Heartbeat } from '@hedgerow/contract'
import type { CameraNames, CameraWatch, SourceState } from '../source.ts'
import type { FrigateError } from './failure.ts'
import type { Config, Stats } from './messages.ts'
import { namesOf } from './names.ts'

/** Frigate's part of the heartbeat: its cameras, its detectors, and a sentence for each problem. */
export type Health = {
  takeStats(stats: Stats): void
  takeConfig(config: Config): void
  /** `<camera>/status/detect`: `online`, `offline` or `disabled`. */
  takeStatus(camera: string, status: string): void
  /** `way`: the connection to Frigate; `error` is undefined when it answers. */
  answers(way: Way, error?: FrigateError): void
  /** A transient failure: it counts as a problem for an hour after the last report. */
  tell(sentence: string): void
  /** The size in pixels of the stream that Frigate detects on; undefined while it is unknown. */
  frameOf(camera: string): { width: number; height: number } | undefined
  knows(camera: string): boolean
  /** Whether each camera's persons would be reported; undefined while the cameras are unknown. */
  watch(): CameraWatch | undefined
  /** What each camera can report; undefined while that is unknown. */
  names(): ReadonlyMap<string, CameraNames> | undefined
  /** What is wrong with a camera, in sentences; undefined when Frigate does not know it. */
  problemsOf(camera: string): string[] | undefined
  state(): SourceState
}

type Way = 'http' | 'messages'
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

export function createHealth(clock: () => number): Health {
  let stats: Stats | undefined
  let config: Config | undefined
  const statuses = new Map<string, string>()
  const failing = new Map<Way, { since: number; error: FrigateError }>()
  const told = new Map<string, number>()
  /** Whether messages have arrived since the start. */
  let isHeard = false

  function stateOf(name: string, fps: number): Camera['state'] {
    if (config && Object.hasOwn(config.cameras, name) && !config.cameras[name]!.enabled) return 'disabled'
    const status = statuses.get(name)
    if (status === 'disabled') return 'disabled'
    return failing.has('http') || status === 'offline' || fps === 0 ? 'offline' : 'online'
  }

  function cameras(): Camera[] {
    const names = new Set([...Object.keys(stats?.cameras ?? {}), ...Object.keys(config?.cameras ?? {})])
    return [...names].slice(0, CAMERAS_MAX).map((name) => {
      const measured = stats && Object.hasOwn(stats.cameras, name) ? stats.cameras[name]!.camera_fps : 0
      const state = stateOf(name, measured)
      return { name, state, fps: state === 'online' ? Math.min(FPS_MAX, measured) : 0 }
    })
  }

  /** Why an enabled camera of Frigate gives no picture, as far as Frigate says. */
  function problemsOf(name: string): string[] | undefined {
    const camera = cameras().find((one) => one.name === name)
    if (camera?.state !== 'offline') return camera && []
    const error = failing.get('http')?.error
    return [error ? error.inWords(undefined) : `Frigate gets no pictures of camera ${name}.`]
  }

  /** Persons are reported by messages, so a Frigate without them sees nobody. */
  function watch(): CameraWatch | undefined {
    if (!config) return undefined
    const known = namesOf(config)
    return new Map(
      cameras().map(({ name, state }) => {
        const { detect } = Object.hasOwn(config!.cameras, name) ? config!.cameras[name]! : {}
        if (state === 'disabled' || detect?.enabled === false || known.get(name)?.seesPersons === false)
          return [name, 'off']
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
    for (const [sentence, at] of told) if (now - at > TOLD_MS) told.delete(sentence)
    const unrecorded = Object.entries(config?.cameras ?? {}).filter(
      ([, { enabled, record }]) => enabled && !record.enabled,
    )
    return [...silent, ...told.keys(), ...(unrecorded.length > 0 ? [saysUnrecorded(unrecorded)] : [])].map((text) =>
      text.slice(0, PROBLEM_CHARACTERS_MAX),
    )
  }

  return {
    takeStats: (taken) => (stats = taken),
    takeConfig: (taken) => (config = taken),
    takeStatus(camera, status) {
      if (statuses.size < CAMERAS_MAX || statuses.has(camera)) statuses.set(camera, status)
    },
    answers(way, error) {
      if (way === 'messages') isHeard ||= !error
      if (!error) failing.delete(way)
      else failing.set(way, { since: failing.get(way)?.since ?? clock(), error })
    },
    tell(sentence) {
      if (told.size < TOLD_MAX || told.has(sentence)) told.set(sentence, clock())
    },
    frameOf(camera) {
      const { width, height } =
        (config && Object.hasOwn(config.cameras, camera) && config.cameras[camera]!.detect) || {}
      return width && height ? { width, height } : undefined
    },
    knows: (camera) =>
      [stats?.cameras, config?.cameras].some((known) => known !== undefined && Object.hasOwn(known, camera)),
    watch,
    names: () => config && namesOf(config),
    problemsOf,
    state: () => ({ cameras: cameras(), detectors: detectors(), problems: problems() }),
  }
}

function saysUnrecorded(cameras: readonly [string, unknown][]): string {
  const names = cameras.map(([name]) => name)
  return `Frigate records nothing of ${names.join(', ')}, and makes review items of recorded cameras only: set record.enabled.`
}
