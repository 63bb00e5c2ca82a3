/** A real camera over HTTP whose lens somebody covers. */
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRgbImage, lumaOf } from '@hedgerow/vision'
import { createRenderer } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../testing/serve-http.ts'
import { openCamera } from './camera.ts'
import { decodeJpeg, encodeJpeg } from './decode.ts'
import { camerasSettings } from './schema.ts'
import { openView } from './views.ts'

const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' })
const SOON = { timeout: 30_000 }
const WIDTH = 640
const HEIGHT = 360

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'hedgerow-views-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

/** A yard; while `isCovered`, a grey cloth with the noise of the sensor. */
async function yard() {
  const scene = { name: 'a yard', seed: 12, daylight: 'day', durationMs: 1_000, actors: [] } as const
  const { image } = createRenderer(scene, WIDTH, HEIGHT).render(0)
  const camera = { isCovered: false }
  let noise = 1
  const url = await serveHttp((_request, response) => {
    const picture = createRgbImage(WIDTH, HEIGHT)
    for (let at = 0; at < picture.data.length; at++) {
      noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) >>> 0
      picture.data[at] = Math.min(255, Math.max(0, (camera.isCovered ? 110 : image.data[at]!) + (noise >>> 29) - 4))
    }
    void encodeJpeg(picture).then((jpeg) => response.setHeader('content-type', 'image/jpeg').end(jpeg))
  })
  return { url, camera }
}

async function open(dataDir: string, url: string) {
  let pictures = 0
  const clock = () => performance.now() + pictures * 5_000
  const view = await openView({ name: 'gate', address: url }, { dataDir, clock: () => Date.now() + clock(), log })
  const camera = openCamera({
    name: 'gate',
    settings: { ...camerasSettings.parse({ gate: { url } })['gate']!, url },
    log,
    clock,
    view,
    onFrame: () => void pictures++,
  })
  const stop = async () => {
    await camera.stop()
    await view.stop()
  }
  onTestFinished(stop)
  return { camera, view, stop, seen: () => pictures }
}

/** The share of pixels as grey as the cloth. */
const clothIn = async (jpeg: Buffer) => {
  const { data } = lumaOf(await decodeJpeg(jpeg))
  return data.filter((level) => Math.abs(level - 110) < 20).length / data.length
}

test('a covered camera is told with its pictures, also after a restart, until it is right', async () => {
  const dataDir = await folder()
  const { url, camera: lens } = await yard()
  const first = await open(dataDir, url)
  await expect.poll(first.seen, SOON).toBeGreaterThan(6)
  expect(first.camera.state().state).toBe('online')
  expect(first.view.pictures()).toBeUndefined()
  lens.isCovered = true
  await expect.poll(() => first.camera.state().state, SOON).toBe('covered')
  expect(first.camera.problems()).toEqual(['Camera gate: it is covered.'])
  await expect.poll(() => first.view.pictures(), SOON).toBeDefined()
  await first.stop()

  const second = await open(dataDir, url)
  await expect.poll(() => second.view.pictures()?.before, SOON).toBeDefined()
  expect(second.camera.state().state).toBe('covered')
  const { before, after } = second.view.pictures()!
  expect(await clothIn(before!)).toBeLessThan(0.8)
  expect(await clothIn(after)).toBeGreaterThan(0.9)
  lens.isCovered = false
  await expect.poll(() => second.camera.state().state, SOON).toBe('online')
  expect(second.view.pictures()).toBeUndefined()
  expect(second.camera.problems().join('')).not.toContain('covered')
})

test('a person may accept what it sees now', async () => {
  const dataDir = await folder()
  const { url, camera: lens } = await yard()
  const { camera, view, seen } = await open(dataDir, url)
  await expect.poll(seen, SOON).toBeGreaterThan(6)
  lens.isCovered = true
  await expect.poll(() => camera.state().state, SOON).toBe('covered')
  view.accept()
  expect(camera.state().state).toBe('online')
  const now = seen()
  await expect.poll(seen, SOON).toBeGreaterThan(now + 25)
  expect(camera.state().state).toBe('online')
})

test('usual pictures that are damaged on the disk are learnt anew', async () => {
  const dataDir = await folder()
  const { url } = await yard()
  const first = await open(dataDir, url)
  await expect.poll(first.seen, SOON).toBeGreaterThan(2)
  await first.stop()
  const [file] = await readdir(join(dataDir, 'views'))
  await writeFile(join(dataDir, 'views', file!), '{"usual":[{"key":"25 pink"}]}')
  const gone = join(dataDir, 'views', 'gone.json')
  await writeFile(gone, '{}')
  await utimes(gone, 0, 0)
  const second = await open(dataDir, url)
  await expect.poll(second.seen, SOON).toBeGreaterThan(2)
  expect(await readdir(join(dataDir, 'views'))).toEqual([file])
  expect(second.camera.state().state).toBe('online')
})
