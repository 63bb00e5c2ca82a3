/** What a fleet of hundreds looks like: sites, rows of one line, whole reasons, dialogs about many. */
import { editHubSettings, hubProblems, listGateways } from '@hedgerow/contract'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { insertGatewayRow } from '../../apps/hub/testing/gateway.ts'
import { testHeartbeat } from '../../apps/hub/testing/heartbeat.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { changeFleet } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'

const SITES = 24
const EACH = 10
const COUNT = SITES * EACH
const REASON = 'The disk of the recordings is almost full: the oldest ones are deleted sooner than wanted'

let browser: BrowserHandle
let hub: Hub

/** One gateway of Site 1 is offline, one of Site 2 disarmed, and one of Site 3 has a warning: all others are well. */
beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  await hub.api(editHubSettings, { body: { maxGateways: COUNT, hubName: 'North farm' } })
  const now = Date.now()
  // Heard from for the whole test.
  const at = now + 1_800_000
  await changeFleet(hub, async (db) => {
    for (let index = 0; index < COUNT; index++) {
      const site = 1 + (index % SITES)
      const isFirst = index < SITES
      const version = index % 2 === 0 ? '0.9.0' : '0.10.0'
      const heartbeat = testHeartbeat(at, {
        version,
        cameras: [{ name: 'gate', state: 'online', fps: 5 }],
        deterrents: [{ name: 'siren', state: 'ready' }],
        armed: !(isFirst && site === 2),
        problems: isFirst && site === 3 ? [REASON] : [],
      })
      await insertGatewayRow(db, {
        name: `Water works of the upper valley, pump house ${index + 1}`,
        location: `Site ${site}`,
        address: `10.100.20.${index + 1}`,
        version,
        ...(!(isFirst && site === 1) && {
          last_heartbeat_at: at,
          last_handshake_at: at,
          heartbeat: JSON.stringify(heartbeat),
        }),
      })
    }
  })
  await hub.restart()
})
afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

async function open(path: string, viewport = { width: 1440, height: 900 }): Promise<Page> {
  const person = await browser.person({ viewport, reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  await enterAs(page, hub, hub.admin)
  await portalOf(page, hub).open(path)
  return page
}

const site = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const rowsOfGateways = (page: Page) => page.getByLabel(/^Select (?!all)/)
const rowOf = (page: Page, number: number) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: new RegExp(` pump house ${number}$`) }) })
const noScrollAcross = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)

test('sites group the list, the worst first; those where all is well are folded, and open by keyboard', async () => {
  // So high that all rows are drawn.
  const page = await open('/gateways', { width: 1440, height: 4_000 })
  await site(page, 'Site 1').waitFor()
  const groups = page.getByRole('row').filter({ has: page.getByLabel(/^All of /) })
  expect(await groups.allTextContents()).toEqual([
    'Site 110 gateways1 offline',
    'Site 210 gateways1 disarmed',
    'Site 310 gateways1 with a warning',
    ...Array.from({ length: SITES - 3 }, (_, index) => `Site ${index + 4}10 gateways`),
  ])
  expect(await rowsOfGateways(page).count()).toBe(3 * EACH)
  const folded = site(page, 'Site 4')
  expect(await folded.getAttribute('aria-expanded')).toBe('false')
  await folded.focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => rowsOfGateways(page).count()).toBe(4 * EACH)
  // Back from a gateway it is as before.
  await page.getByRole('link', { name: / pump house 4$/ }).click()
  await page.getByRole('heading', { name: / pump house 4$/ }).waitFor()
  await page.goBack()
  await expect.poll(() => rowsOfGateways(page).count()).toBe(4 * EACH)
  await page.getByLabel('All of Site 4').check()
  await page.getByText('10 selected').waitFor()
  expect(await axeViolations(page)).toEqual([])
  // A search and a filter show what they find.
  await page.getByLabel('Search gateways').fill('house 240')
  await expect.poll(() => rowsOfGateways(page).count()).toBe(1)
})

