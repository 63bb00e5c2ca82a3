import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { sourcesSettings } from './schema.ts'
import type { Pictures, Source, SourceContext, SourceState } from './source.ts'

/** What the sources read of gateway.yaml. */
export type SourcesFile = { sources: z.output<typeof sourcesSettings> }

/** All sources of the device together. */
export type Sources = {
  /** Starts, restarts and stops sources as the file says; one whose settings did not change runs on. */
  apply(file: SourcesFile): Promise<void>
  /** The states of all that run, joined. */
  state(): SourceState
  /** The first source that knows the camera or the detection answers. */
  pictures: Pictures
  stop(): Promise<void>
}

/**
 * One line for each kind of source: what of the file it runs by, and how it starts. A source is absent from the file
 * when `settings` gives undefined.
 */
type Kind = (file: SourcesFile) => { settings: unknown; start(context: SourceContext): Source } | undefined

/** The API has no line: programs call it, so nothing runs (local-api/local-api.ts). */
const kinds: Readonly<Record<string, Kind>> = {}

export function createSources(context: SourceContext): Sources {
  const { log } = context
  const running = new Map<string, { settings: unknown; source: Source }>()
  /** Files are applied one after the other. */
  let turn: Promise<void> = Promise.resolve()

  async function stopOne(name: string): Promise<void> {
    const one = running.get(name)
    running.delete(name)
    await one?.source.stop().catch((error: unknown) => log.error({ err: error }, `${name}: stopping failed`))
  }

  async function applyInTurn(file: SourcesFile): Promise<void> {
    for (const [name, kind] of Object.entries(kinds)) {
      const wanted = kind(file)
      if (wanted && isDeepStrictEqual(running.get(name)?.settings, wanted.settings)) continue
      await stopOne(name)
      if (!wanted) continue
      const source = wanted.start({ ...context, log: log.child({ source: name }) })
      running.set(name, { settings: wanted.settings, source })
    }
  }

  const inTurn = (action: () => Promise<void>) => (turn = turn.then(action))

  /** The answer of the first source that has one. */
  async function first<T>(ask: (pictures: Partial<Pictures>) => Promise<T | undefined> | undefined) {
    for (const { source } of running.values()) {
      const found = source.pictures && (await ask(source.pictures))
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
        problems: states.flatMap(({ problems }) => problems),
      }
    },
    pictures: {
      latest: (camera, options) => first((pictures) => pictures.latest?.(camera, options)),
      snapshot: (detection, options) => first((pictures) => pictures.snapshot?.(detection, options)),
      clip: (detection, options) => first((pictures) => pictures.clip?.(detection, options)),
    },
    stop: () => inTurn(async () => void (await Promise.all([...running.keys()].map(stopOne)))),
  }
}
