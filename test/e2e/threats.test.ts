import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { listIncidents, reviewIncidents, type Detection } from '@hedgerow/contract'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { approveNext } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let hub: Hub
let gateway: TestGateway
let reused: ReusedPage
let page: Page
let thumbnail: string

const PAGE = 60
/** So many that the third page, the last, is longer than what is drawn at its end. */
const OLDER = 160
const DEER = Math.ceil(OLDER / 3)
const ALL = OLDER + 3

/** Minutes apart, so that each is an incident of its own; the newest is of number 0. */
const seen = (number: number, change: Partial<Detection> = {}): Detection => ({
  id: `seen-${number}`,
  camera: 'orchard',
  label: 'boar',
  severity: 'alert',
  score: 0.9,
  startedAt: new Date(Date.now() - number * 120_000 - 60_000).toISOString(),
  thumbnail,
  ...change,
})
const incidents = async () => hub.api(listIncidents, { query: { limit: 500 } })

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce' })
  thumbnail = (await readFile(new URL('../../scripts/demo-frames/boar.jpg', import.meta.url))).toString('base64')
  gateway = await startGateway(hub, { name: 'Barn', location: 'Valley' })
  await approveNext(hub)
  await gateway.localApi.reportDetections([
    ...Array.from({ length: OLDER }, (_, i) =>
      seen(i + 10, { label: i % 3 === 0 ? 'deer' : 'boar', severity: 'detection' }),
    ),
    seen(0),
    seen(1, {
      label: 'person',
      zone: 'rows',
      box: { x: 0.25, y: 0.25, width: 0.5, height: 0.5 },
      verdicts: [
        { stage: 'detector', by: 'eye', outcome: 'unsure', score: 0.97 },
        { stage: 'second-look', by: 'llava', outcome: 'rejected', score: 0.12, reason: 'a post in the fog' },
      ],
    }),
    seen(2, { id: 'branch', score: 0.6 }),
  ])
  await waitFor(async () => (await incidents()).length === ALL || undefined, { for: 'the incidents' })
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await hub?.stop()
})

beforeEach(async () => {
  await withdrawReviews()
  page = await reused.next()
  await open(page)
})

/** Those that a failed try left. */
async function withdrawReviews(): Promise<void> {
  const ids = (await incidents()).flatMap(({ id, review }) => (review ? [id] : []))
  if (ids.length > 0) await hub.api(reviewIncidents, { body: { ids, verdict: null } })
}

async function open(tab: Page): Promise<void> {
  await enterAs(tab, hub, hub.admin)
  await portalOf(tab, hub).open('/threats')
  await tab.getByRole('heading', { name: 'Threats' }).waitFor()
  await tab.getByRole('list', { name: 'Incidents' }).getByRole('listitem').first().waitFor()
}

const card = (number: number, tab = page) =>
  tab.getByRole('list', { name: 'Incidents' }).getByRole('listitem').nth(number)
const parameters = () => new URL(page.url()).searchParams

test('after a click on a filter, j and Enter open a picture and leave the filter on', async () => {
  await page.getByRole('search').getByRole('button', { name: /^boar/ }).click()
  await expect.poll(() => parameters().get('label')).toBe('boar')
  await expect.poll(() => card(0).getByRole('img', { name: 'boar at orchard' }).count()).toBe(1)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'boar at Barn' })
  await dialog.waitFor()
  expect(parameters().get('label')).toBe('boar')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })

  // A review takes the incident out of the filter; the keys go on at the next one.
  await page.getByRole('button', { name: /^To review/ }).click()
  await expect.poll(() => parameters().get('review')).toBe('none')
  const current = () => page.locator('[data-current="true"] [data-incident]').getAttribute('data-incident')
  await page.keyboard.press('j')
  const reviewed = await current()
  await page.keyboard.press('w')
  await page.locator(`[data-incident="${reviewed}"]`).waitFor({ state: 'hidden' })
  const next = await current()
  await page.keyboard.press('j')
  await expect.poll(current).not.toBe(next)
})

test('keys that come before the page has drawn its new address leave a filter on', async () => {
  await page.evaluate(() => {
    const press = (key: string) => dispatchEvent(new KeyboardEvent('keydown', { key }))
    // React draws for a key at the end of its task, and for an address in a later task.
    const pressBoth = async () => {
      press('j')
      for (let rest = 0; rest < 20; rest++) await Promise.resolve()
      press('Enter')
    }
    const replace = history.replaceState.bind(history)
    history.replaceState = (...state) => {
      history.replaceState = replace
      replace(...state)
      void pressBoth()
    }
  })
  await page.getByRole('search').getByRole('button', { name: /^boar/ }).click()
  await page.getByRole('dialog', { name: 'boar at Barn' }).waitFor()
  expect(parameters().get('label')).toBe('boar')
})

