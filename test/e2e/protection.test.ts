import { addGateway, armGateway, disarmGateway, listCameras, listGateways } from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { approveNext } from '../harness/approval.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let hub: Hub
let relay: Relay
let orchard: TestGateway
let id: string

const stateOf = async (name: string) =>
  (await hub.api(listGateways)).find((gateway) => gateway.name === name)?.protection.state
const untilIs = (name: string, state: string) =>
  waitFor(async () => (await stateOf(name)) === state, { for: `${name} to be ${state}`, timeoutMs: 60_000 })

/** Two gateways of which one is offline, and the other one has a camera and a sprinkler. */
beforeAll(async () => {
  ;[browser, hub, relay] = await Promise.all([startBrowser(), startHub(), startRelay()])
  const sprinkler = { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, seconds: 5 }
  orchard = await startGateway(hub, { name: 'Orchard', file: { deterrents: { sprinkler } } })
  await approveNext(hub)
  id = await waitFor(() => orchard.state().gatewayId, { for: 'the approval' })
  await untilIs('Orchard', 'blind')
  await orchard.localApi.patchStatus({ cameras: [{ name: 'gate', state: 'online', fps: 5 }] })
  await untilIs('Orchard', 'protected')
  await hub.api(addGateway, { body: { name: 'Silent ford' } })
})
afterAll(async () => {
  await browser?.close()
  await orchard?.stop()
  await hub?.stop()
  await relay?.stop()
})
beforeEach(async () => {
  // A program that is silent for two minutes watches nothing.
  await orchard.localApi.patchStatus({ cameras: [{ name: 'gate', state: 'online', fps: 5 }] })
  await hub.api(armGateway, { params: { id } })
  await untilIs('Orchard', 'protected')
})

test.each([
  ['desktop', { width: 1440, height: 900 }, 'light'],
  ['phone', { width: 390, height: 844 }, 'dark'],
] as const)('a disarmed gateway shows as not protected everywhere, on a %s', async (_name, viewport, colorScheme) => {
  const person = await browser.person({ viewport, colorScheme, reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  const rows = page.getByRole('row').filter({ has: page.getByRole('checkbox', { name: /^Select (?!all)/ }) })

  await portal.open('/gateways')
  const well = portal.row('Orchard')
  const isProtected = (await well.getByText('Protected', { exact: true }).boundingBox())!
  const online = (await well.getByText(/^Online/).boundingBox())!
  expect(isProtected.y + isProtected.height / 2).toBeLessThan(online.y + online.height)
  expect((await page.getByRole('button', { name: 'Connect to Orchard' }).boundingBox())!.width).toBeLessThan(
    online.width,
  )

  await portal.open('/dashboard')
  await page.getByRole('link', { name: '1 of 2 gateways is not protected: 1 offline' }).waitFor()
  expect(await page.getByText(/gateways are online/).count()).toBe(0)

  await hub.api(disarmGateway, { params: { id } })
  await untilIs('Orchard', 'disarmed')
  await portal.open('/dashboard')
  const strip = page.getByRole('link', { name: '2 of 2 gateways are not protected: 1 offline, 1 disarmed' })
  await strip.waitFor()
  const above = (await page.getByText('Total Gateways').boundingBox())!
  expect((await strip.boundingBox())!.y).toBeLessThan(above.y)
  await page.getByRole('listitem').filter({ hasText: 'Orchard' }).getByText('Disarmed', { exact: true }).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
  expect(await axeViolations(page)).toEqual([])

  await strip.click()
  await page.getByText('2 of 2', { exact: true }).waitFor()
  expect(await rows.count()).toBe(2)
  // Offline is first and red.
  await rows.first().getByText('Silent ford').waitFor()
  const danger = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = 'var(--danger)'
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  })
  const word = rows.first().getByText('Offline', { exact: true })
  expect(await word.evaluate((node) => getComputedStyle(node).color)).toBe(danger)
  const chip = portal.row('Orchard').getByText('Disarmed', { exact: true })
  const box = (await chip.boundingBox())!
  const connect = (await page.getByRole('button', { name: 'Connect to Orchard' }).boundingBox())!
  expect(box.x + box.width).toBeLessThan(connect.x)
  // Nothing lies on it.
  await chip.click({ trial: true })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
  expect(await axeViolations(page)).toEqual([])

  await page.getByLabel('Filter by protection').selectOption('Disarmed')
  await page.getByText('1 of 2', { exact: true }).waitFor()
  expect(await rows.count()).toBe(1)
  await expect.poll(() => new URL(page.url()).search).toBe('?protection=disarmed')

  await page.getByRole('link', { name: 'Orchard' }).click()
  await page.getByRole('heading', { name: 'Orchard' }).waitFor()
  // In the head and at the deterrent, which would refuse.
  await page.getByText('Disarmed', { exact: true }).waitFor()
  const whole = page.getByText(`Disarmed by ${hub.admin.username} until somebody arms it`, { exact: true })
  await whole.first().waitFor()
  expect(await whole.count()).toBe(2)
  expect(await axeViolations(page)).toEqual([])

  await portal.open('/cameras')
  await page.getByRole('link', { name: /gate.*Disarmed/ }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect((await hub.api(listCameras)).map(({ protection }) => protection.state)).toEqual(['disarmed'])
})

test('each protection leads to as many rows as are counted, and the counts sum up to the fleet', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  const fleet = await hub.api(listGateways)
  let sum = 0
  for (const state of [
    'offline',
    'disarmed',
    'snoozed',
    'maintenance',
    'blind',
    'blocked',
    'unproven',
    'firing',
    'protected',
  ]) {
    const expected = fleet.filter(({ protection }) => protection.state === state).length
    sum += expected
    await portal.open(`/gateways?protection=${state}`)
    if (expected === 0) await page.getByText(`No gateway is ${state} now.`).waitFor()
    else await page.getByText(`${expected} of ${fleet.length}`, { exact: true }).waitFor()
    expect(await page.getByLabel(/^Select (?!all)/).count()).toBe(expected)
  }
  expect(sum).toBe(fleet.length)
})

