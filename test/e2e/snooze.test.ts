import { endGatewayMaintenance, endGatewaySnooze, listAlerts, listGateways, listIncidents } from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { approveNext } from '../harness/approval.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { signInToDevice } from '../harness/device.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

/** A gateway with two cameras and a sprinkler that a boar sets off. */
let browser: BrowserHandle
let hub: Hub
let relay: Relay
let orchard: TestGateway
let id: string

const gateway = async (of = id) => (await hub.api(listGateways)).find((one) => one.id === of)!
const untilIs = (state: string, of = id) =>
  waitFor(async () => (await gateway(of)).protection.state === state, { for: `it to be ${state}`, timeoutMs: 60_000 })
const watch = () =>
  orchard.localApi.patchStatus({
    cameras: [
      { name: 'gate', state: 'online', fps: 5 },
      { name: 'yard', state: 'online', fps: 5 },
    ],
  })
let seen = 0
const see = (camera: string) =>
  orchard.localApi.reportDetections([
    {
      id: `d${++seen}`,
      camera,
      label: 'boar',
      severity: 'alert',
      score: 0.9,
      startedAt: new Date().toISOString(),
    },
  ])
const incidents = async () =>
  (await hub.api(listIncidents)).map(({ camera, isSnoozed, isFired }) => ({ camera, isSnoozed, isFired }))

beforeAll(async () => {
  ;[browser, hub, relay] = await Promise.all([startBrowser(), startHub(), startRelay()])
  const sprinkler = {
    driver: 'http',
    on: { url: relay.onUrl },
    off: { url: relay.offUrl },
    seconds: 1,
    coolDownSeconds: 0,
    watchedBy: [],
  }
  const rules = [{ name: 'Boar', labels: ['boar'], fire: ['sprinkler'] }]
  orchard = await startGateway(hub, { name: 'Orchard', location: 'Valley', file: { deterrents: { sprinkler }, rules } })
  await approveNext(hub)
  id = await waitFor(() => orchard.state().gatewayId, { for: 'the approval' })
  await untilIs('blind')
  await watch()
  await untilIs('protected')
})
afterAll(async () => {
  await browser?.close()
  await orchard?.stop()
  await hub?.stop()
  await relay?.stop()
})

beforeEach(async () => {
  // A program that is silent for two minutes watches nothing.
  await watch()
  for (const { kind, camera } of (await gateway()).snoozes)
    if (kind === 'maintenance') await hub.api(endGatewayMaintenance, { params: { id } })
    else await hub.api(endGatewaySnooze, { params: { id }, body: camera === null ? {} : { camera } })
  await untilIs('protected')
})

async function openPortal(viewport: { width: number; height: number }, colorScheme: 'light' | 'dark' = 'light') {
  const person = await browser.person({ viewport, colorScheme, reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  await enterAs(page, hub, hub.admin)
  return { page, portal: portalOf(page, hub) }
}

test('a snoozed camera fires nothing and tells nobody, from the phone, and what it sees is marked', async () => {
  const { page, portal } = await openPortal({ width: 390, height: 844 }, 'dark')
  await portal.open('/cameras')
  const tile = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /gate / }) })
  await tile.getByRole('button', { name: 'Snooze Orchard' }).click()
  const dialog = portal.dialog()
  expect(await dialog.getByLabel('What').inputValue()).toBe('camera gate')
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: '2 hours' }).click()
  await untilIs('snoozed')
  await tile.getByText('Snoozed', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: /yard Protected/ }).count()).toBe(1)

  await see('gate')
  await expect.poll(incidents).toEqual([{ camera: 'gate', isSnoozed: true, isFired: false }])
  await see('yard')
  await expect
    .poll(async () => (await incidents()).find(({ camera }) => camera === 'yard'))
    .toEqual({ camera: 'yard', isSnoozed: false, isFired: true })
  const alerts = async () =>
    (await hub.api(listAlerts)).flatMap(({ kind, title, count }) => (kind === 'detection' ? `${count}: ${title}` : []))
  await expect.poll(alerts).toEqual([expect.stringMatching(/^1: boar at Orchard, yard/)])
  expect(relay.calls.filter((call) => call === 'on')).toHaveLength(1)

  await portal.open('/threats')
  await page.getByText('snoozed: no alert').waitFor()
  expect(await axeViolations(page)).toEqual([])

  await portal.open(`/gateways/${id}`)
  await page
    .getByText(/^Snoozed: camera gate by \S+ until (?:[A-Z]\w\w )?\d\d:\d\d/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'End snooze of gate Orchard' }).click()
  await untilIs('protected')
  const happened = page.getByRole('list', { name: 'What happened' })
  await happened.getByText(/camera gate was snoozed by/).waitFor()
})

test('all gateways of a site are in maintenance at once, and a gateway says so', async () => {
  const ford = await startGateway(hub, { name: 'Ford', location: 'Valley' })
  onTestFinished(() => ford.stop())
  await approveNext(hub)
  const fordId = await waitFor(() => ford.state().gatewayId, { for: 'the approval of the other gateway' })
  await untilIs('blind', fordId)
  const { page, portal } = await openPortal({ width: 1_440, height: 900 })
  await portal.open(`/gateways/${id}`)
  await page.getByRole('button', { name: 'Snooze Orchard' }).click()
  const dialog = portal.dialog()
  await dialog.getByLabel('What').selectOption('All 2 gateways at Valley')
  await dialog.getByText('Maintenance: outages are no alert either').click()
  await dialog.getByRole('button', { name: /^Until morning/ }).click()
  await untilIs('maintenance')
  await untilIs('maintenance', fordId)
  await page
    .getByText(/^Maintenance by \S+ until (?:[A-Z]\w\w )?07:00/)
    .first()
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'End maintenance Orchard' }).click()
  await untilIs('protected')
  expect((await gateway(fordId)).protection.state).toBe('maintenance')
})

test('at the device itself, with what is snoozed and its end', async () => {
  const person = await browser.person({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  await signInToDevice(page, orchard)
  await page.getByRole('button', { name: 'Snooze…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('What').selectOption('Camera yard')
  await dialog.getByRole('button', { name: '30 minutes' }).click()
  await page.getByText(/^Snoozed: camera yard by \S.* until/).waitFor()
  await untilIs('snoozed')
  await page.getByRole('button', { name: 'Snooze…' }).click()
  await dialog
    .getByRole('list', { name: 'Snoozed now' })
    .getByText(/camera yard/)
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'End now: snooze of yard' }).click()
  await untilIs('protected')
})
