import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { streamArguments } from '../cameras/ffmpeg.ts'
import { jpegSize } from '../kernel/jpeg.ts'
import { openRecordingFolder, type RecordingFolder } from './folder.ts'
import { createCameraRecorder, type CameraRecorder } from './recorder.ts'
import { openRecording } from './recording.ts'
import { recordingSettings } from './schema.ts'

let path: string
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'hedgerow-recorder-'))
})
afterEach(() => rm(path, { recursive: true, force: true }))

const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' })
const MEGABYTE = 1_000_000

type Opened = { recorder: CameraRecorder; folder: RecordingFolder; at(ms: number): void }

/** A recorder on a clock that the test moves. */
async function open(settings: object = {}, framesPerSecond = 5): Promise<Opened> {
  const folder = await openRecordingFolder({
    path,
    days: 14,
    megabytes: 100,
    isWrong: () => false,
    clock: Date.now,
    log,
  })
  let now = 0
  const recorder = createCameraRecorder({
    camera: 'gate',
    framesPerSecond,
    settings: recordingSettings.parse(settings),
    folder,
    clock: () => now,
    log,
    memoryBytes: 16 * MEGABYTE,
  })
  onTestFinished(async () => {
    await recorder.stop()
    await folder.stop()
  })
  return { recorder, folder, at: (ms) => (now = ms) }
}

const jpegOf = (shade: number, width = 320, height = 180) =>
  sharp({ create: { width, height, channels: 3, background: { r: shade, g: shade, b: shade } } })
    .jpeg()
    .toBuffer()

type Film = { codec: string; width: number; height: number; seconds: number; frames: number }

function probe(file: string): Film {
  const wanted = 'stream=codec_name,width,height,nb_read_frames:format=duration'
  const text = execFileSync('ffprobe', ['-v', 'error', '-count_frames', '-show_entries', wanted, '-of', 'json', file])
  const { streams, format } = JSON.parse(text.toString()) as {
    streams: [{ codec_name: string; width: number; height: number; nb_read_frames: string }]
    format: { duration: string }
  }
  const [{ codec_name, width, height, nb_read_frames }] = streams
  return { codec: codec_name, width, height, seconds: Number(format.duration), frames: Number(nb_read_frames) }
}

/** The mean brightness of the first picture. */
async function firstShade(file: string): Promise<number> {
  const jpeg = execFileSync('ffmpeg', ['-v', 'error', '-i', file, '-frames:v', '1', '-f', 'image2pipe', 'pipe:1'])
  const { channels } = await sharp(jpeg).stats()
  return channels[0]!.mean
}

const ffmpegIsMissing = spawnSync('ffmpeg', ['-version']).error !== undefined
const why = ffmpegIsMissing ? ' (skipped: there is no ffmpeg)' : ''

