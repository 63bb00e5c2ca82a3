import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listDetections, readDetectionClip, readDetectionThumbnail, readGateway } from '@hedgerow/contract'
import { walker } from '@hedgerow/vision/rendered'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRenderedCamera, type RenderedCamera } from '../../apps/gateway/testing/rendered-camera.ts'
import { jpegSize } from '../../apps/gateway/src/kernel/jpeg.ts'
import { admit } from '../harness/approval.ts'
import type { Refusal } from '@hedgerow/client'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

let hub: Hub
let camera: RenderedCamera
let gateway: TestGateway
let folder: string
let id: string

beforeAll(async () => {
  // A boar walks through, leaves, and comes again, for as long as the test takes.
  const scene = { name: 'orchard', seed: 41, daylight: 'night', durationMs: 16_000 } as const
  camera = await startRenderedCamera({
    ...scene,
    actors: [walker('boar', { seed: 21, startMs: 4_000, endMs: 13_000 })],
  })
  hub = await startHub()
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-eye-'))
  const configFile = join(folder, 'gateway.yaml')
  await writeFile(
    configFile,
    `cameras:
  orchard: { url: "${camera.mjpegUrl}", framesPerSecond: 5, zones: { rows: [[0, 0.4], [1, 0.4], [1, 1], [0, 1]] } }
sources:
  eye: { cameras: [orchard], model: demonstration, recording: { secondsAfter: 1 } }
  api: { loopbackNeedsToken: false }
`,
  )
  gateway = await startGateway({ url: hub.url }, { name: 'Orchard', configFile })
  id = await admit(hub)
})

afterAll(async () => {
  await gateway?.stop()
  await camera?.stop()
  await hub?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

test('an animal that walks past a camera reaches the hub with name, zone and picture, and ends', async () => {
  const detections = () => hub.api(listDetections, { params: { id } })
  const boar = await waitFor(
    async () => (await detections()).find(({ label, hasThumbnail }) => label === 'boar' && hasThumbnail),
    {
      for: 'the boar',
      timeoutMs: 120_000,
    },
  )
  expect(boar).toMatchObject({ camera: 'orchard', severity: 'alert' })
  expect(boar.score).toBeGreaterThanOrEqual(0.6)
  const jpeg = await hub.api(readDetectionThumbnail, { params: { id, detectionId: boar.id } })
  expect(jpegSize(jpeg)!.width).toBeGreaterThanOrEqual(320)
  await waitFor(async () => (await detections()).find((found) => found.id === boar.id && found.endedAt !== null), {
    for: 'the end of the detection',
    timeoutMs: 120_000,
  })
})

/** Undefined when there is a clip. */
const clipError = (detectionId: string) =>
  hub.api(readDetectionClip, { params: { id, detectionId } }).then(
    () => undefined,
    (error: unknown) => (error as Refusal).body.error,
  )

const ffmpegIsMissing = spawnSync('ffmpeg', ['-version']).error !== undefined

test.skipIf(ffmpegIsMissing)(
  `its whole picture and its clip are on the device${ffmpegIsMissing ? ' (skipped: there is no ffmpeg)' : ''}`,
  async () => {
    await waitFor(
      async () => {
        const present = (await hub.api(listDetections, { params: { id } })).find(({ endedAt }) => endedAt === null)
        return present && (await clipError(present.id)) === 'clip_not_finished'
      },
      { for: 'a clip that is still being filmed', timeoutMs: 120_000 },
    )
    const endedNow = async () =>
      (await hub.api(listDetections, { params: { id } })).filter(({ endedAt }) => endedAt !== null)
    let [ended] = await endedNow()
    const read = (file: string, headers = {}) =>
      fetch(`${gateway.pageUrl}api/v1/detections/${ended!.id}/${file}`, { headers })
    const snapshot = Buffer.from(await (await read('snapshot.jpg')).arrayBuffer())
    expect(jpegSize(snapshot)).toEqual({ width: 640, height: 360 })
    const boxed = Buffer.from(await (await read('snapshot.jpg?boxed=true')).arrayBuffer())
    expect(jpegSize(boxed)).toEqual({ width: 640, height: 360 })
    expect(boxed.equals(snapshot)).toBe(false)
    const clip = await waitFor(
      async () => {
        // The newest walk that is over: one whose pictures came too slowly may have no clip.
        ;[ended] = await endedNow()
        const answer = await read('clip.mp4', { range: 'bytes=4-7' })
        return answer.ok ? answer : undefined
      },
      { for: 'the clip', timeoutMs: 120_000 },
    )
    expect([clip.status, clip.headers.get('content-type'), await clip.text()]).toEqual([206, 'video/mp4', 'ftyp'])
    expect(await clipError(ended!.id)).toBeUndefined()
  },
)

test('the camera and the eye are on the gateway’s page of the hub', async () => {
  const heartbeat = await waitFor(
    async () => {
      const found = (await hub.api(readGateway, { params: { id } })).heartbeat
      return found?.cameras.some(({ state }) => state === 'online') ? found : undefined
    },
    { for: 'a heartbeat with a camera that is online', timeoutMs: 120_000 },
  )
  expect(heartbeat.cameras).toMatchObject([{ name: 'orchard', state: 'online' }])
  expect(heartbeat.detectors).toMatchObject([{ name: 'demonstration eye' }])
})
