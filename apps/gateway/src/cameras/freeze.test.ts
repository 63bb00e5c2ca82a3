import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlane, lumaOf, type Plane } from '@hedgerow/vision'
import { createRenderer, scenes } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openCamera } from './camera.ts'
import { decodeJpeg, encodeJpeg } from './decode.ts'
import { streamArguments } from './ffmpeg.ts'
import { createFreezeWatch } from './freeze.ts'
import { camerasSettings } from './schema.ts'
import { createKeyFrameReader } from './transport-stream.ts'

const SIZE = { width: 320, height: 180 }
const MEADOW = { name: 'meadow', seed: 3, daylight: 'day', durationMs: 600_000, actors: [] } as const

/** What a camera of an empty meadow sends as JPEG; each picture with the noise of its moment. */
function createSensor(scene: object = {}) {
  const renderer = createRenderer({ ...MEADOW, ...scene }, SIZE.width, SIZE.height)
  return (atMs: number) => encodeJpeg(renderer.render(atMs).image)
}

const planeOf = async (jpeg: Buffer) => lumaOf(await decodeJpeg(jpeg))

/** Shows a picture every second; each needs no other. Returns whether they ever seemed frozen, and when. */
function frozenAt(pictures: readonly Plane[], seconds = 200): number | undefined {
  return whenFrozen(pictures, seconds)?.second
}

function whenFrozen(pictures: readonly Plane[], seconds = 200) {
  const watch = createFreezeWatch()
  for (let second = 0; second < seconds; second++) {
    watch.keyFrame()
    watch.see(pictures[second % pictures.length]!, second * 1_000)
    const found = watch.frozen()
    if (found) return { second, ...found }
  }
  return undefined
}

describe('one picture again and again', () => {
  test('is frozen after a minute, and not before', async () => {
    expect(frozenAt([await planeOf(await createSensor()(0))])).toBe(60)
  })

  test('is not, as long as fewer than three key frames showed it', async () => {
    const watch = createFreezeWatch()
    const picture = await planeOf(await createSensor()(0))
    for (let second = 0; second < 600; second++) {
      if (second % 100 === 0) watch.keyFrame()
      watch.see(picture, second * 1_000)
      expect(watch.frozen()?.sinceMs).toBe(second >= 400 ? 0 : undefined)
    }
  })

  test('with other losses in between, as a coder spreads its bits, is frozen', async () => {
    const picture = await planeOf(await createSensor()(0))
    const coded = [0, 3, 6].map((loss) => ({
      ...picture,
      data: picture.data.map((level, at) => (at % 3 === 0 ? Math.max(0, level - loss) : level)),
    }))
    expect(frozenAt(coded)).toBe(60)
  })

  test('which is black or white is frozen after ten minutes: a live one hardly has noise there', () => {
    const plane = (shade: number) => createPlane(64, 36, new Uint8Array(64 * 36).fill(shade))
    for (const shade of [0, 3, 255]) {
      expect(whenFrozen([plane(shade)], 700)).toEqual({ second: 600, sinceMs: 0, what: 'still' })
      // One pixel of noise in a minute is enough.
      const noisy = plane(shade)
      noisy.data[50] = shade === 255 ? 254 : shade + 1
      const minutes = [...Array.from({ length: 59 }, () => plane(shade)), noisy]
      expect(frozenAt(minutes, 1_500)).toBeUndefined()
    }
    expect(frozenAt([plane(40)])).toBe(60)
  })

  test('with a clock that goes on is frozen: the rest of a live one has noise', async () => {
    const still = await planeOf(await createSensor()(0))
    const clock = (plane: Plane) =>
      Array.from({ length: 60 }, (_, at) =>
        withRectangle(plane, { left: 10 + (at % 10), top: 8, width: 3, height: 6 + (at % 7) }),
      )
    expect(whenFrozen(clock(still))).toMatchObject({ second: 60, what: 'still' })
    // In the dark only the letters beside the clock could show noise, which they have not.
    const dark = createPlane(320, 180, new Uint8Array(320 * 180))
    const lettered = withRectangle(dark, { left: 40, top: 4, width: 160, height: 12 }, 120)
    expect(frozenAt(clock(lettered))).toBeUndefined()
  })
})

