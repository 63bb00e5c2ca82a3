import { randomUUID } from 'node:crypto'
import { listDetections, readGateway, type Detection } from '@hedgerow/contract'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { admit } from '../harness/approval.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { says, startVisionServer, type VisionServer } from '../harness/vision-server.ts'
import { waitFor } from '../harness/wait-for.ts'

/** A gateway without a vision endpoint of its own asks that of its hub. */
let vision: VisionServer
let hub: Hub
let gateway: TestGateway
let id: string
let metricsPort: number
let thumbnail: string

const A_DAY_EACH = 12
const day = () => new Date().getUTCDate()
const began = day()
/** Midnight, that of UTC, gives the gateway as many pictures again. */
const most = () => (day() === began ? A_DAY_EACH : 2 * A_DAY_EACH)

beforeAll(async () => {
  vision = await startVisionServer(says('yes', 'A boar between the trees.', 0.8))
  metricsPort = await freeTcpPort()
  hub = await startHub({
    env: {
      HUB_VISION_URL: vision.url,
      HUB_VISION_KEY: 'a-key',
      HUB_VISION_MODEL: 'eyes',
      HUB_VISION_PICTURES_A_DAY_EACH: String(A_DAY_EACH),
      HUB_METRICS_PORT: String(metricsPort),
    },
  })
  const secondLook = { labels: ['boar'], hub: true, normal: 'Sheep graze behind the fence.' }
  gateway = await startGateway(hub, { name: 'Orchard', file: { secondLook } })
  id = await admit(hub)
  await waitFor(async () => (await hub.api(readGateway, { params: { id } })).heartbeat !== null, {
    for: 'a heartbeat',
    timeoutMs: 120_000,
  })
  const grey = { width: 320, height: 180, channels: 3, background: '#888' } as const
  thumbnail = (await sharp({ create: grey }).jpeg().toBuffer()).toString('base64')
})

afterAll(async () => {
  await gateway?.stop()
  await hub?.stop()
  await vision?.stop()
})

const boar = (name: string): Detection => ({
  id: name,
  camera: 'orchard',
  label: 'boar',
  severity: 'alert',
  score: 0.9,
  startedAt: new Date().toISOString(),
  thumbnail,
})

type ReviewedDetection = Pick<Detection, 'id' | 'verdicts'>

/** The verdict of the second look as the hub and as the device know it. */
async function verdictOf(name: string) {
  const look = (known: readonly ReviewedDetection[]) =>
    known.find((each) => each.id === name)?.verdicts?.find(({ stage }) => stage === 'second-look')
  return waitFor(
    async () => {
      const hubs = look(await hub.api(listDetections, { params: { id } }))
      const answer = await fetch(`${gateway.pageUrl}api/v1/detections`)
      const devices = look(((await answer.json()) as { detections: ReviewedDetection[] }).detections)
      return hubs && devices && { hubs, devices }
    },
    { for: `the verdict about ${name}`, timeoutMs: 120_000 },
  )
}

test('the verdict of the hub’s endpoint is kept by the device and by the hub', async () => {
  await gateway.localApi.reportDetections([boar('first')])
  const { hubs, devices } = await verdictOf('first')
  const said = { by: 'eyes', outcome: 'confirmed', score: 0.8, reason: 'A boar between the trees.' }
  expect([hubs, devices]).toMatchObject([said, said])
  const [question] = vision.questions
  expect(question!.headers.authorization).toBe('Bearer a-key')
  expect(question!.text).toContain('"boar"?\nCamera: "orchard".')
  expect(question!.text).toContain('Normal there: "Sheep graze behind the fence."')
})

test('what the endpoint refused with 429, and what came during its pause, gets its verdict afterwards', async () => {
  vision.answer = { status: 429, headers: { 'retry-after': '2' } }
  await gateway.localApi.reportDetections([boar('refused')])
  await waitFor(() => vision.questions.length > 1, { for: 'the question', timeoutMs: 60_000 })
  await gateway.localApi.reportDetections([boar('meanwhile')])
  vision.answer = says('no', 'A bush.')
  for (const name of ['refused', 'meanwhile']) {
    const { hubs, devices } = await verdictOf(name)
    const said = { by: 'eyes', outcome: 'rejected', reason: 'A bush.' }
    expect([hubs, devices]).toMatchObject([said, said])
  }
})

test('when the pictures of the day are spent, detections stay unsure, and the device says so', async () => {
  const reason = 'The pictures of this day are spent.'
  const ask = async () => {
    const asked = boar(randomUUID())
    await gateway.localApi.reportDetections([asked])
    return verdictOf(asked.id)
  }
  let last = await ask()
  while (last.hubs.reason !== reason && vision.questions.length <= most()) last = await ask()
  expect([last.hubs, last.devices]).toMatchObject([
    { outcome: 'unsure', reason },
    { outcome: 'unsure', reason },
  ])
  expect(vision.questions.length).toBeGreaterThanOrEqual(A_DAY_EACH)
  expect(vision.questions.length).toBeLessThanOrEqual(most())
  const { problems } = await waitFor(
    async () => {
      const { heartbeat } = await hub.api(readGateway, { params: { id } })
      return heartbeat && heartbeat.problems.length > 0 ? heartbeat : undefined
    },
    { for: 'the problem in a heartbeat', timeoutMs: 120_000 },
  )
  expect(problems).toEqual([`The second look does not work: ${reason}`])
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(metrics).toMatch(/^hedgerow_second_looks_total\{outcome="confirmed"\} 1$/m)
  expect(metrics).toMatch(/^hedgerow_second_looks_total\{outcome="refused"\} [1-9]\d*$/m)
  expect(metrics).toMatch(/^hedgerow_second_looks_waiting 0$/m)
})
