import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { lumaOf, type Plane, type RgbImage } from '@hedgerow/vision'
import { createRenderer, walker, type Scene } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { camerasSettings } from '../../cameras/schema.ts'
import { jpegSize } from '../../kernel/jpeg.ts'
import { openRecording } from '../../recording/recording.ts'
import type { Candidate } from '../source.ts'
import { demonstrationEye, motionEye, type Recogniser } from './recogniser.ts'
import { eyeSettings } from './schema.ts'
import { createWatcher } from './watcher.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-watcher-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const FRAME_MS = 200
const scene = (actors: Scene['actors']): Scene => ({
  name: 'orchard',
  seed: 11,
  daylight: 'night',
  durationMs: 16_000,
  actors,
})
const boar = walker('boar', { seed: 21, startMs: 4_000, endMs: 13_000 })

type Shown = { image: RgbImage; luma: Plane }
/** The pictures of each scene so far: most tests show the same one, and drawing takes longer than watching. */
const drawn = new Map<string, { draw: (atMs: number) => Shown; pictures: Shown[] }>()
afterAll(() => drawn.clear())

function pictureOf(shown: Scene, index: number): Shown {
  const { draw, pictures } = drawn.getOrInsertComputed(JSON.stringify(shown), () => {
    const renderer = createRenderer(shown, 640, 360)
    const draw = (atMs: number): Shown => {
      const { image } = renderer.render(atMs)
      return { image: { ...image, data: image.data.slice() }, luma: lumaOf(image) }
    }
    return { draw, pictures: [] }
  })
  return (pictures[index] ??= draw(index * FRAME_MS))
}

/** Shows a scene to a watcher, picture by picture, without waiting in between. */
async function watch(
  shown: Scene,
  options: { camera?: object; eye?: object; untilMs?: number; refuse?: boolean; recogniser?: Recogniser } = {},
) {
  const url = 'http://127.0.0.1/'
  const camera = { ...camerasSettings.parse({ orchard: { url, ...options.camera } })['orchard']!, url }
  const eye = eyeSettings.parse({ cameras: ['orchard'], recording: { clips: false }, ...options.eye })
  const reports: Detection[] = []
  const glimpses: string[] = []
  const candidates: Candidate[] = []
  const context = {
    log: pino({ level: 'silent' }),
    clock: Date.now,
    async report(detections: readonly Detection[]) {
      reports.push(...detections)
      if (options.refuse) throw new Error('the disk is full')
    },
    isWrong: () => false,
    noteCandidate: (_name: string, candidate: Candidate) => void candidates.push(candidate),
    glimpse: (name: string, label: string) => void glimpses.push(`${name} ${label}`),
  }
  const recording = await openRecording({ ...context, dataDir: folder, settings: eye.recording, cameras: 1 })
  onTestFinished(recording.stop)
  const watcher = createWatcher('orchard', camera, eye, context, context.log, {
    recogniser: options.recogniser ?? demonstrationEye,
    recorder: recording.recorderOf('orchard', 5),
  })
  const beganAt = performance.now()
  const lastsMs = options.untilMs ?? shown.durationMs
  const endsAt = beganAt + lastsMs
  for (let index = 0; index * FRAME_MS < lastsMs; index++)
    await watcher.onFrame({ ...pictureOf(shown, index), atMs: beganAt + index * FRAME_MS })
  return { reports, glimpses, candidates, watcher, recording, endsAt }
}

test('one animal is one detection, from when it was first seen to when it left, with a picture', async () => {
  const { reports, recording } = await watch(scene([boar]), {
    camera: {
      zones: {
        rows: [
          [0, 0.4],
          [1, 0.4],
          [1, 1],
          [0, 1],
        ],
      },
    },
  })
  expect(new Set(reports.map(({ id }) => id)).size).toBe(1)
  expect(reports[0]).toMatchObject({ camera: 'orchard', label: 'boar', severity: 'alert', zone: 'rows', source: 'eye' })
  expect(reports[0]!.verdicts).toMatchObject([{ stage: 'detector', by: 'demonstration eye', outcome: 'unsure' }])
  expect(jpegSize(Buffer.from(reports[0]!.thumbnail!, 'base64'))).toBeDefined()
  const kept = await readFile(recording.pictureOf(reports[0]!.id)!)
  expect(jpegSize(kept)).toEqual({ width: 640, height: 360 })
  expect(reports[0]!.endedAt).toBeUndefined()
  const last = reports.at(-1)!
  const seconds = (Date.parse(last.endedAt!) - Date.parse(last.startedAt)) / 1_000
  expect(seconds).toBeGreaterThan(4)
  expect(seconds).toBeLessThan(9)
  expect(reports.filter(({ endedAt }) => endedAt !== undefined)).toHaveLength(1)
})

