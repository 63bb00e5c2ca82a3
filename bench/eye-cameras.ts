/** What cameras cost: decoding, motion and tracking in processor time, beside FFmpeg alone and OpenCV's MOG2. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMotionDetector, lumaOf, Tracker, type Plane, type RgbImage } from '@hedgerow/vision'
import { createRenderer, scenes } from '@hedgerow/vision/rendered'
import { decodeJpeg, encodeJpeg } from '../apps/gateway/src/cameras/decode.ts'
import { createPixelMapReader } from '../apps/gateway/src/cameras/pixel-map.ts'
import { report } from './report.ts'

const LOOKED_AT = { width: 640, height: 360 }
const FULL = { width: 1_920, height: 1_080 }
/** The camera sends this many; the gateway looks at fewer, but FFmpeg must decode them all. */
const SENT_A_SECOND = 15
const LOOKED_A_SECOND = 5
const SECONDS = 20
const CORES = 2
/** An hour of one camera. */
const PICTURES = 3_600 * LOOKED_A_SECOND
/** Debian's own Python, which has its OpenCV. */
const PYTHON = '/usr/bin/python3'
const MOG2 = `
import sys, time, cv2, numpy
width, height, repeats = ${LOOKED_AT.width}, ${LOOKED_AT.height}, 5
cv2.setNumThreads(1)
data = numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8).reshape(-1, height, width)
model = cv2.createBackgroundSubtractorMOG2()
began = time.process_time()
for _ in range(repeats):
    for plane in data:
        mask = model.apply(plane)
        cv2.connectedComponentsWithStats(cv2.morphologyEx(mask, cv2.MORPH_OPEN, numpy.ones((3, 3), numpy.uint8)))
print((time.process_time() - began) * 1000 / (repeats * len(data)))
`

type Rows = Record<string, Record<string, number | string>>

/** Returns the ratios that have goals. */
export async function benchCameras(): Promise<Record<string, number | undefined>> {
  const planes = renderedPlanes()
  const motionMs = motionAndTracking(planes)
  const rows: Rows = { 'motion and tracking, 640 x 360': { 'ms a picture': round(motionMs) } }
  const mog2Ms = mog2(planes)
  if (mog2Ms !== undefined)
    rows['OpenCV: MOG2, opening, components'] = {
      'ms a picture': round(mog2Ms),
      'ours to theirs': round(motionMs / mog2Ms),
    }
  rows['cameras on one core, motion and tracking only'] = { cameras: camerasOn(1, motionMs) }

  const jpeg = await encodeJpeg(renderedPicture(FULL))
  const jpegMs = await cost(60, () => decodeJpeg(jpeg))
  rows['decode JPEG of 1080p to 640 x 360'] = { 'ms a picture': round(jpegMs) }
  rows[`1080p MJPEG at ${LOOKED_A_SECOND} a second on ${CORES} cores`] = {
    cameras: camerasOn(CORES, jpegMs + motionMs),
  }
  const decoding = await addH264(rows)
  report('eye, processor time of cameras', rows)
  report('eye, memory over as many pictures as an hour has', await memory())
  return {
    "motion and tracking: processor time to MOG2's": mog2Ms === undefined ? undefined : motionMs / mog2Ms,
    "H.264 to tracks: processor time to FFmpeg's decoding": decoding,
  }
}

function renderedPlanes(): Plane[] {
  return scenes.slice(0, 6).flatMap((scene) => {
    const renderer = createRenderer(scene, LOOKED_AT.width, LOOKED_AT.height)
    return Array.from({ length: 20 }, (_, step) => lumaOf(renderer.render(6_000 + step * 200).image))
  })
}

function renderedPicture({ width, height }: typeof FULL): RgbImage {
  return createRenderer(scenes[0]!, width, height).render(8_000).image
}

function createEye() {
  const motion = createMotionDetector({ size: LOOKED_AT })
  const tracker = new Tracker({ confirmAfter: 3, buffer: 0.3 })
  let frame = 0
  return (plane: Plane) => {
    const atMs = (frame++ * 1_000) / LOOKED_A_SECOND
    const { regions } = motion.detect(plane, atMs)
    tracker.update(
      regions.map(({ box }) => ({ box, label: 'motion', score: 1 })),
      atMs,
    )
  }
}

/** The processor time of all threads: unlike the clock's time, a busy machine does not lengthen it. */
async function cost(count: number, action: (index: number) => unknown): Promise<number> {
  for (let index = 0; index < 10; index++) await action(index)
  const before = process.cpuUsage()
  for (let index = 0; index < count; index++) await action(index)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / count
}

