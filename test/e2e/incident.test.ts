/** An incident on a phone: everything that decides is on one screen, by thumb. */
import { readFile } from 'node:fs/promises'
import { armGateway, disarmGateway, listGateways, listIncidents, type Detection } from '@hedgerow/contract'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { approveNext } from '../harness/approval.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

const HEIGHT = 844

let browser: BrowserHandle
let hub: Hub
let relay: Relay
let orchard: TestGateway
let id: string
let thumbnail: string

const report = (name: string, label: string, secondsAgo = 0) => {
  const startedAt = new Date(Date.now() - secondsAgo * 1_000).toISOString()
  const seen: Detection = { id: name, camera: 'gate', label, severity: 'alert', score: 0.9, startedAt, thumbnail }
  return orchard.localApi.reportDetections([seen])
}
const incidentOf = (label: string) =>
  waitFor(async () => (await hub.api(listIncidents, { query: {} })).find((one) => one.label === label), {
    for: `the ${label}`,
    timeoutMs: 60_000,
  })
const untilIs = (state: string) =>
  waitFor(async () => (await hub.api(listGateways)).some(({ protection }) => protection.state === state), {
    for: state,
    timeoutMs: 60_000,
  })

beforeAll(async () => {
  ;[browser, hub, relay] = await Promise.all([startBrowser(), startHub(), startRelay()])
  thumbnail = (await readFile(new URL('../../scripts/demo-frames/boar.jpg', import.meta.url))).toString('base64')
  const urls = { on: { url: relay.onUrl }, off: { url: relay.offUrl } }
  orchard = await startGateway(hub, {
    name: 'Orchard',
    location: 'Row 12',
    file: {
      // No test waits for its end.
      deterrents: { Water: { driver: 'http', ...urls, seconds: 600, secondsAnHour: 3_600, coolDownSeconds: 0 } },
      rules: ['boar', 'deer'].map((label) => ({ name: label, labels: [label], fire: ['Water'] })),
      site: { timeZone: 'Pacific/Auckland' },
    },
  })
  await approveNext(hub)
  id = await waitFor(() => orchard.state().gatewayId, { for: 'the approval' })
  await orchard.localApi.patchStatus({ cameras: [{ name: 'gate', state: 'online', fps: 5 }] })
  await untilIs('protected')
})
afterAll(async () => {
  await browser?.close()
  await orchard?.stop()
  await hub?.stop()
  await relay?.stop()
})

async function phone() {
  const person = await browser.person({
    viewport: { width: 390, height: HEIGHT },
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
  })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  await enterAs(page, hub, hub.admin)
  return { page, portal: portalOf(page, hub), touch: await person.newCDPSession(page) }
}

type Finger = { x: number; y: number }
async function move(touch: CDPSession, from: readonly Finger[], to: readonly Finger[]): Promise<void> {
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [...from] })
  await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [...to] })
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}
const pictureOf = async (page: Page) => {
  const box = (await page
    .getByRole('img', { name: /^(?:deer|fox|boar) at gate$/ })
    .last()
    .boundingBox())!
  return { x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width }
}

test('while the water is on, everything is within the screen, Stop too, and acknowledging is one press', async () => {
  await report('boar-1', 'boar')
  await untilIs('firing')
  const { page, portal } = await phone()
  await portal.open(`/threats?incident=${(await incidentOf('boar')).id}`)
  const dialog = portal.dialog()
  await dialog.getByText('Water 600 s', { exact: true }).waitFor()
  await dialog.getByText('gate · Orchard · Row 12').waitFor()
  // In the time of the site; that of the viewer is on hover.
  const when = dialog.getByRole('paragraph').getByText(/NZ[DS]T|GMT\+1[23]/)
  expect(await when.getAttribute('title')).toMatch(/^Here: /)
  await dialog.getByText(/^Firing: Water/).waitFor()
  const buttons = ['Correct', 'Wrong', 'Other…', 'Acknowledge'].map((name) => dialog.getByRole('button', { name }))
  const stop = dialog.getByRole('button', { name: 'Stop Orchard' })
  for (const button of [...buttons, stop]) {
    const box = (await button.boundingBox())!
    expect(box.height).toBeGreaterThanOrEqual(44)
    expect(box.y + box.height).toBeLessThanOrEqual(HEIGHT)
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeViolations(page)).toEqual([])
  await buttons[3]!.click()
  await buttons[3]!.waitFor({ state: 'hidden' })
  expect(relay.isOn()).toBe(true)
  await stop.click()
  await waitFor(() => !relay.isOn(), { for: 'the water to stop' })

  // The card shows it whole too, and a phone has no keys.
  await portal.open('/threats')
  const card = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /boar/ }) })
  const fired = (await card.getByText('fired', { exact: true }).boundingBox())!
  const box = (await card.boundingBox())!
  expect(fired.x + fired.width).toBeLessThanOrEqual(box.x + box.width)
  expect(fired.y + fired.height).toBeLessThanOrEqual(box.y + box.height)
  expect(await page.getByText('selects;').isVisible()).toBe(false)

  // The dashboard says on its first screen what it was, and what was done.
  await portal.open('/dashboard')
  const last = page.getByRole('region', { name: 'Last threat' })
  await last.getByText('boar at Orchard, Row 12').waitFor()
  await last.getByText(/^Water \d+ s/).waitFor()
  const whole = (await last.boundingBox())!
  expect(whole.y + whole.height).toBeLessThanOrEqual(HEIGHT)
  await last.getByRole('link').click()
  await dialog.getByText('gate · Orchard · Row 12').waitFor()
})

