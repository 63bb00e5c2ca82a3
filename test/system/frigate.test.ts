import { listDetections, readDetectionThumbnail, readGateway } from '@hedgerow/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jpegSize } from '../../apps/gateway/src/kernel/jpeg.ts'
import { startFrigateSite, type FrigateSite } from '../harness/frigate-site.ts'
import { waitFor } from '../harness/wait-for.ts'

let site: FrigateSite

beforeAll(async () => {
  site = await startFrigateSite({}, ({ url }) => `sources: { frigate: { url: "${url}" } }\n`)
})

afterAll(async () => {
  await site?.stop()
})

test('Frigate’s detections reach the hub with their picture, and with their end', async () => {
  const { hub, frigate, gatewayId: id } = site
  const others = await hub.api(listDetections, { params: { id } })
  const review = frigate.see({ camera: 'orchard', label: 'boar', severity: 'detection', score: 0.83, zones: ['rows'] })
  const known = async () =>
    (await hub.api(listDetections, { params: { id } })).filter((one) => !others.some((other) => other.id === one.id))
  const stored = await waitFor(async () => (await known()).find((found) => found.hasThumbnail), {
    for: 'the detection with its picture',
  })
  expect(stored).toMatchObject({ id: review.id, camera: 'orchard', label: 'boar', severity: 'detection', score: 0.83 })
  expect(stored.endedAt).toBeNull()
  const thumbnail = await hub.api(readDetectionThumbnail, { params: { id, detectionId: review.id } })
  expect(jpegSize(thumbnail)).toEqual({ width: 96, height: 54 })

  review.severity = 'alert'
  frigate.update(review)
  frigate.end(review)
  const ended = await waitFor(async () => (await known()).find((found) => found.endedAt !== null), {
    for: 'the end of the detection',
  })
  expect(ended).toMatchObject({ id: review.id, severity: 'alert' })
  expect(await known()).toHaveLength(1)
})

test("Frigate's cameras and detectors are on the gateway's page of the hub", async () => {
  const { hub, gatewayId: id } = site
  const heartbeat = await waitFor(
    async () => {
      const found = (await hub.api(readGateway, { params: { id } })).heartbeat
      return found && found.cameras.length > 0 ? found : undefined
    },
    { for: 'a heartbeat with cameras', timeoutMs: 60_000 },
  )
  expect(heartbeat.cameras.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { name: 'orchard', state: 'online', fps: 5.1 },
    { name: 'yard', state: 'online', fps: 5.1 },
  ])
  expect(heartbeat.detectors).toEqual([{ name: 'ov', inferenceMs: 12.4 }])
})