function motionAndTracking(planes: readonly Plane[]): number {
  const look = createEye()
  for (const plane of planes) look(plane)
  const before = process.cpuUsage()
  for (let round = 0; round < 10; round++) for (const plane of planes) look(plane)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / (10 * planes.length)
}

/** Undefined where Debian's python3-opencv is not installed. */
function mog2(planes: readonly Plane[]): number | undefined {
  const input = Buffer.concat(planes.map(({ data }) => data))
  const { status, stdout } = spawnSync(PYTHON, ['-c', MOG2], { input })
  if (status === 0) return Number(stdout.toString())
  console.log('skipped: OpenCV (apt-get install python3-opencv)')
  return undefined
}

/** Adds the cost of 1080p H.264, decoded alone and from decoding to tracks; returns the ratio. */
async function addH264(rows: Rows): Promise<number | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-bench-eye-'))
  try {
    const file = join(folder, 'camera.mp4')
    const source = `testsrc2=size=${FULL.width}x${FULL.height}:rate=${SENT_A_SECOND}:duration=${SECONDS}`
    const coder = ['-vf', 'noise=alls=6:allf=t', '-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '4M', '-g', '30']
    const made = spawnSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, ...coder, file])
    if (made.status !== 0) {
      console.log('skipped: H.264 (apt-get install ffmpeg)')
      return undefined
    }
    const alone = await ffmpeg(['-i', file, '-threads', '1', '-f', 'null', '-'], () => {})
    const look = createEye()
    const picturesOf = createPixelMapReader()
    const before = process.cpuUsage()
    const raw = (scale: string, to: string) => {
      const pictures = ['-f', 'image2pipe', '-c:v', 'ppm', '-pix_fmt', 'rgb24']
      return ['-threads', '1', '-vf', `fps=${LOOKED_A_SECOND},scale=${scale}:-2`, ...pictures, to]
    }
    const both = [...raw(String(LOOKED_AT.width), 'pipe:1'), ...raw('iw', 'pipe:3')]
    const ownPicturesOf = createPixelMapReader()
    const child = await ffmpeg(
      ['-i', file, ...both, '-c', 'copy', '-f', 'mpegts', '/dev/null'],
      (bytes) => {
        for (const image of picturesOf(bytes)) look(lumaOf(image))
      },
      ownPicturesOf,
    )
    const { user, system } = process.cpuUsage(before)
    const whole = child + (user + system) / 1_000
    const name = `1080p H.264, ${SENT_A_SECOND} a second sent, ${LOOKED_A_SECOND} looked at`
    rows[`FFmpeg alone: decode, ${name}`] = { 'ms a second': round(alone / SECONDS) }
    rows[`to tracks: ${name}`] = { 'ms a second': round(whole / SECONDS), 'ours to theirs': round(whole / alone) }
    rows[`${name}, on ${CORES} cores`] = { cameras: Math.floor((CORES * 1_000 * SECONDS) / whole) }
    return whole / alone
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns FFmpeg's own processor time in ms. */
async function ffmpeg(
  args: string[],
  onBytes: (bytes: Buffer) => void,
  onOwnBytes: (bytes: Buffer) => unknown = () => {},
): Promise<number> {
  const child = spawn('ffmpeg', ['-hide_banner', '-nostdin', '-benchmark', '-y', '-threads', '1', ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr!.on('data', (text: Buffer) => (output = (output + text.toString()).slice(-4_000)))
  child.stdout!.on('data', onBytes)
  child.stdio[3]!.on('data', onOwnBytes)
  await once(child, 'close')
  const [, user = 'NaN', system = 'NaN'] = /utime=([\d.]+)s stime=([\d.]+)s/.exec(output) ?? []
  return (Number(user) + Number(system)) * 1_000
}

/** Resident megabytes during the pictures of an hour, as fast as the eye can look at them. */
async function memory(): Promise<Rows> {
  const jpegs: Buffer[] = []
  const renderer = createRenderer(scenes[0]!, LOOKED_AT.width, LOOKED_AT.height)
  for (let step = 0; step < 50; step++) jpegs.push(await encodeJpeg(renderer.render(step * 200).image))
  const look = createEye()
  const rows: Rows = {}
  const megabytes = () => Math.round(process.memoryUsage.rss() / 1_048_576)
  for (let count = 0; count <= PICTURES; count++) {
    if (count % (PICTURES / 4) === 0) rows[`after ${count} pictures`] = { 'resident, MB': megabytes() }
    look(lumaOf(await decodeJpeg(jpegs[count % jpegs.length]!)))
  }
  return rows
}

const camerasOn = (cores: number, ms: number) => Math.floor((cores * 1_000) / (ms * LOOKED_A_SECOND))
const round = (value: number) => Math.round(value * 100) / 100
