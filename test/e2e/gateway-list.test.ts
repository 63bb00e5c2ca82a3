import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { addGateway, createGatewayInvitation, listGateways } from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { addPerson, changeFleet, withFields } from '../harness/hub-database.ts'
import { startHub, type Credentials, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'

const PHONE = { width: 390, height: 844 }

let browser: BrowserHandle
let hub: Hub
let manager: Credentials
let reused: ReusedPage
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce', acceptDownloads: true })
  manager = await addPerson(hub, { username: 'shepherd', role: 'manager' })
})

afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

beforeEach(async () => {
  page = await reused.next()
  portal = portalOf(page, hub)
  await enterAs(page, hub, manager)
})

const button = (name: string | RegExp) => page.getByRole('button', { name })
const names = () => page.getByRole('row').getByRole('link').allTextContents()

test('a figure filters its gateways, and pressed again shows all', async () => {
  await hub.api(addGateway, { body: { name: 'Offline ford' } })
  await portal.open('/gateways')
  await portal.row('Offline ford').waitFor()
  const offline = page.getByText('Offline', { exact: true }).locator('xpath=../dd').first()
  expect(await offline.getAttribute('data-tone')).toBe('danger')
  expect(
    await page
      .getByRole('button', { name: /^Show .*gateways/ })
      .first()
      .getAttribute('aria-label'),
  ).toMatch(/offline/)
  await button('Show online gateways').click()
  await page.getByText('No gateway is online now.').waitFor()
  await button('Show offline gateways').click()
  await portal.row('Offline ford').waitFor()
  expect(await button('Show offline gateways').getAttribute('aria-pressed')).toBe('true')
  await expect.poll(() => new URL(page.url()).search).toBe('?status=offline')
  await button('Show offline gateways').click()
  await expect.poll(() => new URL(page.url()).search).toBe('')
})

