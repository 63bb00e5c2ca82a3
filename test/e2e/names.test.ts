/**
 * The whole way of a name: people correct detections in the portal, a person trains now, the next animal of its kind is
 * named on the device and in the hub, another gateway of the site uses it, and one click undoes it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listDetections, listIncidents, reviewIncidents, type StoredDetection } from '@hedgerow/contract'
import { pooled } from '@hedgerow/vision'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putKnownModel, redRectangle } from '../../apps/gateway/testing/known-model.ts'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { startDrawnCamera, type RenderedCamera } from '../../apps/gateway/testing/rendered-camera.ts'
import { LEARNING_FILE, openLearningStore } from '../../apps/gateway/src/learning/store.ts'
import { approveNext } from '../harness/approval.ts'
import { GREY } from '../harness/onnx/known-answers.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

const HOUR_MS = 3_600_000
const CORRECTED = 24
const PATIENCE_MS = 120_000
const SIZE = { width: 288, height: 192 }
const ROUND_MS = 9_000
const LABELS = ['a', 'b', 'c', 'horse', 'person']
const RED = [255, 0, 0]
const YELLOW = [255, 230, 0]

let browser: BrowserHandle
let hub: Hub
let relay: Relay
let camera: RenderedCamera
let orchard: TestGateway
let barn: TestGateway
let id: string
let barnId: string

/** A red animal walks by, and goes. */
function scene(atMs: number) {
  const isThere = atMs > 1_500 && atMs < 6_000
  const x = Math.round(((atMs - 1_500) / 4_500) * 230)
  const rectangle = isThere ? { x, y: 81, width: 48, height: 63 } : { x: 0, y: 0, width: 0, height: 0 }
  return { image: redRectangle(SIZE.width, SIZE.height, rectangle), luma: undefined as never, truth: [] }
}

/** What the device remembers of earlier animals: red ones and yellow ones, which its detector all calls horses. */
async function remember(dataDir: string): Promise<void> {
  await putKnownModel(join(dataDir, 'models'), { labels: LABELS, features: true })
  const { sha256 } = JSON.parse(readFileSync(join(dataDir, 'models', 'known.json'), 'utf8')) as { sha256: string }
  const store = openLearningStore(join(dataDir, LEARNING_FILE), pino({ level: 'silent' }))
  const crop = { width: 64, height: 64, stride: 192, data: new Uint8Array(64 * 192) }
  const box = { x: 0.4, y: 0.4, width: 0.2, height: 0.3 }
  const facts = { camera: 'meadow', label: 'horse', score: 0.8, seconds: 1, travel: 1, box, crop }
  for (const [name, colour] of [
    ['red', RED],
    ['yellow', YELLOW],
  ] as const)
    for (let i = 0; i < CORRECTED; i++) {
      // A box has some of the grey around it.
      const grey = (0.5 * i) / CORRECTED
      const data = Float32Array.from(colour, (value) => (1 - grey) * value + grey * GREY)
      const map = { data, shape: [1, 1, 1, 3] }
      const values = pooled(map, { x: 0, y: 0, width: 1, height: 1 })
      const at = { at: pastOf(name, i), hour: i }
      store.addLook({ ...facts, ...at, id: `${name}-${i}`, features: { model: sha256, values } })
    }
  store.close()
}

const begun = Date.now()
const pastOf = (name: string, i: number) => begun - (2 * (CORRECTED - i) + (name === 'red' ? 1 : 0)) * HOUR_MS

const file = () => ({
  sources: {
    api: { loopbackNeedsToken: false },
    eye: { cameras: ['orchard'], model: 'known', recording: { clips: false } },
  },
  cameras: { orchard: { url: camera.mjpegUrl, framesPerSecond: 5 } },
  deterrents: {
    Water: { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, seconds: 1, coolDownSeconds: 0 },
  },
  rules: [{ name: 'boars', labels: ['boar'], fire: ['Water'] }],
})

beforeAll(async () => {
  ;[browser, hub, relay, camera] = await Promise.all([
    startBrowser(),
    startHub(),
    startRelay(),
    startDrawnCamera(scene, { durationMs: ROUND_MS, framesPerSecond: 5 }),
  ])
  const prepared = async (name: string, more: object) => {
    const gateway = await startGateway(hub, { name, location: 'Hill', file: more, before: remember })
    await approveNext(hub)
    return [gateway, await waitFor(() => gateway.state().gatewayId, { for: 'the approval' })] as const
  }
  ;[orchard, id] = await prepared('Orchard', file())
  ;[barn, barnId] = await prepared('Barn', {})
}, PATIENCE_MS)
afterAll(async () => {
  await browser?.close()
  await Promise.all([orchard?.stop(), barn?.stop()])
  await Promise.all([hub?.stop(), relay?.stop(), camera?.stop()])
})

