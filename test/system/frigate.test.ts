import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  approveRegistration,
  listDetections,
  listGateways,
  listPendingRegistrations,
  readDetectionThumbnail,
  readGateway,
} from '@hedgerow/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFrigate, type TestFrigate } from '../harness/frigate.ts'
import { noteOf } from '../harness/frigate-shapes.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

let hub: Hub
let frigate: TestFrigate
let gateway: TestGateway
let folder: string
let id: string

beforeAll(async () => {
  ;[hub, frigate] = await Promise.all([startHub(), startFrigate()])
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-frigate-'))
  const configFile = join(folder, 'gateway.yaml')
  await writeFile(configFile, `sources: { frigate: { url: "${frigate.url}" } }\n`)
  gateway = await startGateway({ url: hub.url }, { name: 'Orchard', configFile })
  const registration = await waitFor(async () => (await hub.api(listPendingRegistrations))[0], {
    for: 'the registration',
  })
  await hub.api(approveRegistration, { params: { registrationId: registration.registrationId } })
  const online = await waitFor(async () => (await hub.api(listGateways)).find(({ status }) => status === 'online'), {
    for: 'the gateway to be online',
  })
  id = online.id
  await waitFor(() => frigate.viewers() === 1, { for: "the agent at Frigate's WebSocket" })
})

afterAll(async () => {
  await gateway?.stop()
  await frigate?.stop()
  await hub?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

test('Frigate’s detections reach the hub with their picture, and with their end', async () => {
  const review = frigate.see({ camera: 'orchard', label: 'boar', severity: 'detection', score: 0.83, zones: ['rows'] })
  const stored = await waitFor(
    async () => (await hub.api(listDetections, { params: { id } })).find((found) => found.hasThumbnail),
    { for: 'the detection with its picture' },
  )
  expect(stored).toMatchObject({ id: review.id, camera: 'orchard', label: 'boar', severity: 'detection', score: 0.83 })
  expect(stored.endedAt).toBeNull()
  const thumbnail = await hub.api(readDetectionThumbnail, { params: { id, detectionId: review.id } })
  expect(noteOf(Buffer.from(thumbnail.jpeg, 'base64'))).toBe(`snapshot ${review.objects[0]!.id}`)

  review.severity = 'alert'
  frigate.update(review)
  frigate.end(review)
  const ended = await waitFor(
    async () => (await hub.api(listDetections, { params: { id } })).find((found) => found.endedAt !== null),
    { for: 'the end of the detection' },
  )
  expect(ended).toMatchObject({ id: review.id, severity: 'alert' })
  expect(await hub.api(listDetections, { params: { id } })).toHaveLength(1)
})

test("Frigate's cameras and detectors are on the gateway's page of the hub", async () => {
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