describe('a loop', () => {
  test.each([2, 3, 5, 10])('of %s pictures is frozen after a minute, also when much moves in it', async (length) => {
    const sensor = createSensor()
    const pictures: Plane[] = []
    for (let at = 0; at < length; at++) {
      const left = Math.floor((250 * at) / length)
      pictures.push(withRectangle(await planeOf(await sensor(at * 333)), { left, top: 60, width: 60, height: 80 }))
    }
    const found = whenFrozen(pictures)
    expect(found).toMatchObject({ what: 'loop' })
    expect(found!.second).toBeLessThan(60 + length)
  })

  test.each([
    ['copied again and again', 2, ['-stream_loop', '40'], 'loop'],
    ['longer than ten seconds', 12, ['-stream_loop', '8'], undefined],
    ['none', 100, [], undefined],
  ])(
    'of video is told by its key frames, because only some pictures are looked at: %s',
    async (_name, seconds, again, what) => {
      const folder = await mkdtemp(join(tmpdir(), 'loop-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const film = join(folder, 'film.mp4')
      const made = ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=5', '-vf', 'noise=alls=8:allf=t', '-t', String(seconds)]
      const coder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-sc_threshold', '0', film]
      execFileSync('ffmpeg', ['-v', 'error', ...made, ...coder])
      const read = ['-v', 'error', ...again, '-i', film, ...streamArguments('pipe:1')]
      const stream = execFileSync('ffmpeg', read, { maxBuffer: 1 << 26 })
      const watch = createFreezeWatch()
      const told = new Set<string | undefined>()
      let second = 0
      const readKeyFrames = createKeyFrameReader(watch.keyFrame, (hash) => {
        // Each time another one of its pictures is looked at.
        const data = new Uint8Array(64 * 36).fill(50)
        for (let at = 0; at < 64 * 36; at += 3) data[at] = 40 + ((at * 7 + second * 31) % 150)
        watch.see(createPlane(64, 36, data), second * 1_000)
        watch.coded(hash, second++ * 1_000)
        told.add(watch.frozen()?.what)
      })
      readKeyFrames(stream)
      expect(second).toBeGreaterThan(75)
      expect([...told]).toEqual(what === undefined ? [undefined] : [undefined, what])
    },
  )

  test('begins anew with a picture that was not in it', async () => {
    const sensor = createSensor()
    const [a, b] = await Promise.all([0, 333].map(async (at) => planeOf(await sensor(at))))
    const c = withRectangle(a!, { left: 40, top: 60, width: 120, height: 80 })
    const watch = createFreezeWatch()
    const isFrozenAfter = (second: number, plane: Plane) => {
      watch.keyFrame()
      watch.see(plane, second * 1_000)
      return watch.frozen() !== undefined
    }
    for (let second = 0; second < 100; second++) isFrozenAfter(second, [a!, b!][second % 2]!)
    expect(isFrozenAfter(100, a!)).toBe(true)
    expect(isFrozenAfter(101, c)).toBe(false)
    expect(isFrozenAfter(102, b!)).toBe(false)
  })
})

describe('is live', () => {
  test('a scene in which nothing moves, also with a good sensor and much compression', async () => {
    for (const noise of [1, 3, 6]) {
      const renderer = createRenderer({ ...MEADOW, noise }, SIZE.width, SIZE.height)
      for (const quality of [30, 80]) {
        const pictures: Plane[] = []
        for (let at = 0; at < 70; at++)
          pictures.push(await planeOf(await encodeJpeg(renderer.render(at * 200).image, { quality })))
        expect(frozenAt(pictures), `noise ${noise}, quality ${quality}`).toBeUndefined()
      }
    }
  })

  test('every rendered scene, as the demo shows them again and again', async () => {
    for (const scene of scenes) {
      const sensor = createSensor(scene)
      const pictures: Plane[] = []
      for (let at = 0; at < 12; at++) pictures.push(await planeOf(await sensor(at * 333)))
      expect(frozenAt(pictures), scene.name).toBeUndefined()
    }
  })

  test('a recording without noise that is longer than ten seconds, if anything moves in it', async () => {
    const still = await planeOf(await createSensor()(0))
    const walked = Array.from({ length: 12 }, (_, at) =>
      withRectangle(still, { left: at * 24, top: 90, width: 24, height: 16 }),
    )
    expect(frozenAt(walked)).toBeUndefined()
  })
})

function withRectangle(
  plane: Plane,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
  shade = 255,
): Plane {
  const data = plane.data.slice()
  for (let y = top; y < top + height; y++) data.fill(shade, y * plane.stride + left, y * plane.stride + left + width)
  return { ...plane, data }
}

/** The same picture in other bytes: a comment behind the start, such as the time at which it was sent. */
function commented(jpeg: Buffer, words: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(words.length + 2)
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xfe]), length, Buffer.from(words), jpeg.subarray(2)])
}

