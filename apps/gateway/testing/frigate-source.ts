import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { pino } from 'pino'
import { frigateSettings } from '../src/sources/frigate/schema.ts'
import { startFrigate } from '../src/sources/frigate/frigate.ts'
import type { DetectedObject, Source } from '../src/sources/source.ts'

/** The source of a device without the rest of it: a test sees its reports, and can reject them. */
export type TestSource = Source & {
  pictures: NonNullable<Source['pictures']>
  problemsOf: NonNullable<Source['problemsOf']>
  /** Every report, oldest first. */
  readonly reports: Detection[]
  /** The last state of each detection, oldest first, with the last picture that was reported. */
  detections(): Detection[]
  /** What was glimpsed, as `camera label`, oldest first. */
  readonly glimpses: string[]
  /** For how long each person counts who was glimpsed; undefined: as usual. */
  readonly holds: (number | undefined)[]
  /** The last objects of each detection. */
  readonly objects: Map<string, readonly DetectedObject[]>
  /** While set, reports are rejected with it, as by a full disk. */
  refuse(error: Error | undefined): void
  /** Ends the source and begins again with the same data directory, and the same reports. */
  restart(settings?: Record<string, unknown>): Promise<void>
}

export async function startFrigateSource(
  given: Record<string, unknown>,
  options: { dataDir?: string; clock?: () => number; firesRule?: (label: string) => boolean } = {},
): Promise<TestSource> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'hedgerow-frigate-source-')))
  const reports: Detection[] = []
  const glimpses: string[] = []
  const holds: (number | undefined)[] = []
  const objects = new Map<string, readonly DetectedObject[]>()
  let refusal: Error | undefined
  let settings = given
  const start = () =>
    startFrigate(frigateSettings.parse(settings), {
      log: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
      dataDir,
      clock: options.clock ?? Date.now,
      async report(detections, more) {
        if (refusal) throw refusal
        reports.push(...detections)
        for (const [id, each] of more?.objects ?? []) objects.set(id, each)
      },
      follow: (id, each) => void objects.set(id, each),
      firesRule: options.firesRule ?? (() => false),
      isWrong: () => false,
      noteCandidate() {},
      glimpse(camera, label, holdMs) {
        glimpses.push(`${camera} ${label}`)
        if (label === 'person') holds.push(holdMs)
      },
    })
  let source = start()
  return {
    state: () => source.state(),
    watch: () => source.watch(),
    names: () => source.names!(),
    problemsOf: (camera) => source.problemsOf!(camera),
    get pictures() {
      return source.pictures!
    },
    reports,
    glimpses,
    holds,
    objects,
    detections() {
      const byId = new Map<string, Detection>()
      for (const report of reports) byId.set(report.id, { ...byId.get(report.id), ...report })
      return [...byId.values()]
    },
    refuse: (error) => (refusal = error),
    async restart(changed = given) {
      await source.stop()
      settings = changed
      source = start()
    },
    async stop() {
      await source.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