test('what was blocked says so with the reason, and a swipe leads to the next incident, two fingers zoom', async () => {
  await hub.api(disarmGateway, { params: { id }, query: {} })
  onTestFinished(async () => void (await hub.api(armGateway, { params: { id } })))
  await report('fox-1', 'fox', 300)
  await report('deer-1', 'deer')
  const { page, portal, touch } = await phone()
  await incidentOf('fox')
  const deer = await incidentOf('deer')
  await portal.open(`/threats?incident=${deer.id}`)
  const dialog = portal.dialog()
  await dialog.getByText('Water blocked: disarmed', { exact: true }).waitFor()
  await dialog.getByText(/^Disarmed by /).waitFor()

  const { x, y, width } = await pictureOf(page)
  await move(
    touch,
    [
      { x: x - 10, y },
      { x: x + 10, y },
    ],
    [
      { x: x - 60, y },
      { x: x + 60, y },
    ],
  )
  await expect.poll(async () => (await pictureOf(page)).width).toBeGreaterThan(width * 2)
  // One finger moves a zoomed picture, and leads nowhere.
  await move(touch, [{ x: x + 60, y }], [{ x: x - 60, y }])
  await dialog.getByRole('heading', { name: 'deer at Orchard' }).waitFor()
  await move(
    touch,
    [
      { x: x - 60, y },
      { x: x + 60, y },
    ],
    [
      { x: x - 5, y },
      { x: x + 5, y },
    ],
  )
  await expect.poll(async () => (await pictureOf(page)).width).toBeCloseTo(width, 0)

  await page.getByRole('button', { name: 'Next incident' }).waitFor()
  await move(touch, [{ x: x + 80, y }], [{ x: x - 80, y: y + 5 }])
  await dialog.getByRole('heading', { name: /^(boar|fox) at Orchard$/ }).waitFor()
  await move(touch, [{ x: x - 80, y }], [{ x: x + 80, y: y - 5 }])
  await dialog.getByRole('heading', { name: 'deer at Orchard' }).waitFor()
})

test('after a tap on Wrong the next one says so with Undo, and a second tap at once judges nothing', async () => {
  await report('fox-2', 'fox', 300)
  await report('deer-2', 'deer')
  const { page, portal } = await phone()
  await incidentOf('fox')
  const first = await incidentOf('deer')
  await portal.open(`/threats?incident=${first.id}`)
  const dialog = portal.dialog()
  const reviewed = async () => (await hub.api(listIncidents, { query: {} })).filter(({ review }) => review !== null)
  await page.getByRole('button', { name: 'Next incident' }).waitFor()
  // Taps as fast as the page draws, also on the next incident while it is new.
  await page.evaluate(() => {
    const start = location.search
    let changedAt = Infinity
    const tap = () => {
      const wrong = [...document.querySelectorAll<HTMLElement>('[role=dialog] button')].find((button) =>
        button.textContent.startsWith('Wrong'),
      )
      wrong?.click()
      if (location.search !== start) changedAt = Math.min(changedAt, performance.now())
      if (performance.now() < changedAt + 300) requestAnimationFrame(tap)
    }
    tap()
  })
  await dialog.getByRole('status').getByText('Marked wrong').waitFor()
  const undo = dialog.getByRole('status').getByRole('button', { name: 'Undo' })
  expect((await undo.boundingBox())!.height).toBeGreaterThanOrEqual(44)
  expect((await reviewed()).map((one) => one.id)).toEqual([first.id])
  expect(await axeViolations(page)).toEqual([])
  await undo.click()
  await page.waitForURL((url) => url.searchParams.get('incident') === first.id)
  await expect.poll(reviewed).toEqual([])

  // Several at once, without a keyboard.
  await portal.open('/threats')
  for (const label of ['fox', 'deer']) await page.getByLabel(`Select ${label} at Orchard`).first().check()
  await page
    .getByRole('region', { name: 'Selected incidents' })
    .getByRole('button', { name: /^Wrong/ })
    .click()
  await page.getByText('2 incidents reviewed.').waitFor()
  expect(await reviewed()).toHaveLength(2)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect.poll(reviewed).toEqual([])
})
