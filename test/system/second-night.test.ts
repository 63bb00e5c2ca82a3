/**
 * The whole way of a detection with real parts: a program reports it, learning judges it, the hub's vision endpoint
 * takes a second look, a rule fires a relay, and the hub shows the picture with each verdict in words. Reviews in the
 * hub reach the gateway, and change its decisions after the next night.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  listDetections,
  listIncidents,
  listLedger,
  readDetectionThumbnail,
  reviewIncidents,
  type GatewayLearning,
  type StoredDetection,
} from '@hedgerow/contract'
import { createRandom } from '@hedgerow/vision/rendered'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { admit } from '../harness/approval.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { says, startVisionServer, type VisionServer } from '../harness/vision-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const HOUR_MS = 3_600_000
const REVIEWED = 50
/** The index of one wrong review: a branch that was called right. */
const SLIP = 21
/** Includes a heartbeat, whose answer announces new reviews. */
const PATIENCE_MS = 120_000

let hub: Hub
let vision: VisionServer
let relay: Relay
let gateway: TestGateway
let folder: string
let id: string
/** Once it is, no incident is hidden, also not from a second try. */
let isCalledRight = false

const switched = () => ({ driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, coolDownSeconds: 0 })
const configure = (deterrents: string[], more: object) =>
  writeFile(
    join(folder, 'gateway.yaml'),
    JSON.stringify({
      sources: { api: { loopbackNeedsToken: false } },
      deterrents: Object.fromEntries(deterrents.map((name) => [name, switched()])),
      ...more,
    }),
  )

/** Ends with the file, or before the second try of the first test, which begins with nothing learned. */
let life = new AsyncDisposableStack()
afterAll(() => life.disposeAsync())

async function startSite(): Promise<void> {
  await life.disposeAsync()
  life = new AsyncDisposableStack()
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-second-night-'))
  const ofThis = folder
  life.defer(() => rm(ofThis, { recursive: true, force: true }))
  vision = await startVisionServer(says('yes', 'A deer grazes between the trees.'))
  life.defer(vision.stop)
  relay = await startRelay()
  life.defer(relay.stop)
  hub = await startHub({ env: { HUB_VISION_URL: vision.url, HUB_VISION_MODEL: 'eyes' } })
  life.defer(async () => void (await hub.stop()))
  await configure([], {})
  gateway = await startGateway({ url: hub.url }, { name: 'Orchard', configFile: join(folder, 'gateway.yaml') })
  life.defer(gateway.stop)
  id = await admit(hub)
}

const random = createRandom(12)

/** A deer is a bright body on dark ground; a branch is stripes from one side to the other. */
function draw(kind: 'deer' | 'branch'): Promise<string> {
  const [side, shift] = [64, random.between(-6, 6)]
  const pixels = Buffer.alloc(side * side)
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const isBody = Math.abs(x - 32 - shift) < 18 && Math.abs(y - 34) < 10
      const isStripe = Math.floor((x + y + shift) / 5) % 2 === 0
      pixels[y * side + x] = ((kind === 'deer' ? isBody : isStripe) ? 170 : 60) + random.between(-20, 20)
    }
  const jpeg = sharp(pixels, { raw: { width: side, height: side, channels: 1 } }).jpeg({ quality: 90 })
  return jpeg.toBuffer().then((bytes) => bytes.toString('base64'))
}

/** Reports a detection as a program on the device, which gives everything the same label. */
async function report(name: string, kind: 'deer' | 'branch', startedAt = Date.now()): Promise<void> {
  const seen = { id: name, camera: 'orchard', label: 'deer', severity: 'alert', score: 0.7 } as const
  const moment = new Date(startedAt).toISOString()
  await gateway.localApi.reportDetections([{ ...seen, startedAt: moment, thumbnail: await draw(kind) }])
}

const local = async (path: string, method = 'GET') => {
  const answer = await fetch(`${gateway.pageUrl}api/v1${path}`, { method })
  expect(answer.status).toBe(200)
  return answer.json() as Promise<unknown>
}
const deerOf = async () =>
  ((await local('/learning')) as GatewayLearning).cameras[0]?.labels.find(({ label }) => label === 'deer')

/** The detection in the hub, once `isReady` accepts it. */
const inHub = (name: string, isReady: (found: StoredDetection) => boolean) =>
  waitFor(
    async () => {
      const found = (await hub.api(listDetections, { params: { id } })).find((one) => one.id === name)
      return found && isReady(found) ? found : undefined
    },
    { for: name, timeoutMs: PATIENCE_MS },
  )