test('Stop, Pause 1 h, Disarm and Arm are beside the state, and say until when', async () => {
  const person = await browser.person({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  await portal.open(`/gateways/${id}`)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await press('Pause 1 h Orchard')
  await page
    // In the time of its site, whose zone is not the browser's.
    .getByText(/^Disarmed by \S+ until (?:[A-Z]\w\w )?\d\d:\d\d UTC$/)
    .first()
    .waitFor()
  const { protection } = (await hub.api(listGateways)).find((gateway) => gateway.id === id)!
  const left = Date.parse(protection.until!) - Date.now()
  expect(left).toBeGreaterThan(3_300_000)
  expect(left).toBeLessThanOrEqual(3_660_000)
  await page.getByRole('button', { name: 'Stop Orchard' }).waitFor()
  await press('Arm Orchard')
  await untilIs('Orchard', 'protected')

  const happened = page.getByRole('list', { name: 'What happened' })
  await happened
    .getByText(/was disarmed by/)
    .first()
    .waitFor()
  await page.getByLabel('Show what happened').selectOption('Approvals and edits')
  await happened.getByText(/^Gateway "Orchard" was approved by/).waitFor()
  expect(await happened.getByText(/disarmed/).count()).toBe(0)

  await press('Disarm Orchard')
  const dialog = portal.dialog()
  await dialog.getByRole('button', { name: '30 minutes' }).waitFor()
  await dialog.getByRole('button', { name: /^Until morning/ }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Until I arm…' }).click()
  await dialog.getByText(/a reminder comes each day/).waitFor()
  expect(await stateOf('Orchard')).toBe('protected')
  await dialog.getByRole('button', { name: 'Disarm until I arm' }).click()
  await page
    .getByText(/^Disarmed by \S+ until somebody arms it$/)
    .first()
    .waitFor()

  for (const path of ['/dashboard', '/cameras']) {
    await portal.open(path)
    await page.getByRole('button', { name: 'Arm Orchard' }).first().waitFor()
  }
  await portal.open('/gateways')
  await page.getByRole('button', { name: 'More actions for Orchard' }).click()
  await page.getByRole('menuitem', { name: 'Arm', exact: true }).click()
  await untilIs('Orchard', 'protected')
})
