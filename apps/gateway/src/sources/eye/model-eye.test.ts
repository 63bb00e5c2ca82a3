import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { lumaOf } from '@hedgerow/vision'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { putKnownModel, redRectangle } from '../../../testing/known-model.ts'
import { camerasSettings } from '../../cameras/schema.ts'
import { jpegSize } from '../../kernel/jpeg.ts'
import { openModel, type Model } from '../../models/model.ts'
import { openRecording } from '../../recording/recording.ts'
import { LEAST_SCORE, modelRecogniser } from './recogniser.ts'
import { eyeSettings } from './schema.ts'
import { createWatcher } from './watcher.ts'

const FRAME_MS = 200
const log = pino({ level: 'silent' })

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-eye-'))
  await putKnownModel(folder, { labels: ['a', 'b', 'c', 'Human', null] })
})
afterEach(() => rm(folder, { recursive: true }))

type Options = {
  seconds?: number
  masks?: object
  regions?: number
  /** How much larger the camera's own picture is. */
  times?: number
  /** When no picture comes for `gapMs`. */
  gapAt?: number
  gapMs?: number
  framesPerSecond?: number
}

/** Shows a red rectangle, `leftAt` a moment of the film, to a watcher with the model that finds it. */
async function watch(
  leftAt: (ms: number) => number | undefined,
  { seconds = 12, times = 1, gapAt, gapMs = 120_000, ...settings }: Options = {},
) {
  const url = 'http://127.0.0.1/'
  const camera = { ...camerasSettings.parse({ orchard: { url, ...settings } })['orchard']!, url }
  const model = openModel({ folder, name: 'known', threads: 1, leastScore: LEAST_SCORE, log })
  onTestFinished(() => model.stop())
  const reports: Detection[] = []
  const glimpses: string[] = []
  let looks = 0
  /** The widths of the pictures that the model looked at. */
  const widths = new Set<number>()
  const counted: Model = {
    ...model,
    look(name, pictures) {
      for (const { width } of pictures) widths.add(width)
      return model.look(name, pictures)
    },
  }
  const recogniser = modelRecogniser(counted, () => ({ masks: camera.masks, regions: camera.regions ?? 2 }))
  const eye = eyeSettings.parse({ cameras: ['orchard'], model: 'known', recording: { clips: false } })
  const recording = await openRecording({
    settings: eye.recording,
    cameras: 1,
    dataDir: folder,
    log,
    clock: Date.now,
    isWrong: () => false,
  })
  onTestFinished(recording.stop)
  const watcher = createWatcher(
    'orchard',
    camera,
    eye,
    {
      clock: Date.now,
      report: async (detections) => void reports.push(...detections),
      noteCandidate() {},
      glimpse: (name, label) => void glimpses.push(`${name} ${label}`),
    },
    log,
    {
      recogniser: { ...recogniser, look: (...asked) => (looks++, recogniser.look(...asked)) },
      recorder: recording.recorderOf('orchard', 5),
    },
  )
  const beganAt = performance.now()
  for (let at = 0; at < seconds * 1_000; at += FRAME_MS) {
    const x = leftAt(at)
    const image = drawn(288, 192, x, 1)
    const own = async () => drawn(288 * times, 192 * times, x, times)
    const atMs = beganAt + at + (gapAt !== undefined && at >= gapAt ? gapMs : 0)
    await watcher.onFrame({ image, luma: lumaOf(image), atMs, ...(times > 1 && { own }) })
  }
  return { reports, glimpses, looks, widths, recording }
}

function drawn(width: number, height: number, x: number | undefined, times: number) {
  const side = x === undefined ? 0 : 48 * times
  return redRectangle(width, height, { x: (x ?? 0) * times, y: 81 * times, width: side, height: 63 * times })
}

