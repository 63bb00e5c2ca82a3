/** Clocks and a ticker that FFmpeg writes into its pictures. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlane, createRgbImage, type Plane } from '@hedgerow/vision'
import { pino } from 'pino'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { camerasSettings } from '../../cameras/schema.ts'
import { openRecording } from '../../recording/recording.ts'
import { openOverlays } from './overlays.ts'
import { motionEye, type Recogniser } from './recogniser.ts'
import { eyeSettings } from './schema.ts'
import { createWatcher } from './watcher.ts'

const log = pino({ level: 'silent' })
const SIZE = { width: 480, height: 270 }
const FRAME_MS = 200
const MINUTE_MS = 62_000
const CAMERAS = { gate: 'http://127.0.0.1/', barn: 'http://127.0.0.1/barn' }

const TENTHS = `drawtext=text='%{pts\\:hms}':fontsize=16:fontcolor=white:box=1:boxcolor=black:x=8:y=6`
const SECONDS = `drawtext=text='%{pts\\:gmtime\\:0\\:%S}':fontsize=16:fontcolor=white:borderw=1:x=8:y=h-24`
const NEWS = 'the river rises; '.repeat(20)
const TICKER = `drawtext=text='${NEWS}':fontsize=12:fontcolor=white:box=1:boxcolor=black:x='-30*mod(t,20)':y=h-20`
const MIDDLE = TENTHS.replace('y=6', 'y=120')

const clips = new Map<string, Plane[]>()

/** Two minutes of a grey wall with the noise of the sensor. */
function clipOf(filter: string): Plane[] {
  return clips.getOrInsertComputed(filter, () => {
    const wall = `color=0x707070:s=${SIZE.width}x${SIZE.height}:r=5,noise=alls=6:allf=t,${filter}`
    const format = ['-t', '126', '-f', 'rawvideo', '-pix_fmt', 'gray', 'pipe:1']
    const bytes = SIZE.width * SIZE.height
    const input = ['-v', 'error', '-nostdin', '-f', 'lavfi', '-i', wall, ...format]
    const { status, stdout, stderr } = spawnSync('ffmpeg', input, { maxBuffer: 1_000 * bytes })
    if (status !== 0) throw new Error(String(stderr))
    return Array.from({ length: stdout.length / bytes }, (_, i) =>
      createPlane(SIZE.width, SIZE.height, stdout.subarray(i * bytes, (i + 1) * bytes)),
    )
  })
}

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-overlays-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
})

async function open() {
  const overlays = await openOverlays(CAMERAS, { dataDir, log })
  const gate = overlays.of('gate')
  const show = (filter: string, fromMs = 0, toMs = MINUTE_MS) => {
    for (let at = fromMs; at < toMs; at += FRAME_MS) gate.see(clipOf(filter)[at / FRAME_MS]!, at)
    return gate.boxes()
  }
  return { overlays, gate, show }
}

test.each([
  ['a clock with tenths', TENTHS, { x: 0.05, y: 0.04 }],
  ['a clock with seconds', SECONDS, { x: 0.03, y: 0.94 }],
  ['a ticker', TICKER, { x: 0.5, y: 0.95 }],
])('%s is found within a minute, and small', async (_name, filter, { x, y }) => {
  const { gate, show } = await open()
  expect(show(filter, 0, 55_000)).toEqual([])
  const boxes = show(filter, 55_000)
  expect(boxes).toHaveLength(1)
  const [box] = boxes
  expect(box!.width * box!.height).toBeLessThanOrEqual(0.06)
  expect(Math.abs(box!.y + box!.height / 2 - y)).toBeLessThan(0.05)
  expect(box!.x).toBeLessThan(x + 0.15)
  expect(gate.covers(box!)).toBe(true)
  // An animal behind the text is larger than it, or leaves it.
  expect(gate.covers({ ...box!, height: box!.height + 0.1 })).toBe(false)
  expect(gate.covers({ x: 0.4, y: 0.5, width: 0.1, height: 0.1 })).toBe(false)
})

test('text in the middle and a wall without text are not taken', async () => {
  for (const filter of [MIDDLE, 'null']) expect((await open()).show(filter)).toEqual([])
})

test('it is known after a restart; "Look there again" holds for good', async () => {
  const first = await open()
  const boxes = first.show(TENTHS)
  expect(boxes).toHaveLength(1)
  await first.overlays.stop()
  const second = await open()
  expect(second.gate.boxes()).toEqual(boxes)
  expect(second.overlays.of('barn').boxes()).toEqual([])
  second.gate.lookAgain()
  expect(second.gate.boxes()).toEqual([])
  expect(second.show(TENTHS)).toEqual([])
  await second.overlays.stop()
  const third = await open()
  expect(third.show(TENTHS)).toEqual([])
  // A text at another place is another one.
  expect(third.show(SECONDS, MINUTE_MS, 2 * MINUTE_MS)).toHaveLength(1)
  await third.overlays.stop()
})

test('where an object of the model moved, nothing is taken for text', async () => {
  const { gate, show, overlays } = await open()
  const [box] = show(TENTHS)
  gate.meet({ ...box!, height: 0.2 })
  expect(gate.boxes()).toEqual([])
  expect(show(TENTHS, MINUTE_MS, 2 * MINUTE_MS)).toEqual([])
  await overlays.stop()
})

test('a damaged file is no reason to stop', async () => {
  await writeFile(join(dataDir, 'overlays.json'), '{"a":')
  const { overlays, show } = await open()
  expect(show(TENTHS)).toHaveLength(1)
  await overlays.stop()
  expect(Object.keys(JSON.parse(await readFile(join(dataDir, 'overlays.json'), 'utf8')) as object)).toHaveLength(1)
})

test('from then on it wakes nothing', async () => {
  /** In how many pictures of the second minute something is looked at. */
  async function wokenWith(overlays: Awaited<ReturnType<typeof open>>['gate'] | undefined): Promise<number> {
    const settings = { ...camerasSettings.parse({ gate: { url: CAMERAS.gate } })['gate']!, url: CAMERAS.gate }
    const eye = eyeSettings.parse({ cameras: ['gate'], recording: { clips: false } })
    const common = { clock: Date.now, isWrong: () => false, log }
    const recording = await openRecording({ ...common, dataDir, settings: eye.recording, cameras: 1 })
    let woken = 0
    let atMs = 0
    const recogniser: Recogniser = {
      ...motionEye,
      look(camera, frame, aim) {
        if (atMs > MINUTE_MS && aim.boxes.length > 0) woken++
        return motionEye.look(camera, frame, aim)
      },
    }
    const context = { ...common, report: async () => {}, noteCandidate() {}, glimpse() {} }
    const recorder = recording.recorderOf('gate', 5)
    const watcher = createWatcher('gate', settings, eye, context, log, { recogniser, recorder, overlays })
    const image = createRgbImage(SIZE.width, SIZE.height)
    for (const luma of clipOf(LARGE)) await watcher.onFrame({ image, luma, atMs: (atMs += FRAME_MS) })
    await watcher.stop()
    await recording.stop()
    return woken
  }
  expect(await wokenWith(undefined)).toBeGreaterThan(0)
  const { gate, overlays } = await open()
  expect(await wokenWith(gate)).toBe(0)
  expect(gate.boxes()).toHaveLength(1)
  await overlays.stop()
})

/** Each second is so unlike the last one that no usual range covers it; once a minute more of it changes. */
const LARGE = `drawtext=text='%{pts\\:gmtime\\:0\\:%M%S}':fontsize=24:fontcolor=white:x=8:y=h-28`