test('a click on a row opens its page; a click on its buttons, or the end of a text selection, does not', async () => {
  const { id } = await hub.api(addGateway, { body: { name: 'Otter bank', location: 'Lower river' } })
  await portal.open('/gateways?q=otter')
  const location = portal.row('Otter bank').getByText('Lower river')
  const { x, y, width, height } = (await location.boundingBox())!
  await page.mouse.move(x + 1, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + width - 1, y + height / 2, { steps: 4 })
  await page.mouse.up()
  expect(await page.evaluate(() => String(window.getSelection()))).toContain('ower rive')
  await button('More actions for Otter bank').click()
  await page.getByRole('menuitem', { name: 'Edit Gateway' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Select Otter bank').check()
  expect(new URL(page.url()).pathname).toBe('/gateways')
  await page.mouse.click(x + width + 20, y + height / 2)
  await page.mouse.click(x + width + 20, y + height / 2)
  await page.getByRole('heading', { name: 'Otter bank' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/gateways/${id}`)
})

test('the toolbar and the head of the table stay below the bar while a long list scrolls', async () => {
  await withFields(hub, 200, async () => {
    await portal.open('/gateways?q=field')
    await page.getByRole('link', { name: 'Field 1', exact: true }).waitFor()
    const bar = (await page.getByRole('banner').boundingBox())!
    await page.evaluate(() => window.scrollTo(0, 3_000))
    await expect.poll(() => page.getByRole('link', { name: 'Field 1', exact: true }).count()).toBe(0)
    const search = (await page.getByLabel('Search gateways').boundingBox())!
    const head = (await page.getByRole('columnheader', { name: 'Location' }).boundingBox())!
    expect(search.y).toBeGreaterThanOrEqual(bar.height)
    expect(search.y).toBeLessThan(bar.height + 40)
    expect(head.y).toBeGreaterThanOrEqual(search.y + search.height)
    expect(head.y).toBeLessThan(bar.height + 80)
  })
})

test('on a phone a row has two lines, and one for the reason of a trouble, and the search stays in view', async () => {
  await withFields(hub, 200, async () => {
    await page.setViewportSize(PHONE)
    await portal.open('/gateways?q=field')
    const first = portal.row('Field 1').first()
    await first.waitFor()
    expect((await first.boundingBox())!.height).toBeLessThan(80)
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(16_000)
    await page.evaluate(() => window.scrollTo(0, 5_000))
    await expect.poll(() => page.getByRole('link', { name: 'Field 1', exact: true }).count()).toBe(0)
    const search = (await page.getByLabel('Search gateways').boundingBox())!
    const bar = (await page.getByRole('banner').boundingBox())!
    expect(search.y).toBeGreaterThanOrEqual(bar.height - 1)
    expect(search.y).toBeLessThan(bar.height + 20)
    await page.evaluate(() => window.scrollTo(0, 0))
    await page.getByLabel('Select all gateways').check()
    await page.getByText('200 selected').waitFor()
  })
})

test('selected gateways are exported, get a location and tags, and are deleted together', async () => {
  for (const name of ['Mill one', 'Mill two', 'Mill three']) await hub.api(addGateway, { body: { name } })
  await portal.open('/gateways?q=mill')
  await page.getByLabel('Select Mill one').check()
  await page.getByText('1 selected').waitFor()
  await button('Select all 3').click()
  await page.getByText('3 selected').waitFor()
  await page.getByLabel('Select Mill two').uncheck()

  const download = page.waitForEvent('download')
  await button('Export CSV').click()
  const file = await download
  expect(file.suggestedFilename()).toBe('gateways.csv')
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines.slice(1).every((line) => /"Mill (one|three)"/.test(line))).toBe(true)

  await button('Edit selected').click()
  await portal.dialog().getByLabel('Location').fill('Old mill race')
  await portal.dialog().getByRole('button', { name: 'Save 2' }).click()
  await expect.poll(() => portal.dialog().getByText('Location: Old mill race').count()).toBe(2)
  await portal.dialog().getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect
    .poll(async () => (await hub.api(listGateways)).filter(({ location }) => location === 'Old mill race').length)
    .toBe(2)

  await button('Tag selected').click()
  await portal.dialog().getByRole('textbox', { name: 'Tags to add' }).fill('Mill, river')
  await portal.dialog().getByRole('button', { name: 'Tag 2' }).click()
  await page.getByText('Tags of 2 gateways changed.').waitFor()
  await page.getByLabel('Filter by tag').selectOption('mill (2)')
  await portal.row('Mill two').waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).searchParams.get('tag')).toBe('mill')
  await portal.row('Mill one').getByText('river').waitFor()
  await page.getByLabel('Filter by tag').selectOption('Any tag')
  await portal.row('Mill two').waitFor()

  await button('Delete selected').click()
  const confirm = portal.dialog().getByRole('button', { name: 'Delete 2' })
  await portal.dialog().getByLabel(/^Type/).fill('3')
  expect(await confirm.isDisabled()).toBe(true)
  await portal.dialog().getByLabel(/^Type/).fill('2')
  await confirm.click()
  await portal.dialog().getByText('Gateway "Mill three" deleted.').waitFor()
  await portal.dialog().getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect.poll(names).toEqual(['Mill two'])
  await page.getByText(/selected$/).waitFor({ state: 'detached' })
})

test('a user who selects gateways is told once why they cannot be edited and tagged', async () => {
  const user = await addPerson(hub, { username: 'walker', role: 'user' })
  const { id } = await hub.api(addGateway, { body: { name: 'Own gate' } })
  await changeFleet(hub, async (db) => {
    const { id: ownerId } = await db
      .selectFrom('users')
      .select('id')
      .where('username', '=', user.username)
      .executeTakeFirstOrThrow()
    await db.updateTable('gateways').set({ owner_id: ownerId }).where('id', '=', id).execute()
  })
  await enterAs(page, hub, user)
  await portal.open('/gateways')
  await page.getByLabel('Select Own gate').check()
  const bar = page.getByText('1 selected').locator('..')
  const reason = bar.getByText('This needs the manager role.')
  await reason.waitFor()
  expect(await reason.count()).toBe(1)
  for (const name of ['Edit selected', 'Tag selected']) {
    expect(await button(name).isDisabled()).toBe(true)
    expect(await button(name).getAttribute('aria-describedby')).toBe(await reason.getAttribute('id'))
  }
})

test('the file and the dialogs of selected gateways have the order of the table', async () => {
  for (const name of ['Sluice 10', 'Sluice 9']) await hub.api(addGateway, { body: { name } })
  await portal.open('/gateways?q=sluice')
  await page.getByLabel('Select all gateways').check()
  await page.getByText('2 selected').waitFor()
  await expect.poll(names).toEqual(['Sluice 9', 'Sluice 10'])
  const download = page.waitForEvent('download')
  await button('Export CSV').click()
  const lines = (await readFile(await (await download).path(), 'utf8')).match(/Sluice \d+/g)
  expect(lines).toEqual(['Sluice 9', 'Sluice 10'])
  await button('Delete selected').click()
  await expect
    .poll(async () => (await portal.dialog().innerText()).match(/Sluice \d+/g))
    .toEqual(['Sluice 9', 'Sluice 10'])
})

test('on a phone a long name keeps its end and has one line; a button shows the rest of a row', async () => {
  const name = 'Birch Hill sawmill 1 gateway 12'
  await hub.api(addGateway, { body: { name } })
  await hub.api(createGatewayInvitation, { body: { label: name } })
  await page.setViewportSize(PHONE)
  await portal.open('/gateways?q=birch')
  const row = portal.row(name).first()
  await row.waitFor()
  // Two lines, and one for the reason.
  expect((await row.boundingBox())!.height).toBeLessThan(80)
  const link = page.getByRole('link', { name })
  expect(await link.getByTitle(name).count()).toBe(1)
  const end = (await link.getByText('1 gateway 12', { exact: true }).boundingBox())!
  expect(end.x + end.width).toBeLessThan((await button(`Connect to ${name}`).boundingBox())!.x)

  await portal.open('/gateway-invitations')
  await row.waitFor()
  expect((await row.boundingBox())!.height).toBeLessThan(64)
  await row.getByText(hub.admin.username).waitFor({ state: 'hidden' })
  await row.getByRole('button', { name: `More about ${name}` }).click()
  await row.getByText(hub.admin.username).waitFor()
})

test('a bulk action can be stopped, and goes on with the rest', async () => {
  for (const name of ['Rush one', 'Rush two', 'Rush three']) await hub.api(addGateway, { body: { name } })
  const stopped = Promise.withResolvers<void>()
  const moved = async () => (await hub.api(listGateways)).filter(({ location }) => location === 'Rushes').length
  await portal.open('/gateways?q=rush')
  await page.getByLabel('Select all gateways').check()
  await button('Edit selected').click()
  await portal.dialog().getByLabel('Location').fill('Rushes')
  // The first call waits until the person has stopped.
  await page.route('**/api/v1/hub/gateways/*', async (route) => {
    await stopped.promise
    await route.continue()
  })
  await portal.dialog().getByRole('button', { name: 'Save 3' }).click()
  await portal.dialog().getByRole('button', { name: 'Stop' }).click()
  stopped.resolve()
  await portal.dialog().getByText('1 of 3 done').waitFor()
  expect(await moved()).toBe(1)
  await portal.dialog().getByRole('button', { name: 'Save 2' }).click()
  await portal.dialog().getByText('3 of 3 done').waitFor()
  expect(await moved()).toBe(3)
  await portal.dialog().getByRole('link', { name: 'Rush two' }).click()
  await page.getByRole('heading', { name: 'Rush two' }).waitFor()
})

test('Connect to an offline gateway is refused in the dialog, with the reason', async () => {
  await hub.api(addGateway, { body: { name: 'Silent weir' } })
  await portal.open('/gateways?q=silent')
  await button('Connect to Silent weir').click()
  await portal
    .dialog()
    .getByText(/^Failed to access gateway: the gateway is offline \(no VPN handshake yet.*\)\./)
    .waitFor()
  expect(new URL(page.url()).pathname).toBe('/gateways')
})
