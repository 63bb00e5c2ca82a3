import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { hasUrl, type CameraSettings, type ListedCamera } from '../cameras/schema.ts'
import type { Place } from '../kernel/hours.ts'
import { startFrigate } from './frigate/frigate.ts'
import type { sourcesSettings } from './schema.ts'
import type { CameraWatch } from '../deterrents/watch.ts'
import type { CameraNames, LiveBox, Pictures, Source, SourceContext, SourceState } from './source.ts'

/** The parts of gateway.yaml that the sources need. */
export type SourcesFile = {
  sources: z.output<typeof sourcesSettings>
  cameras: Readonly<Record<string, ListedCamera>>
  site: Place
}

/** All sources of the device. */
export type Sources = {
  /** Starts, restarts and stops sources to match the file; a source with unchanged settings keeps running. */
  apply(file: SourcesFile): Promise<void>
  /** The joined states of all running sources. */
  state(): SourceState
  /** Answers from the first source that knows the camera or the detection. */
  pictures: Pictures
  /** The boxes of the first source that knows the camera; empty when no source reports them. */
  boxes(camera: string): LiveBox[]
  /** The cameras of all sources; `isComplete` is false while a source of the file has not said which it has. */
  watch(): { cameras: CameraWatch; isComplete: boolean }
  /** What the cameras of Frigate can report; undefined while that is unknown. */
  frigateNames(): ReadonlyMap<string, CameraNames> | undefined
  /** What is wrong with one camera, in sentences. */
  problemsOf(camera: string): string[]
  overlaysOf(camera: string): ReturnType<NonNullable<Source['overlaysOf']>>
  viewOf(camera: string): ReturnType<NonNullable<Source['viewOf']>>
  stop(): Promise<void>
}

/**
 * One line for each kind of source: its settings in the file, and how it starts. `settings` is undefined when the file
 * does not have the source.
 */
type Kind = (
  file: SourcesFile,
) => { settings: unknown; start(context: SourceContext): Source | Promise<Source> } | undefined

/** The local API has no line: programs call it, so it needs no source (local/api/local-api.ts). */
const kinds: Readonly<Record<string, Kind>> = {
  eye({ sources: { eye }, cameras, site: { timeZone } }) {
    if (!eye) return undefined
    const settings = { eye, cameras: pick(cameras, eye.cameras), timeZone }
    // Loaded here, so that a gateway without an eye saves the memory of the decoder.
    return { settings, start: async (context) => (await import('./eye/eye.ts')).startEye(settings, context) }
  },
  frigate: ({ sources: { frigate }, site: { timeZone } }) =>
    frigate && { settings: { frigate, timeZone }, start: (context) => startFrigate(frigate, context, timeZone) },
}

/** The cameras with these names that the gateway itself can read. */
function pick(from: SourcesFile['cameras'], names: readonly string[]): Record<string, CameraSettings> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const camera = from[name]
      return camera && hasUrl(camera) ? [[name, camera]] : []
    }),
  )
}

export function createSources(context: SourceContext): Sources {
  const { log } = context
  const running = new Map<string, { settings: unknown; source: Source }>()
  /** Sources that could not start, with a sentence each. */
  const failed = new Map<string, string>()
  let wantedNames: readonly string[] | undefined
  /** Applies files one after the other. */
  let turn: Promise<void> = Promise.resolve()

  async function stopOne(name: string): Promise<void> {
    const one = running.get(name)
    running.delete(name)
    await one?.source.stop().catch((error: unknown) => log.error({ err: error }, `${name}: stopping failed`))
  }

  async function applyInTurn(file: SourcesFile): Promise<void> {
    wantedNames = Object.keys(kinds).filter((name) => kinds[name]!(file) !== undefined)
    for (const [name, kind] of Object.entries(kinds)) {
      const wanted = kind(file)
      if (wanted && isDeepStrictEqual(running.get(name)?.settings, wanted.settings)) continue
      await stopOne(name)
      failed.delete(name)
      if (!wanted) continue
      try {
        const source = await wanted.start({ ...context, log: log.child({ source: name }) })
        running.set(name, { settings: wanted.settings, source })
      } catch (error) {
        log.error({ err: error }, `${name}: the source does not start`)
        failed.set(name, `The source ${name} does not start; the log of the gateway has the details.`)
      }
    }
  }

  const inTurn = (action: () => Promise<void>) => (turn = turn.then(action))

  /** Returns the answer of the first source that has one. */
  async function first<T>(read: (pictures: Partial<Pictures>) => Promise<T | undefined> | undefined) {
    for (const { source } of running.values()) {
      const found = source.pictures && (await read(source.pictures))
      if (found !== undefined) return found
    }
    return undefined
  }

  function firstOf<T>(read: (source: Source) => T | undefined): T | undefined {
    for (const { source } of running.values()) {
      const found = read(source)
      if (found !== undefined) return found
    }
    return undefined
  }

  return {
    apply: (file) => inTurn(() => applyInTurn(file)),
    state() {
      const states = [...running.values()].map(({ source }) => source.state())
      return {
        cameras: states.flatMap(({ cameras }) => cameras),
        detectors: states.flatMap(({ detectors }) => detectors),
        problems: [...failed.values(), ...states.flatMap(({ problems }) => problems)],
      }
    },
    pictures: {
      latest: (camera, options) => first((pictures) => pictures.latest?.(camera, options)),
      snapshot: (detection, options) => first((pictures) => pictures.snapshot?.(detection, options)),
      clip: (detection, options) => first((pictures) => pictures.clip?.(detection, options)),
    },
    watch() {
      const watches = (wantedNames ?? []).map((name) => running.get(name)?.source.watch())
      return {
        cameras: new Map(watches.flatMap((watch) => [...(watch ?? [])])),
        isComplete: wantedNames !== undefined && !watches.includes(undefined),
      }
    },
    frigateNames: () => running.get('frigate')?.source.names?.(),
    boxes: (camera) => firstOf((source) => source.boxes?.(camera)) ?? [],
    overlaysOf: (camera) => firstOf((source) => source.overlaysOf?.(camera)),
    viewOf: (camera) => firstOf((source) => source.viewOf?.(camera)),
    problemsOf: (camera) => firstOf((source) => source.problemsOf?.(camera)) ?? [],
    stop: () => inTurn(async () => void (await Promise.all([...running.keys()].map(stopOne)))),
  }
}