describe.skipIf(ffmpegIsMissing)(`a camera that sends JPEG${why}`, () => {
  test('has a clip from 5 s before to 10 s after, at its own pace', async () => {
    const { recorder, folder, at } = await open()
    // Pictures become brighter, so that each shows when it was taken.
    for (let ms = 0; ms <= 40_000; ms += 250) {
      at(ms)
      recorder.addPicture({ jpeg: await jpegOf(Math.floor(ms / 200)), at: ms })
      if (ms === 20_500) recorder.begin('eye-a', 20_000)
      if (ms === 23_500) recorder.end('eye-a', 22_000)
    }
    await expect.poll(() => folder.pathOf('eye-a.mp4')).toBeDefined()
    const film = probe(folder.pathOf('eye-a.mp4')!)
    expect(film).toMatchObject({ codec: 'h264', width: 320, height: 180 })
    expect((await stat(folder.pathOf('eye-a.mp4')!)).mode & 0o777).toBe(0o600)
    expect(film.seconds).toBeCloseTo(17, 0)
    expect(await firstShade(folder.pathOf('eye-a.mp4')!)).toBeCloseTo(15_000 / 200, -1)
    expect(recorder.problems()).toEqual([])
  })

  test('shares one clip among detections at the same time; it ends after the last', async () => {
    const { recorder, folder, at } = await open({ secondsBefore: 1, secondsAfter: 1 })
    const filmed: number[] = []
    for (let ms = 0; ms <= 15_000; ms += 200) {
      at(ms)
      recorder.addPicture({ jpeg: await jpegOf(100), at: ms })
      if (ms === 2_000) recorder.begin('eye-a', 2_000)
      if (ms === 4_000) recorder.begin('eye-b', 4_000)
      if (ms === 5_000) recorder.end('eye-a', 5_000)
      if (ms === 8_000) recorder.end('eye-b', 8_000)
      filmed.push(['eye-a', 'eye-b'].filter(recorder.isFilming).length)
    }
    expect(filmed.slice(0, 41)).toEqual([
      ...Array<number>(10).fill(0),
      ...Array<number>(10).fill(1),
      ...Array<number>(21).fill(2),
    ])
    await expect.poll(() => folder.pathOf('eye-b.mp4')).toBeDefined()
    await expect.poll(() => ['eye-a', 'eye-b'].filter(recorder.isFilming)).toEqual([])
    const [a, b] = [await stat(folder.pathOf('eye-a.mp4')!), await stat(folder.pathOf('eye-b.mp4')!)]
    expect(a.ino).toBe(b.ino)
    expect(probe(folder.pathOf('eye-a.mp4')!).seconds).toBeCloseTo(8, 0)
  })

  test('that changes its size, or stalls, has a clip nevertheless', async () => {
    const { recorder, folder, at } = await open({ secondsBefore: 1, secondsAfter: 1 })
    for (const ms of [0, 200, 400, 600, 6_000, 6_200, 7_400]) {
      at(ms)
      recorder.addPicture({ jpeg: ms < 6_000 ? await jpegOf(90, 321, 181) : await jpegOf(90, 640, 480), at: ms })
      if (ms === 600) recorder.begin('eye-a', 600)
      if (ms === 6_200) recorder.end('eye-a', 6_200)
    }
    await expect.poll(() => folder.pathOf('eye-a.mp4')).toBeDefined()
    expect(probe(folder.pathOf('eye-a.mp4')!)).toMatchObject({ width: 320, height: 180 })
    expect(probe(folder.pathOf('eye-a.mp4')!).seconds).toBeCloseTo(7.4, 0)
  })

  test('something that stays has a clip of its first two minutes, and a later object has its own', async () => {
    const { recorder, folder, at } = await open({ secondsBefore: 0, secondsAfter: 1 }, 1)
    const jpeg = await jpegOf(100)
    for (let ms = 0; ms <= 200_000; ms += 1_000) {
      at(ms)
      recorder.addPicture({ jpeg, at: ms })
      if (ms === 1_000) recorder.begin('eye-a', 1_000)
      if (ms === 110_000) recorder.begin('eye-b', 110_000)
      if (ms === 190_000) recorder.end('eye-b', 190_000)
      if (ms === 195_000) recorder.end('eye-a', 195_000)
    }
    await expect.poll(() => folder.pathOf('eye-a.mp4')).toBeDefined()
    await expect.poll(() => folder.pathOf('eye-b.mp4')).toBeDefined()
    expect(probe(folder.pathOf('eye-a.mp4')!).seconds).toBeCloseTo(110, -1)
    expect(probe(folder.pathOf('eye-b.mp4')!).seconds).toBeCloseTo(82, -1)
  })

  test('a clip that is being made when the device stops is kept up to then', async () => {
    const { recorder, folder, at } = await open()
    for (let ms = 0; ms <= 2_000; ms += 200) {
      at(ms)
      recorder.addPicture({ jpeg: await jpegOf(100), at: ms })
    }
    recorder.begin('eye-a', 2_000)
    await recorder.stop()
    expect(probe(folder.pathOf('eye-a.mp4')!).seconds).toBeCloseTo(2.2, 0)
  })
})