/** The next detection of the eye that began after `since`, once it has this label. */
const next = (label: string, since: number, isReady: (found: StoredDetection) => boolean = () => true) =>
  waitFor(
    async () =>
      (await hub.api(listDetections, { params: { id } })).find(
        (one) => one.camera === 'orchard' && one.label === label && Date.parse(one.startedAt) > since && isReady(one),
      ),
    { for: `a ${label}`, timeoutMs: PATIENCE_MS },
  )

test(
  'corrected in the portal and trained now, the next one is named in the hub and fires its rule; one click undoes it',
  async () => {
    await next('horse', 0)
    for (const name of ['red', 'yellow'])
      for (let i = 0; i < CORRECTED; i++) {
        const startedAt = new Date(pastOf(name, i)).toISOString()
        const seen = { id: `${name}-${i}`, camera: 'meadow', label: 'horse', severity: 'alert', score: 0.8 } as const
        await orchard.localApi.reportDetections([{ ...seen, startedAt, endedAt: startedAt }])
      }
    const past = await waitFor(
      async () => {
        const found = (await hub.api(listIncidents, { query: { camera: 'meadow' } })) as {
          id: string
          startedAt: string
        }[]
        return found.length === 2 * CORRECTED ? found : undefined
      },
      { for: 'all incidents', timeoutMs: PATIENCE_MS },
    )
    const reds = new Set(Array.from({ length: CORRECTED }, (_, i) => new Date(pastOf('red', i)).toISOString()))
    const idsOf = (isRed: boolean) => past.filter((one) => reds.has(one.startedAt) === isRed).map((one) => one.id)
    const [last, ...others] = idsOf(true)
    await hub.api(reviewIncidents, { body: { ids: idsOf(false), verdict: 'right' } })
    await hub.api(reviewIncidents, { body: { ids: others, verdict: 'wrong', label: 'boar' } })

    const person = await browser.person({ viewport: { width: 1440, height: 900 } })
    const page = await person.newPage()
    await enterAs(page, hub, hub.admin)
    const portal = portalOf(page, hub)
    await portal.open(`/threats?incident=${last}`)
    await page.getByRole('button', { name: /^Other…/ }).click()
    await page.getByLabel('What is it?').fill('boar')
    await page.getByRole('button', { name: 'Save label' }).click()
    await expect.poll(async () => (await hub.api(listIncidents, { query: { review: 'wrong' } })).length).toBe(CORRECTED)

    await portal.open(`/gateways/${id}`)
    const names = page.getByRole('region', { name: 'Names of your animals' })
    // The corrections come with the answer to a heartbeat.
    await waitFor(
      async () => {
        await names.getByRole('button', { name: 'Train now' }).click()
        await names.getByRole('button', { name: 'Train now', disabled: false }).waitFor()
        return (await names.getByText(`${CORRECTED} corrections.`).count()) > 0 || undefined
      },
      { for: 'the corrections', timeoutMs: PATIENCE_MS, everyMs: 1_000 },
    )
    await names.getByText('learned', { exact: true }).waitFor()
    const boar = await next(
      'boar',
      Date.now(),
      ({ firings }) => firings?.some(({ outcome }) => outcome === 'fired') === true,
    )
    expect(boar.verdicts).toContainEqual(
      expect.objectContaining({ stage: 'named', reason: expect.stringContaining('said horse') }),
    )
    const since = Date.now()
    const hiker = { id: 'hiker', camera: 'orchard', label: 'person', severity: 'alert', score: 0.9 } as const
    await orchard.localApi.reportDetections([{ ...hiker, startedAt: new Date(since).toISOString() }])
    const held = await next('boar', since, ({ firings }) => firings !== undefined)
    expect(held.firings).toMatchObject([{ outcome: 'refused', reason: expect.stringContaining('A person was seen') }])
    const [incident] = await hub.api(listIncidents, { query: { label: 'boar', camera: 'orchard' } })
    await portal.open(`/threats?incident=${incident!.id}`)
    await page.getByText('Named by this gateway’s learning: the detector said horse.').first().waitFor()

    await portal.open(`/gateways/${id}`)
    await names.getByRole('button', { name: 'Use at Barn' }).click()
    await names.getByText('It uses them now.').waitFor()
    await portal.open(`/gateways/${barnId}`)
    await names.getByText('learned by Orchard').waitFor()
    await names.getByRole('button', { name: 'Undo version 1' }).click()
    await names.getByText('undone', { exact: true }).waitFor()

    await portal.open(`/gateways/${id}`)
    // A first version may have learned from the corrections that had come by then.
    const undo = names.getByRole('button', { name: /^Undo version/ })
    await undo.waitFor()
    while ((await undo.count()) > 0) {
      const name = await undo.innerText()
      await undo.click()
      await names.getByRole('button', { name, exact: true }).waitFor({ state: 'hidden' })
    }
    await next('horse', Date.now())
  },
  4 * PATIENCE_MS,
)
