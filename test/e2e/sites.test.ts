/** A site from its first name to its deletion, in the portal, and on a phone. */
import {
  addAlertRule,
  addGateway,
  ALERT_RULE_DEFAULTS,
  listAlertRules,
  listGateways,
  listSites,
} from '@hedgerow/contract'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { addPerson } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { enterAs } from '../harness/session.ts'

let browser: BrowserHandle
let hub: Hub
let reused: ReusedPage
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce' })
})

afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

beforeEach(async () => {
  page = await reused.next()
  portal = portalOf(page, hub)
})

const button = (name: string | RegExp) => page.getByRole('button', { name })

test('a manager adds a site, puts gateways in it, renames it and deletes it', async () => {
  for (const [name, location] of [
    ['Barn', 'Hill'],
    ['Shed', ''],
    ['Mill', 'Valley'],
  ] as const)
    await hub.api(addGateway, { body: { name, location } })
  await enterAs(page, hub, await addPerson(hub, { username: 'shepherd', role: 'manager' }))
  await portal.open('/gateways')
  await page.getByRole('link', { name: 'Sites' }).click()
  await page.getByText('No sites yet').waitFor()
  await button('Add Site').click()
  await portal.dialog().getByLabel('Name').fill('Hill')
  await portal.dialog().getByLabel('Latitude').fill('52,5163')
  await portal.dialog().getByLabel('Longitude').fill('13.3777')
  await portal.dialog().getByLabel('Time zone').fill('Mars/Base')
  await button('Save Site').click()
  await portal.dialog().getByText('This is no time zone, such as Europe/Berlin').waitFor()
  await portal.dialog().getByLabel('Time zone').fill('Asia/Tokyo')
  await button('Save Site').click()
  // The gateway whose location it is.
  await portal.row('Hill').getByText('1 gateway').waitFor()
  await portal.row('Hill').getByText('52.5163° N, 13.3777° E').waitFor()
  await page.getByRole('list', { name: 'Sites on a plot' }).getByRole('link', { name: 'Hill' }).waitFor()

  await portal.open('/gateways')
  await page.getByLabel('Select Shed').check()
  await button('Put in a site').click()
  await button('Save').click()
  await portal.dialog().getByText('Choose a site', { exact: true }).last().waitFor()
  await portal.dialog().getByLabel('Site', { exact: true }).selectOption('Hill')
  await button('Save').click()
  await page.getByText('1 gateway put in the site “Hill”.').waitFor()
  await page.getByLabel('Filter by site').selectOption('Hill')
  await portal.row('Mill').waitFor({ state: 'detached' })
  await portal.row('Shed').waitFor()
  await portal.row('Barn').waitFor()

  const [site] = await hub.api(listSites)
  const rule = { ...ALERT_RULE_DEFAULTS, name: 'Boars', sites: [site!.id] }
  const { id } = await hub.api(addAlertRule, { body: rule })
  await portal.open('/sites')
  await button('Edit Hill').click()
  await portal.dialog().getByLabel('Name').fill('Upper hill')
  await button('Save Site').click()
  await portal.row('Upper hill').getByText('2 gateways').waitFor()
  expect((await hub.api(listAlertRules)).find((one) => one.id === id)?.sites).toEqual([site!.id])
  await portal.open('/alert-rules')
  await portal
    .row('Boars')
    .getByText(/at Upper hill/)
    .waitFor()

  await portal.open('/sites')
  await button('Delete Upper hill').click()
  await portal.dialog().getByText('2 gateways stay, and are then in no site.').waitFor()
  await portal.dialog().getByText('It cannot be deleted while an alert rule names it: “Boars”.').waitFor()
  expect(await button('Delete Site').isDisabled()).toBe(true)
  expect(await hub.api(listSites)).toHaveLength(1)
  await page.keyboard.press('Escape')
  const inSite = (await hub.api(listGateways)).filter((gateway) => gateway.site?.name === 'Upper hill')
  expect(inSite.map(({ name }) => name)).toEqual(['Barn', 'Shed'])
})

test('on a phone the palette leads to the sites, which a user does not change', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await enterAs(page, hub, await addPerson(hub, { username: 'walker', role: 'user' }))
  await portal.open('/dashboard')
  await button('Search the hub').click()
  await portal.dialog().getByLabel('Search the hub').fill('places')
  await portal
    .dialog()
    .getByRole('link', { name: /^Sites/ })
    .click()
  await page.getByText('No sites yet').waitFor()
  expect(await button('Add Site').isDisabled()).toBe(true)
})