describe.each(['snapshots', 'MJPEG'] as const)('a camera that sends %s', (kind) => {
  /** `next`: what it sends. A picture seems to come every two seconds. */
  async function start(next: (sent: number) => Promise<Buffer> | Buffer) {
    let sent = 0
    const server = createServer((_request, response) => {
      const send = async () => {
        const jpeg = await next(sent++)
        if (kind === 'snapshots') {
          response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpeg)
          return
        }
        response.write(`--frame\r\ncontent-type: image/jpeg\r\ncontent-length: ${jpeg.length}\r\n\r\n`)
        response.write(jpeg)
        response.write('\r\n')
        if (!response.destroyed) setTimeout(() => void send(), 20)
      }
      if (kind === 'MJPEG') response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' })
      void send()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => (server.closeAllConnections(), void server.close()))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    let pictures = 0
    const camera = openCamera({
      name: 'gate',
      settings: { ...camerasSettings.parse({ gate: { url, framesPerSecond: 30 } })['gate']!, url },
      timeZone: 'Europe/Berlin',
      log: pino({ level: 'silent' }),
      clock: () => performance.now() + pictures * 2_000,
      onFrame: () => void pictures++,
    })
    onTestFinished(camera.stop)
    return { camera, pictures: () => pictures }
  }

  test('is frozen while they show one picture, whatever their bytes, and live when it changes', async () => {
    const sensor = createSensor()
    const stuck = await sensor(0)
    let moment: number | undefined
    const { camera } = await start((sent) =>
      moment === undefined ? commented(stuck, `${sent}`) : sensor((moment += 40)),
    )
    await expect.poll(() => camera.state().state).toBe('online')
    await expect.poll(() => camera.state().state, { timeout: 20_000 }).toBe('frozen')
    expect(camera.problems()).toEqual([
      expect.stringMatching(/^Camera gate: its picture has not changed since \d\d:\d\d (CET|CEST) on \d+ \w+\.$/),
    ])
    moment = 0
    await expect.poll(() => camera.state().state).toBe('online')
    expect(camera.problems().join('')).not.toContain('not changed')
  })

  test('of a scene in which nothing moves is live', async () => {
    const sensor = createSensor()
    const { camera, pictures } = await start((sent) => sensor(sent * 40))
    const states = new Set<string>()
    const seen = () => (states.add(camera.state().state), pictures())
    await expect.poll(seen, { timeout: 20_000 }).toBeGreaterThan(60)
    expect(states).not.toContain('frozen')
  })
})