test('20 rows of one line fit into 1440 x 900; a healthy one says nothing but its status', async () => {
  const page = await open('/gateways?sort=name')
  await page.getByRole('link', { name: / pump house 1$/ }).waitFor()
  const rows = page.locator('tbody tr[data-index]')
  const inView = await rows.evaluateAll(
    (all) => all.filter((row) => row.getBoundingClientRect().bottom <= window.innerHeight).length,
  )
  expect(inView).toBeGreaterThanOrEqual(20)
  const healthy = rowOf(page, 9)
  expect(await healthy.getByRole('cell').nth(1).textContent()).toBe('Online')
  expect((await healthy.boundingBox())!.height).toBeLessThan(34)
  // In two windows the end of a name is there, whole.
  for (const width of [1440, 1120]) {
    await page.setViewportSize({ width, height: 900 })
    const end = healthy.getByText('pump house 9', { exact: true })
    await expect.poll(() => end.evaluate((node) => node.scrollWidth <= node.clientWidth + 1)).toBe(true)
  }
})

test.each([
  [1440, 900],
  [1200, 900],
  [800, 900],
  [390, 844],
  // 200 % of 1440 x 900.
  [720, 450],
])('the reason of an unhealthy one is whole at %i x %i', async (width, height) => {
  const page = await open('/gateways?status=warning', { width, height })
  const row = rowOf(page, 3)
  const reason = row.getByText(REASON).filter({ visible: true })
  await reason.waitFor()
  expect(
    await reason.evaluate((node) => [node.scrollWidth <= node.clientWidth, node.scrollHeight <= node.clientHeight]),
  ).toEqual([true, true])
  expect(await noScrollAcross(page)).toBe(true)
})

test('versions are in the order of versions', async () => {
  const page = await open('/gateways?sort=-version')
  await page
    .getByRole('link', { name: / pump house \d+$/ })
    .first()
    .waitFor()
  expect(await page.locator('tbody tr[data-index]').first().getByText('0.10.0', { exact: true }).count()).toBe(1)
})

test.each([
  [1440, 900],
  [390, 844],
])('a dialog about all shows their number, a folded list and its buttons, at %i x %i', async (width, height) => {
  const page = await open('/gateways', { width, height })
  await page.getByLabel('Select all gateways').check()
  for (const [button, last] of [
    ['Edit selected', `Save ${COUNT}`],
    ['Tag selected', `Tag ${COUNT}`],
    ['Delete selected', `Delete ${COUNT}`],
  ] as const) {
    await page.getByRole('button', { name: button }).click()
    const dialog = page.getByRole('dialog')
    const list = dialog.getByText(`${COUNT} gateways`, { exact: true })
    await list.waitFor()
    expect(await dialog.getByText(/pump house 7$/).count()).toBe(0)
    await list.click()
    await dialog.getByText(/pump house 7$/).waitFor()
    const box = (await dialog.getByRole('button', { name: last, exact: true }).boundingBox())!
    expect(box.y + box.height).toBeLessThanOrEqual(height)
    expect(await axeViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
})

test.each([
  [1440, 900],
  [390, 844],
])('the VPN is switched off only with the name of the hub, at %i x %i, and a banner says so', async (width, height) => {
  const page = await open('/settings?tab=network', { width, height })
  const vpn = page.getByRole('switch', { name: /^VPN/ })
  await vpn.focus()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Save Settings' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`This cuts off all ${COUNT} gateways, of which ${COUNT - 1} are online now.`).waitFor()
  const off = dialog.getByRole('button', { name: 'Switch off' })
  expect(await off.isDisabled()).toBe(true)
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByLabel('Type “North farm” to confirm').fill('north')
  await page.keyboard.press('Enter')
  expect(await off.isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect((await hub.api(hubProblems)).map(({ part }) => part)).not.toContain('vpn')
  await page.getByRole('button', { name: 'Save Settings' }).click()
  await dialog.getByLabel('Type “North farm” to confirm').fill('North farm')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const told = `The VPN is off: the hub cannot reach its ${COUNT} gateways.`
  await expect.poll(async () => (await hub.api(hubProblems)).map(({ message }) => message)).toContain(told)
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.getByText(told).waitFor()
  await page.getByRole('link', { name: 'Switch it on' }).click()
  await expect.poll(() => vpn.evaluate((node) => node === document.activeElement)).toBe(true)
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Save Settings' }).click()
  await expect.poll(async () => (await hub.api(hubProblems)).map(({ part }) => part)).not.toContain('vpn')
  expect((await hub.api(listGateways)).length).toBe(COUNT)
})
