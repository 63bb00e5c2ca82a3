/** Every number of the dashboard, of the list and of Threats leads to exactly as many. */
import { addGateway, listAlerts, listIncidents, type Detection } from '@hedgerow/contract'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { approveNext } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let hub: Hub
let barn: TestGateway

/** The first two are one incident of two detections. */
const SEEN = [
  ['boar', 'alert', 600],
  ['boar', 'alert', 590],
  ['deer', 'alert', 500],
  ['person', 'alert', 400],
  ['fox', 'detection', 300],
] as const
const INCIDENTS = SEEN.length - 1

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  barn = await startGateway(hub, { name: 'Barn', location: 'Valley' })
  await approveNext(hub)
  await hub.api(addGateway, { body: { name: 'Silent ford' } })
  await hub.api(addGateway, { body: { name: 'Silent mill' } })
  const detections = SEEN.map(([label, severity, ago], index): Detection => {
    const startedAt = new Date(Date.now() - ago * 1_000).toISOString()
    return { id: `seen-${index}`, camera: 'gate', label, severity, score: 0.9, startedAt, endedAt: startedAt }
  })
  await barn.localApi.reportDetections(detections)
  const all = async () => (await hub.api(listIncidents, { query: {} })).length === INCIDENTS
  await waitFor(all, { for: 'the incidents', timeoutMs: 60_000 })
})
afterAll(async () => {
  await browser?.close()
  await barn?.stop()
  await hub?.stop()
})

/** How many things a page lists. */
const shown = (page: Page) => {
  const { pathname } = new URL(page.url())
  if (pathname === '/threats') return page.locator('[data-incident]').count()
  if (pathname === '/gateways') return page.getByLabel(/^Select (?!all)/).count()
  if (pathname === '/users')
    return page
      .getByRole('table')
      .first()
      .getByRole('row')
      .count()
      .then((rows) => rows - 1)
  throw new Error(`no count for ${pathname}`)
}

test('of the dashboard', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  await portal.open('/dashboard')
  await page.getByText('Total Gateways').waitFor()
  const links = page.getByRole('main').getByRole('link')
  const found = await links.evaluateAll((all) =>
    all.map((link) => ({
      words: link.closest('dd')?.parentElement?.textContent ?? link.textContent ?? '',
      to: link.getAttribute('href') ?? '',
    })),
  )
  const counted = found
    // Lines of the activity and hours of the chart are no counts.
    .filter(({ to }) => !/incident=|&to=/.test(to) && /^\/(?:threats|gateways|users)(?:\?|$)/.test(to))
    .flatMap(({ words, to }) => {
      const number = /^(?:\D*)(\d+)/.exec(words)?.[1]
      return number === undefined ? [] : [{ words, to, number: Number(number) }]
    })
  expect(counted.map(({ words }) => words)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/gateways are not protected/),
      expect.stringMatching(/Threats Today/),
    ]),
  )
  expect(counted.length).toBeGreaterThanOrEqual(6)
  for (const { words, to, number } of counted) {
    await portal.open(to)
    await expect.poll(() => shown(page), { message: `${words} leads to ${to}`, timeout: 30_000 }).toBe(number)
  }
})

test('of each hour of the chart', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  await portal.open('/dashboard')
  const table = page.getByRole('table', { name: /^Network activity by the hour/ })
  await table.getByRole('row').nth(24).waitFor({ state: 'attached' })
  const hours = await table.locator('tbody tr').evaluateAll((rows) =>
    rows.map((row) => ({
      to: row.querySelector('a')?.getAttribute('href') ?? '',
      number: Number(row.querySelectorAll('td')[1]?.textContent),
    })),
  )
  const busy = hours.filter(({ number }) => number > 0)
  // Of four incidents, one is no alert; two detections are one.
  expect(busy.reduce((sum, { number }) => sum + number, 0)).toBe(3)
  for (const { to, number } of busy) {
    await portal.open(to)
    await expect.poll(() => shown(page), { message: to, timeout: 30_000 }).toBe(number)
  }
})

test('of the list of gateways and of the filters of Threats', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  await portal.open('/gateways')
  await page.getByRole('link', { name: 'Barn' }).waitFor()
  for (const name of [
    'Show online gateways',
    'Show offline gateways',
    'Show gateways with a warning',
    'Show all gateways',
  ]) {
    const figure = page.getByLabel('Gateways by status').getByRole('button', { name })
    const number = Number(/\d+/.exec((await figure.locator('..').textContent()) ?? '')?.[0])
    await figure.click()
    await expect.poll(() => shown(page), { message: name }).toBe(number)
  }
  await portal.open('/threats')
  await page.getByText(`All ${INCIDENTS}`).waitFor()
  const toggles = page.getByRole('search').getByRole('button').filter({ hasText: /\d$/ })
  const names = await toggles.allTextContents()
  expect(names.length).toBeGreaterThanOrEqual(7)
  for (const name of names) {
    const number = Number(/(\d+)$/.exec(name)![1])
    await portal.open('/threats')
    await page.getByText(`All ${INCIDENTS}`).waitFor()
    await page.getByRole('search').getByRole('button', { name, exact: true }).click()
    await expect.poll(() => shown(page), { message: name }).toBe(number)
  }
})

test('of an alert: its link opens exactly what it tells of, people first', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  const [alert] = await waitFor(
    async () => {
      const alerts = await hub.api(listAlerts, { query: {} })
      return alerts.some(({ kind }) => kind === 'detection')
        ? alerts.filter(({ kind }) => kind === 'detection')
        : undefined
    },
    { for: 'the alert' },
  )
  expect(alert).toMatchObject({ title: '3 sightings at Valley: 1 person, 1 boar, 1 deer', count: 3 })
  await portal.open(alert!.path)
  await expect.poll(() => shown(page)).toBe(alert!.count)
  await page.getByRole('heading', { name: 'Valley person 1, ' }).waitFor()
  expect(await page.getByRole('list', { name: 'Incidents at Valley' }).locator('[data-incident]').count()).toBe(3)
  await page.getByRole('button', { name: 'Of one alert' }).click()
  await expect.poll(() => shown(page)).toBe(INCIDENTS)

  // The list of alerts has the whole sentence, also on a phone.
  await page.setViewportSize({ width: 390, height: 844 })
  await portal.open('/alert-rules')
  const sentence = portal.row(alert!.title).getByText(alert!.title, { exact: true }).locator('..')
  await expect
    .poll(() =>
      sentence.evaluate((node) => [node.scrollWidth <= node.clientWidth, node.scrollHeight <= node.clientHeight]),
    )
    .toEqual([true, true])
})