test('the newest pictures are first, and a click shows one large with its facts', async () => {
  await expect.poll(() => card(0).getByRole('img', { name: 'boar at orchard' }).count()).toBe(1)
  await card(1).getByRole('button').click()
  const dialog = page.getByRole('dialog', { name: 'person at Barn' })
  await dialog.getByRole('img', { name: 'person at orchard' }).waitFor()
  await dialog.getByText('Valley', { exact: true }).waitFor()
  await dialog.getByText('90 %').waitFor()
  await dialog.getByText('rows', { exact: true }).waitFor()
  await dialog.getByText('Detector (eye) saw it, 97 %').waitFor()
  await dialog.getByText('Second look (llava) rejected it, 12 %: a post in the fog').waitFor()
  const shared = parameters().get('incident') ?? ''
  expect(shared).toMatch(/^[\w-]+$/)

  // The gateway's own picture of the detection replaces the thumbnail, with its box.
  await dialog.locator('[data-snapshot="true"]').waitFor()
  const box = dialog.getByRole('img', { name: 'Box around person' })
  await box.waitFor()
  await page.keyboard.press('b')
  await box.waitFor({ state: 'hidden' })
  await page.keyboard.press('c')
  await dialog.getByText('The gateway has no clip of this detection.').waitFor()
  await dialog.getByRole('button', { name: 'Play clip' }).click()
  await dialog.getByRole('img', { name: 'person at orchard' }).waitFor()

  await page.keyboard.press('ArrowRight')
  await page.getByRole('dialog', { name: 'boar at Barn' }).getByText('60 %').waitFor()
  await page.keyboard.press('ArrowLeft')
  await dialog.getByRole('button', { name: 'Next incident' }).click()
  await page.getByRole('dialog', { name: 'boar at Barn' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await expect.poll(() => parameters().has('incident')).toBe(false)

  // Back closes it too, also on the first page of a visit, and from a neighbour.
  await card(1).getByRole('button').click()
  await dialog.waitFor()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('dialog', { name: 'boar at Barn' }).waitFor()
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect(new URL(page.url()).pathname).toBe('/threats')
  expect(parameters().has('incident')).toBe(false)

  // A shared link leads to an incident that the wall has not loaded; it has neighbours at once.
  await page.goto(`${hub.url}/threats?label=boar&incident=${shared}`)
  await dialog.getByRole('button', { name: 'Previous incident' }).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('dialog', { name: 'boar at Barn' }).getByText('60 %').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.getByRole('dialog', { name: 'boar at Barn' }).getByText('90 %').waitFor()
})

test('a person reviews with keys, gets the next one, and undoes the review; other open pages show it', async () => {
  const other = await reused.context().newPage()
  await other.goto(`${hub.url}/threats`)
  await card(0, other).waitFor()
  await card(0).getByRole('button').click()
  await page.getByRole('dialog', { name: 'boar at Barn' }).getByText('90 %').waitFor()
  await page.keyboard.press('w')
  await page.getByRole('dialog', { name: 'person at Barn' }).waitFor()
  await page.keyboard.press('r')
  await page.getByRole('dialog', { name: 'boar at Barn' }).getByText('60 %').waitFor()
  await page.keyboard.press('l')
  await page.getByLabel('What is it?').press('Escape')
  await page.getByLabel('What is it?').waitFor({ state: 'hidden' })
  await page.getByRole('dialog', { name: 'boar at Barn' }).getByText('60 %').waitFor()
  await page.keyboard.press('l')
  await page.getByLabel('What is it?').fill('branch')
  // The next incident does not open for a person who left before the hub answered.
  const left = Promise.withResolvers<void>()
  await page.route('**/incidents/review', async (route) => {
    await left.promise
    await route.continue()
  })
  await page.keyboard.press('Enter')
  await page.getByLabel('What is it?').waitFor({ state: 'hidden' })
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  left.resolve()
  for (const tab of [page, other]) {
    await card(0, tab).getByText('Wrong', { exact: true }).waitFor()
    await card(1, tab).getByText('Correct', { exact: true }).waitFor()
    await card(2, tab).getByText('branch').waitFor()
  }
  await page.keyboard.press('z')
  for (const tab of [page, other]) await card(2, tab).getByText('boar').waitFor()
  // A review that the hub has not answered yet is the one that is undone, not the one before.
  const answered = Promise.withResolvers<void>()
  let calls = 0
  await page.route(/\/incidents\/review/, async (route) => {
    calls += 1
    await answered.promise
    await route.continue()
  })
  await page.keyboard.press('w')
  await page.keyboard.press('z')
  await expect.poll(() => calls).toBe(1)
  answered.resolve()
  await expect.poll(() => calls).toBe(2)
  const verdicts = async () => (await incidents()).slice(0, 3).map(({ review }) => review?.verdict)
  await expect.poll(verdicts).toEqual(['wrong', 'right', undefined])
  await page.keyboard.press('z')
  await page.keyboard.press('z')
  await expect.poll(async () => (await incidents()).filter(({ review }) => review !== null).length).toBe(0)
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('filters are in the address, each with its number of incidents', async () => {
  await page.getByRole('button', { name: `deer ${DEER}` }).click()
  await expect.poll(() => parameters().get('label')).toBe('deer')
  await expect.poll(() => card(0).getByText('deer').count()).toBe(1)
  await page.reload()
  await page.getByRole('button', { name: `deer ${DEER}`, pressed: true }).waitFor()
  await page.getByRole('button', { name: 'Alerts 0' }).click()
  await page.getByText('Nothing matches').waitFor()
  await page.getByRole('search').getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('button', { name: `All ${ALL}` }).waitFor()
})

test('on a phone pictures are in view, and the fields for where and when open below their button', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(async () => (await card(0).boundingBox())!.y).toBeLessThan(844 / 2)
  await expect.poll(() => page.getByLabel('From').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Where and when', expanded: false }).click()
  await page.getByLabel('From').fill('2020-01-01')
  await expect.poll(() => parameters().get('from')).toBe('2020-01-01')
})

test('several are reviewed at once', async () => {
  await card(3).hover()
  await card(3).getByRole('checkbox').check()
  await card(4).hover()
  await card(4).getByRole('checkbox').check()
  await page.getByRole('region', { name: 'Selected incidents' }).getByRole('button', { name: 'Wrong' }).click()
  await expect.poll(async () => (await incidents()).filter(({ review }) => review?.verdict === 'wrong').length).toBe(2)
  await page.getByRole('button', { name: 'Wrong 2' }).click()
  await page.getByRole('button', { name: 'Wrong 2', pressed: true }).waitFor()
  await page.keyboard.press('z')
  await page.getByText('Nothing matches').waitFor()
})

test('scrolling loads older ones without end, and the view does not move when new ones arrive', async () => {
  await page.setViewportSize({ width: 1000, height: 700 })
  const asked: string[][] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/thumbnails')) asked.push(searchParams.get('of')!.split(','))
    else if (pathname.endsWith('/thumbnail')) asked.push([pathname])
  })
  const listed = await incidents()
  const last = listed.at(-1)!.id
  // Rows beyond those in view are drawn, so the last one alone does not tell that the end is in view.
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, 3_000)
        return page.evaluate(() => {
          const root = document.documentElement
          const drawn = [...document.querySelectorAll('[aria-posinset]')].map((item) => item.ariaPosInSet)
          return {
            below: Math.round(root.scrollHeight - innerHeight - scrollY),
            first: Number(drawn[0]),
            last: drawn.at(-1),
          }
        })
      },
      { timeout: 30_000 },
    )
    .toEqual({ below: 0, first: expect.toSatisfy((first) => first > 2 * PAGE), last: String(listed.length) })
  const drawn = await page.getByRole('list', { name: 'Incidents' }).getByRole('listitem').count()
  expect(drawn).toBeLessThan(60)
  await page.locator(`[data-incident="${last}"] img`).waitFor()
  // A call has the pictures of at least a row of three.
  const pictures = asked.flat()
  expect(new Set(pictures).size, 'each is fetched once').toBe(pictures.length)
  expect(asked.length).toBeLessThanOrEqual(pictures.length / 2)

  const cursors: (string | null)[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/incidents')) cursors.push(searchParams.get('cursor'))
  })
  // A label and an id of its own: one that the hub knows would be no new incident.
  const label = `fox ${randomUUID().slice(0, 4)}`
  const before = await page.locator(`[data-incident="${last}"]`).boundingBox()
  // One is older than most: its gateway had no network.
  const late = `late ${label}`
  await gateway.localApi.reportDetections([seen(0, { id: label, label }), seen(5, { id: late, label: late })])
  await page.getByRole('button', { name: '2 new' }).waitFor()
  // Of the three pages, a refetch reads the first, for what is new, and the last, which is in view.
  expect(new Set(cursors).size).toBe(2)
  expect(cursors).toContain(null)
  expect(await page.locator(`[data-incident="${last}"]`).boundingBox()).toEqual(before)
  await page.getByRole('button', { name: '2 new' }).click()
  for (const one of [label, late])
    await page.getByRole('list', { name: 'Incidents' }).getByText(one, { exact: true }).waitFor()
})