const verdictOf = ({ verdicts = [] }: StoredDetection, stage: string) => verdicts.find((one) => one.stage === stage)

test('detections like those called wrong are held back after the next night, once people were asked', async () => {
  await startSite()
  const now = Date.now()
  for (let i = 0; i < REVIEWED; i++)
    await report(`past-${i}`, i % 2 === 0 ? 'deer' : 'branch', now - (REVIEWED - i) * HOUR_MS)
  const incidents = await waitFor(
    async () => {
      const found = await hub.api(listIncidents)
      return found.length === REVIEWED ? found.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt)) : undefined
    },
    { for: 'all incidents', timeoutMs: PATIENCE_MS },
  )
  const isRight = (place: number) => place % 2 === 0 || place === SLIP
  // In the order of arrival: the newest reviews are kept for testing the verifier.
  for (const [place, { id: incident }] of incidents.entries())
    await hub.api(reviewIncidents, { body: { ids: [incident], verdict: isRight(place) ? 'right' : 'wrong' } })
  await report('before', 'branch')
  await inHub('before', ({ suppressed }) => suppressed !== true)

  // One branch that was called right keeps the threshold low, and the gateway asks about it.
  const learn = () => local('/learning/run', 'POST')
  const asked = await waitFor(
    async () => {
      await learn()
      return (await hub.api(listIncidents, { query: { learning: 'doubtful' } }))[0]
    },
    { for: 'a review to look at again', timeoutMs: PATIENCE_MS, everyMs: 1_000 },
  )
  expect(asked).toMatchObject({ id: incidents[SLIP]!.id, isDoubtful: true })
  expect(await deerOf()).toMatchObject({ versions: [] })
  await hub.api(reviewIncidents, { body: { ids: [asked.id], verdict: 'wrong' } })
  await waitFor(
    async () => {
      await learn()
      return (await deerOf())?.versions.find(({ state }) => state === 'active')
    },
    { for: 'a version that takes over', timeoutMs: PATIENCE_MS, everyMs: 1_000 },
  )
})

test('detections that look like them fire nothing and get no second look; others get both', async () => {
  await configure(['sprinkler'], {
    secondLook: { labels: ['deer'], hub: true },
    rules: [{ name: 'Deer', labels: ['deer'], verdict: 'confirmed', fire: ['sprinkler'] }],
  })
  const state = async () => ((await local('/status')) as { deterrents: { state: string }[] }).deterrents[0]?.state
  await waitFor(async () => (await state()) === 'ready', { for: 'the sprinkler' })
  await report('branch', 'branch')
  const branch = await inHub('branch', ({ suppressed }) => suppressed === true)
  expect(verdictOf(branch, 'learned')).toMatchObject({
    outcome: 'rejected',
    reason: 'It looks like what people called wrong on this camera.',
  })
  expect((await hub.api(listIncidents, { query: { learning: 'hidden' } })).map(({ label }) => label)).toEqual(['deer'])

  await report('deer', 'deer')
  const deer = await inHub('deer', ({ deterrent, hasThumbnail }) => deterrent !== null && hasThumbnail)
  expect(verdictOf(deer, 'learned')).toMatchObject({ outcome: 'unsure', by: 'version 1' })
  expect(verdictOf(deer, 'second-look')).toMatchObject({
    outcome: 'confirmed',
    by: 'eyes',
    reason: 'A deer grazes between the trees.',
  })
  expect(relay.calls).toContain('on')
  expect(await hub.api(listLedger, { params: { id } })).toContainEqual(
    expect.objectContaining({
      kind: 'fired',
      deterrent: 'sprinkler',
      by: expect.objectContaining({ kind: 'rule', name: 'Deer', detection: 'deer' }) as object,
    }),
  )
  const jpeg = await hub.api(readDetectionThumbnail, { params: { id, detectionId: 'deer' } })
  expect((await sharp(jpeg).metadata()).format).toBe('jpeg')
  expect(vision.questions).toHaveLength(1)
  expect(vision.questions[0]?.text).toMatch(/deer/)
})

test('calling a held-back detection right shows it again, and counts as a miss', async () => {
  if (!isCalledRight) {
    const [hidden] = await hub.api(listIncidents, { query: { learning: 'hidden' } })
    await hub.api(reviewIncidents, { body: { ids: [hidden!.id], verdict: 'right' } })
    isCalledRight = true
  }
  await inHub('branch', ({ suppressed }) => suppressed !== true)
  await expect.poll(async () => (await deerOf())?.versions.at(-1)?.missed, { timeout: PATIENCE_MS }).toBe(1)
})
