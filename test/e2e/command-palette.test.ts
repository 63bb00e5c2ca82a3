import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { addGateway } from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { addPerson } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
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
  await enterAs(page, hub, hub.admin)
  await portal.open('/gateways')
  await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
})

const field = () => portal.dialog().getByLabel('Search the hub')
const isFocused = (element: Element) => element === document.activeElement

/** Opens the palette with `/`, and the first match of `text` with Enter. */
async function goTo(text: string, match: string): Promise<void> {
  await page.keyboard.press('/')
  await field().fill(text)
  await expect
    .poll(async () => (await portal.dialog().getByRole('listitem').first().textContent()) ?? '')
    .toContain(match)
  await page.keyboard.press('Enter')
}

test('opens a gateway and a screen by keyboard alone, and gives the focus back', async () => {
  const { id } = await hub.api(addGateway, { body: { name: 'Quince corner' } })
  const opener = page.getByRole('button', { name: 'Search the hub' })
  await opener.focus()
  await page.keyboard.press('Control+k')
  await field().fill('quince')
  await portal
    .dialog()
    .getByRole('link', { name: /^Quince corner/ })
    .waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Quince corner' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/gateways/${id}`)
  await field().waitFor({ state: 'detached' })
  expect(await page.locator('main').evaluate(isFocused)).toBe(true)

  await opener.focus()
  await page.keyboard.press('Control+k')
  await field().waitFor()
  await page.keyboard.press('Escape')
  await field().waitFor({ state: 'detached' })
  expect(await opener.evaluate(isFocused)).toBe(true)

  await page.keyboard.press('Control+k')
  await field().fill('auto-approval')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Auto-Approval Settings' }).waitFor()
})

test('opens with /, but not while somebody types', async () => {
  await hub.api(addGateway, { body: { name: 'Slash lane' } })
  await page.getByLabel('Search gateways').pressSequentially('a/b')
  expect(await page.getByLabel('Search gateways').inputValue()).toBe('a/b')
  expect(await portal.dialog().count()).toBe(0)
  await page.getByRole('heading', { name: 'Gateway Management' }).click()
  await page.keyboard.press('/')
  await field().waitFor()
  expect(await field().inputValue()).toBe('')
})

test('opens again while it still fades away', async () => {
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  const opener = page.getByRole('button', { name: 'Search the hub' })
  await opener.focus()
  for (const key of ['/', 'Control+k', '/']) {
    await page.keyboard.press(key)
    await expect.poll(() => field().evaluate(isFocused)).toBe(true)
    await page.keyboard.type('x')
    await page.keyboard.press('Escape')
  }
  await page.keyboard.press('/')
  await expect.poll(() => field().inputValue()).toBe('')
  expect(await portal.dialog().count()).toBe(1)
})

test('finds an action, a setting, a tab, a user and a command', async () => {
  await addPerson(hub, { username: 'rosa', role: 'user' })
  await goTo('add gateway', 'Add gateway')
  await page.getByRole('heading', { name: 'Add Gateway' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/add-gateway')

  await goTo('session timeout', 'Session timeout')
  await expect.poll(() => page.getByLabel('Session timeout (seconds)').evaluate(isFocused)).toBe(true)
  await page.getByRole('heading', { name: 'Settings', level: 1 }).click()

  await goTo('audit', 'Audit log')
  await page.getByRole('table', { name: 'Audit log' }).waitFor()

  await goTo('rosa', 'User')
  await portal.row('@rosa').waitFor()
  expect(await portal.row('@admin').count()).toBe(0)

  await page.getByRole('heading', { name: 'User Management' }).click()
  await goTo('dark', 'Dark theme')
  await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark')
})

test('finds by the words that people type, and leads to the part of a page', async () => {
  await goTo('new alarm', 'New alert rule')
  await portal.dialog().getByRole('heading', { name: 'New Alert Rule' }).waitFor()
  await page.keyboard.press('Escape')
  await portal.dialog().waitFor({ state: 'detached' })

  await page.setViewportSize({ width: 390, height: 700 })
  await goTo('2-factor', 'Two-factor sign-in')
  const part = page.getByRole('region', { name: 'Two-factor sign-in' })
  await expect
    .poll(async () => (await part.isVisible()) && (await part.evaluate((at) => at.getBoundingClientRect().top)))
    .toBeLessThan(350)
  await page.getByRole('heading', { name: 'Profile', level: 1 }).click()
  await goTo('approve', 'Approve or reject gateways')
  await page.getByRole('heading', { name: 'Pending Gateway Registrations' }).waitFor()
})

test('offers a person nothing that they may not do', async () => {
  const viewer = await addPerson(hub, { username: 'viewer', role: 'user' })
  await enterAs(page, hub, viewer)
  await portal.open('/gateways')
  await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  await page.keyboard.press('/')
  for (const text of ['approve', 'invite', 'delete', 'update', 'new alert rule']) {
    await field().fill(text)
    await portal.dialog().getByText(/match/).waitFor({ state: 'attached' })
    expect((await portal.dialog().getByRole('listitem').allTextContents()).join()).not.toContain('Action')
  }
  await field().fill('claim')
  await portal
    .dialog()
    .getByRole('link', { name: /Claim gateway/ })
    .waitFor()
})

test('finds the help, which the hub serves and searches in the browser, and a screen leads to its page', async () => {
  await goTo('help', 'Help')
  await page.getByRole('heading', { name: 'Running Hedgerow' }).waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.getByLabel('Search the help').fill('wildcard caddy')
  await page.getByRole('link', { name: 'In containers › Behind Caddy' }).click()
  await page.getByRole('heading', { name: 'In containers' }).waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/help/containers#behind-caddy')
  expect(asked.filter((url) => !url.startsWith(hub.url) || url.includes('wildcard'))).toEqual([])
  await portal.open('/settings?tab=certificates')
  await page.getByRole('link', { name: 'Help', exact: true }).click()
  await page.getByRole('heading', { name: 'HTTPS', exact: true }).waitFor()
  await portal.open('/cameras')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Help', exact: true }).click()
  await page.getByRole('heading', { name: 'Cameras, and the eye that looks at them', exact: true }).waitFor()
})