test('a moving object that a model finds is a detection with its box, unsure until another stage answers', async () => {
  const walk = (ms: number) => (ms < 3_000 || ms > 8_000 ? undefined : Math.round(((ms - 3_000) / 5_000) * 230))
  const { reports } = await watch(walk)
  expect(new Set(reports.map(({ id }) => id)).size).toBe(1)
  expect(reports[0]).toMatchObject({ camera: 'orchard', label: 'person', source: 'eye' })
  expect(reports[0]!.verdicts).toEqual([
    { stage: 'detector', by: 'known', outcome: 'unsure', score: expect.closeTo(0.875) },
  ])
  const { x, y, width, height } = reports[0]!.box!
  // One pixel of the model's input is three pixels of the picture.
  expect(Math.abs(x * 288 - walk(3_600)!)).toBeLessThan(2)
  expect(Math.abs(width * 288 - 48)).toBeLessThan(4)
  expect([y * 192, height * 192]).toEqual([expect.closeTo(81), expect.closeTo(63)])
  expect(reports.at(-1)!.endedAt).toBeDefined()
})

test('a person standing still is no detection, keeps deterrents off; still pictures are looked at seldom', async () => {
  const { reports, glimpses, looks } = await watch(() => 100, { seconds: 30 })
  expect(reports).toEqual([])
  expect(glimpses).toContain('orchard person')
  expect(looks).toBeLessThan(10)
})

test('an object that came and stays is part of the scene after half a minute', async () => {
  const { reports } = await watch((ms) => (ms < 3_000 ? undefined : Math.min(120, (ms - 3_000) / 25)), { seconds: 60 })
  expect(new Set(reports.map(({ id }) => id)).size).toBe(1)
  const last = reports.at(-1)!
  expect(last.endedAt).toBeDefined()
  expect((Date.parse(last.endedAt!) - Date.parse(last.startedAt)) / 1_000).toBeGreaterThan(25)
})

test('an object under a mask is not reported', async () => {
  const whole = [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ],
  ]
  const { reports } = await watch((ms) => (ms < 3_000 ? undefined : Math.min(250, ms / 25)), { masks: whole })
  expect(reports).toEqual([])
})

test('a model looks at squares of the picture at its own resolution, and that picture is kept', async () => {
  const walk = (ms: number) => (ms < 3_000 || ms > 8_000 ? undefined : Math.round(((ms - 3_000) / 5_000) * 230))
  const { reports, widths, recording } = await watch(walk, { times: 4 })
  expect(new Set(reports.map(({ id }) => id)).size).toBe(1)
  expect(
    [...widths].some((width) => width > 288 && width < 4 * 288),
    [...widths].join(' '),
  ).toBe(true)
  const kept = await readFile(recording.pictureOf(reports[0]!.id)!)
  expect(jpegSize(kept)).toEqual({ width: 4 * 288, height: 4 * 192 })
  const whole = await watch(walk, { times: 4, regions: 0 })
  expect([...whole.widths]).toEqual([288])
})

test('two objects with a gap without pictures between them are two detections', async () => {
  const walk = (ms: number) => (ms < 3_000 ? undefined : Math.min(230, Math.round((ms - 3_000) / 25)))
  const { reports } = await watch(walk, { gapAt: 6_000 })
  const [first, ...others] = [...new Set(reports.map(({ id }) => id))]
  const last = reports.findLast(({ id }) => id === first)!
  expect((Date.parse(last.endedAt!) - Date.parse(last.startedAt)) / 1_000).toBeLessThan(4)
  expect(others.length).toBeLessThanOrEqual(1)
})

test('at one picture a second too, who comes after four seconds without pictures is another one', async () => {
  const [gapAt, gapMs] = [6_000, 4_000]
  // Where the first one would be now.
  const walk = (ms: number) => (ms < 3_000 ? undefined : Math.round((ms - 3_000 + (ms < gapAt ? 0 : gapMs)) / 45))
  const { reports } = await watch(walk, { gapAt, gapMs, framesPerSecond: 1, seconds: 9 })
  expect(new Set(reports.map(({ id }) => id)).size).toBe(2)
})