test('outside of the zones it is a detection and no alert; without zones everything is an alert', async () => {
  const outside = await watch(scene([boar]), {
    camera: {
      zones: {
        sky: [
          [0, 0],
          [1, 0],
          [1, 0.2],
          [0, 0.2],
        ],
      },
    },
  })
  expect(outside.reports[0]).toMatchObject({ severity: 'detection' })
  expect(outside.reports[0]).not.toHaveProperty('zone')
  const none = await watch(scene([boar]))
  expect(none.reports[0]).toMatchObject({ severity: 'alert' })
})

test('without a model whatever moves is motion, a detection and no alert, and names nobody', async () => {
  const rows = [
    [0, 0.4],
    [1, 0.4],
    [1, 1],
    [0, 1],
  ]
  const person = walker('person', { seed: 23, startMs: 4_000, endMs: 13_000 })
  for (const actor of [boar, person])
    for (const camera of [{}, { zones: { rows } }, { minimumScore: 1 }]) {
      const { reports, glimpses, candidates } = await watch(scene([actor]), { recogniser: motionEye, camera })
      expect(reports.length).toBeGreaterThan(0)
      const said = [...reports, ...candidates].map(({ label }) => label)
      expect(new Set([...said, ...glimpses.map((glimpse) => glimpse.replace('orchard ', ''))])).toEqual(
        new Set(['motion']),
      )
      expect(new Set(reports.map(({ severity }) => severity))).toEqual(new Set(['detection']))
      expect(reports[0]!.verdicts).toMatchObject([{ by: 'motion, no model', outcome: 'unsure' }])
    }
})

test('an object that moves under a mask, or whose label is not configured, is not reported', async () => {
  const masked = await watch(scene([boar]), {
    camera: {
      masks: [
        [
          [0, 0.3],
          [1, 0.3],
          [1, 1],
          [0, 1],
        ],
      ],
    },
  })
  expect(masked.reports).toEqual([])
  const others = await watch(scene([boar]), { eye: { labels: ['person', 'deer'] } })
  expect(others.reports.filter(({ label }) => label === 'boar')).toEqual([])
})

test('a moving object is noted and shown with its box, also when its score is too low for a detection', async () => {
  const { reports, candidates, watcher } = await watch(scene([boar]), {
    camera: { minimumScore: 1 },
    eye: { minimumScore: 0.1 },
    untilMs: 9_000,
  })
  expect(reports).toEqual([])
  await watcher.stop()
  expect(candidates).toContainEqual(expect.objectContaining({ label: 'boar' }))
  const shown = await watch(scene([boar]), { untilMs: 9_000 })
  const box = { width: expect.any(Number) as number }
  expect(shown.watcher.boxes(shown.endsAt)).toMatchObject([{ label: 'boar', box }])
  expect(shown.watcher.boxes(shown.endsAt + 3_000)).toEqual([])
})

test('a person is glimpsed before it is a detection, also when persons are not configured', async () => {
  const person = walker('person', { seed: 25, startMs: 4_000, endMs: 14_000, y: 0.85 })
  const { reports, glimpses } = await watch({ ...scene([person]), daylight: 'day' }, { eye: { labels: ['boar'] } })
  expect(glimpses).toContain('orchard person')
  expect(reports).toEqual([])
})

test('a source that stops ends what it still sees', async () => {
  const { reports, watcher } = await watch(scene([boar]), { untilMs: 9_000 })
  expect(reports.at(-1)!.endedAt).toBeUndefined()
  expect(watcher.picture(reports[0]!.id)).toBeDefined()
  await watcher.stop()
  expect(reports.at(-1)).toMatchObject({ id: reports[0]!.id, endedAt: expect.any(String) })
  expect(watcher.picture(reports[0]!.id)).toBeUndefined()
})

test('a disk that is full stops nothing', async () => {
  const { reports } = await watch(scene([boar]), { refuse: true })
  expect(reports.at(-1)!.endedAt).toBeDefined()
})

test('a camera that changes its size goes on', async () => {
  const { reports, watcher } = await watch(scene([boar]), { untilMs: 9_000 })
  const small = createRenderer(scene([]), 320, 180).render(0)
  await watcher.onFrame({ image: small.image, luma: lumaOf(small.image), atMs: performance.now() + 20_000 })
  expect(reports.at(-1)!.endedAt).toBeDefined()
})
