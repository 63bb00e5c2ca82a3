import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPlane, lumaOf, type Plane } from '@hedgerow/vision'
import { createRenderer, scenes } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openCamera } from './camera.ts'
import { decodeJpeg, encodeJpeg } from './decode.ts'
import { createFreezeWatch } from './freeze.ts'
import { camerasSettings } from './schema.ts'

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
  const watch = createFreezeWatch()
  for (let second = 0; second < seconds; second++) {
    watch.keyFrame()
    watch.see(pictures[second % pictures.length]!, second * 1_000)
    if (watch.since() !== undefined) return second
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
      expect(watch.since()).toBe(second >= 400 ? 0 : undefined)
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

  test('which is black or white is not judged: a live one has no noise there', () => {
    for (const shade of [0, 3, 255])
      expect(frozenAt([createPlane(64, 36, new Uint8Array(64 * 36).fill(shade))])).toBeUndefined()
    expect(frozenAt([createPlane(64, 36, new Uint8Array(64 * 36).fill(40))])).toBe(60)
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

  test('a recording without noise that is played again and again, if anything moves in it', async () => {
    const still = await planeOf(await createSensor()(0))
    const walked = [0, 40, 80, 120].map((left) => withRectangle(still, { left, top: 90, width: 24, height: 16 }))
    expect(frozenAt(walked)).toBeUndefined()
    expect(frozenAt([still, still, still, walked[0]!])).toBeUndefined()
  })

  test('a clock in the picture that goes on', async () => {
    const still = await planeOf(await createSensor()(0))
    const clock = Array.from({ length: 60 }, (_, at) =>
      withRectangle(still, { left: 10 + (at % 10), top: 8, width: 3, height: 6 }),
    )
    expect(frozenAt(clock)).toBeUndefined()
  })
})

function withRectangle(
  plane: Plane,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
): Plane {
  const data = plane.data.slice()
  for (let y = top; y < top + height; y++) data.fill(255, y * plane.stride + left, y * plane.stride + left + width)
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