/** The output of FFmpeg for a camera with this video, in chunks of uneven length. */
function transportStream(source: string, ...coder: string[]): Buffer[] {
  const list = ['-v', 'error', '-f', 'lavfi', '-i', source, ...coder, '-f', 'nut', 'pipe:1']
  const video = execFileSync('ffmpeg', list, { maxBuffer: 64 * MEGABYTE })
  const copy = ['-v', 'error', '-f', 'nut', '-i', 'pipe:0', ...streamArguments('pipe:1')]
  const bytes = execFileSync('ffmpeg', copy, { input: video, maxBuffer: 64 * MEGABYTE })
  const chunks: Buffer[] = []
  for (let from = 0; from < bytes.length; from += 1_000) chunks.push(bytes.subarray(from, from + 1_000))
  return chunks
}

describe.skipIf(ffmpegIsMissing)(`a camera that FFmpeg opens${why}`, () => {
  test.each([
    ['h264', ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20']],
    ['hevc', ['-c:v', 'libx265', '-preset', 'ultrafast', '-g', '20', '-x265-params', 'log-level=none']],
  ])('%s: its video is copied, from a picture that needs no other', async (codec, coder) => {
    const { recorder, folder, at } = await open({ secondsBefore: 3, secondsAfter: 2 })
    const chunks = transportStream('testsrc=size=160x90:rate=10:duration=20', ...coder)
    recorder.addStream(undefined)
    chunks.forEach((chunk, index) => {
      const ms = (20_000 * index) / chunks.length
      at(ms)
      recorder.addStream(chunk)
      if (index === Math.round(chunks.length / 2)) recorder.begin('eye-a', 10_000)
      if (index === Math.round(chunks.length * 0.6)) recorder.end('eye-a', 12_000)
    })
    await expect.poll(() => folder.pathOf('eye-a.mp4')).toBeDefined()
    const film = probe(folder.pathOf('eye-a.mp4')!)
    expect(film).toMatchObject({ codec, width: 160, height: 90 })
    // 3 s before it, 2 s of it, 2 s after it, and at most the 2 s between two such pictures.
    expect(film.seconds).toBeGreaterThan(6)
    expect(film.seconds).toBeLessThan(10)
    expect(film.frames).toBeCloseTo(film.seconds * 10, -1)
    expect(recorder.problems()).toEqual([])
  })

  test('video that no browser plays: no clips, in words', async () => {
    const { recorder } = await open()
    for (const chunk of transportStream('testsrc=size=320x180:rate=10:duration=1', '-c:v', 'mpeg2video'))
      recorder.addStream(chunk)
    recorder.begin('eye-a', 0)
    expect(recorder.problems()).toEqual([
      'Camera gate: there are no clips: no browser plays the codec of its video; all browsers play H.264.',
    ])
  })

  test('damaged video loses at most its clip, and the end of a connection finishes it', async () => {
    const { recorder, folder } = await open()
    const coder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10']
    const chunks = transportStream('testsrc=size=320x180:rate=10:duration=4', ...coder)
    recorder.addStream(undefined)
    chunks.forEach((chunk, index) => {
      // The header of each packet is FFmpeg's own; its content is the camera's.
      if (index % 7 === 3) for (let byte = 20; byte < chunk.length; byte += 60) chunk[byte]! ^= 0x55
      recorder.addStream(chunk)
      if (index === 10) recorder.begin('eye-a', 0)
    })
    recorder.addStream(undefined)
    recorder.begin('eye-b', 0)
    expect(recorder.problems()[0]).toMatch(/it has sent no video yet/)
    await recorder.stop()
    expect(await readdir(join(path, 'making'), { recursive: true })).toHaveLength(1)
    expect(folder.pathOf('eye-b.mp4')).toBeUndefined()
  })
})

test('without FFmpeg there are pictures and no clips, and the device says so', async () => {
  const before = process.env.PATH
  process.env.PATH = '/nowhere'
  onTestFinished(() => void (process.env.PATH = before))
  const settings = recordingSettings.parse({})
  const recording = await openRecording({
    dataDir: path,
    settings,
    cameras: 1,
    isWrong: () => false,
    clock: Date.now,
    log,
  })
  onTestFinished(recording.stop)
  expect(recording.problems()).toEqual(['There are no clips: FFmpeg is not installed: `apt-get install ffmpeg`.'])
  const recorder = recording.recorderOf('gate', 5)
  const jpeg = await jpegOf(100)
  recorder.addPicture({ jpeg, at: 0 })
  recorder.begin('eye-a', 0)
  await recorder.keepPicture('eye-a', jpeg)
  expect(await readFile(recording.pictureOf('eye-a')!)).toEqual(jpeg)
  expect(recording.clipOf('eye-a')).toBeUndefined()
  expect(recording.problems()).toHaveLength(1)
})

test.skipIf(ffmpegIsMissing)(`after kill -9, every file is whole${why}`, async () => {
  const from = (file: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, file)).href)
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises'
    import { pino } from 'pino'
    import sharp from 'sharp'
    import { openRecording } from ${from('recording.ts')}
    import { recordingSettings } from ${from('schema.ts')}
    const settings = recordingSettings.parse({ secondsBefore: 0, secondsAfter: 0 })
    const recording = await openRecording({ dataDir: ${JSON.stringify(path)}, settings, cameras: 1,
      isWrong: () => false, clock: Date.now, log: pino({ level: 'silent' }) })
    const recorder = recording.recorderOf('gate', 20)
    const jpeg = await sharp({ create: { width: 640, height: 360, channels: 3, background: '#456' } }).jpeg().toBuffer()
    const large = Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(400_000), jpeg.subarray(-2)])
    let id = 'eye-0'
    let clips = 0
    for (let count = 0, ended = 0; ; count++) {
      recorder.addPicture({ jpeg, at: performance.now() })
      if (count === 0) recorder.begin(id, performance.now())
      if (count === ended + 5) recorder.end(id, performance.now())
      await recorder.keepPicture('picture-' + count, large)
      if (recording.clipOf(id)) {
        process.stdout.write('clip\\n')
        clips += 1
        ended = count + 1
        recorder.begin((id = 'eye-' + ended), performance.now())
      }
      // A camera's pace leaves processor time to FFmpeg, which has the lowest priority; the end falls into a write.
      if (clips < 2) await sleep(20)
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
  })
  // It would outlive a test that takes too long, and the run would wait for it.
  onTestFinished(() => void child.kill('SIGKILL'))
  let clips = 0
  // The third clip is being made now.
  child.stdout.on('data', () => {
    if (++clips === 2) child.kill('SIGKILL')
  })
  await once(child, 'close')
  const recordings = join(path, 'recordings')
  const folder = await openRecordingFolder({
    path: recordings,
    days: 14,
    megabytes: 1_000,
    isWrong: () => false,
    clock: Date.now,
    log,
  })
  onTestFinished(folder.stop)
  const names = (await readdir(recordings)).filter((name) => name !== 'making')
  expect(names.filter((name) => !/\.(?:jpg|mp4)$/.test(name))).toEqual([])
  const [films, pictures] = [names.filter((name) => name.endsWith('mp4')), names.filter((name) => name.endsWith('jpg'))]
  expect(films.length).toBeGreaterThan(0)
  expect(pictures.length).toBeGreaterThan(5)
  for (const name of pictures) expect(jpegSize(await readFile(join(recordings, name)))).toBeDefined()
  for (const name of films) expect(probe(join(recordings, name)).frames).toBeGreaterThan(0)
})
