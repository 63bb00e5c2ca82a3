import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { portalOf } from '../harness/portal.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import type { Screen } from '../harness/screen.ts'
import { screens } from '../harness/screens.ts'
import { screenAt, screens as portalScreens } from '../../apps/portal/src/parts/screens.ts'
import { startShowcase, type Showcase } from '../harness/showcase.ts'
import { waitFor } from '../harness/wait-for.ts'

const WIDE = { width: 1440, height: 900 }
/** A laptop's window at 200 % zoom, and a small phone. */
const ZOOMED = { width: 720, height: 450 }
const NARROW = { width: 360, height: 740 }
/** #0b6f5d and #4fc3a8: the brand colour on light and on dark backgrounds. */
const BRAND = { light: 'rgb(11, 111, 93)', dark: 'rgb(79, 195, 168)' }

let browser: BrowserHandle
let showcase: Showcase
let reused: ReusedPage
/** In whose portal the test before has left the page. */
let isIn: Screen['person']

beforeAll(async () => {
  ;[browser, showcase] = await Promise.all([startBrowser(), startShowcase()])
  const { hub, emptyHub, barn, orchard, waiting } = showcase
  const device = (url: string) => new URL(url).origin
  const devices = [barn, orchard, waiting].map(({ pageUrl }) => device(pageUrl))
  reused = await reusePage(browser, [hub.url, emptyHub.url, ...devices], {
    viewport: WIDE,
    reducedMotion: 'reduce',
  })
})

afterAll(async () => {
  await browser?.close()
  await showcase?.stop()
})

/** Screens of one person's portal one after the other, which need one load. */
const byPerson = [...Map.groupBy(screens, ({ person }) => person).values()].flat()

/** Shows a screen. Returns the result of `see` and every breach of the Content-Security-Policy. */
async function look<T>(
  screen: Screen,
  see: (page: Page) => Promise<T>,
): Promise<{ seen: T; policyBreaches: string[] }> {
  const kept = screen.person && screen.person === isIn ? await reused.stay() : undefined
  isIn = undefined
  const page = kept ?? (await reused.next())
  const policyBreaches: string[] = []
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) policyBreaches.push(message.text())
  })
  await screen.show(page, showcase, kept !== undefined)
  const seen = await see(page)
  if (screen.spoilsPage) await page.close()
  isIn = screen.person
  return { seen, policyBreaches }
}

/** Switches the system to dark. The portal follows at once, the plain pages when they load. */
async function turnDark(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' })
  if ((await page.locator('#root').count()) === 0) await page.reload()
  else await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
}

/**
 * Elements wider than this viewport: the page itself, or the content of a dialog. A chart or a menu may need a moment
 * to follow.
 */
async function sticksOut(page: Page, viewport: { width: number; height: number }): Promise<string[]> {
  await page.setViewportSize(viewport)
  const look = () =>
    page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('[role="dialog"]')]
        .filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => `${box.tagName} is ${box.scrollWidth} px in ${box.clientWidth} px`),
    )
  await waitFor(async () => (await look()).length === 0, { for: 'a layout that fits', timeoutMs: 5_000 }).catch(
    () => {},
  )
  return look()
}

/** A dialog gets its name a moment after it is there. Without one, axe-core says so. */
const dialogsHaveNames = (page: Page) =>
  waitFor(
    () =>
      page.evaluate(() =>
        [...document.querySelectorAll('[role="dialog"], [role="alertdialog"]')].every(
          (dialog) => dialog.hasAttribute('aria-label') || dialog.hasAttribute('aria-labelledby'),
        ),
      ),
    { for: 'the names of dialogs', timeoutMs: 5_000 },
  ).catch(() => {})

test.each(byPerson)(
  '$name is clean for axe-core in both themes, keeps to the policy, and fits at 200 % and on a small phone',
  async (screen) => {
    const { seen, policyBreaches } = await look(screen, async (page) => {
      await dialogsHaveNames(page)
      const light = await axeViolations(page)
      await turnDark(page)
      const dark = await axeViolations(page, 'colours')
      return { light, dark, zoomed: await sticksOut(page, ZOOMED), narrow: await sticksOut(page, NARROW) }
    })
    expect(seen).toEqual({ light: [], dark: [], zoomed: [], narrow: [] })
    expect(policyBreaches).toEqual([])
  },
)

test('every screen of the portal is among them', () => {
  const shown = new Set(screens.map(({ path = '' }) => screenAt(path.replace(/[?#].*/, ''))?.path))
  expect(portalScreens.flatMap(({ path }) => (shown.has(path) ? [] : [path]))).toEqual([])
})

test('the brand colour is really applied, in both themes', async () => {
  const signIn = screens.find(({ name }) => name === 'sign-in')!
  const ground = (page: Page) =>
    page.getByRole('button', { name: 'Sign In' }).evaluate((node) => getComputedStyle(node).backgroundColor)
  const { seen } = await look(signIn, async (page) => {
    const light = await ground(page)
    await turnDark(page)
    return { light, dark: await ground(page) }
  })
  expect(seen).toEqual(BRAND)
})

test('a breach of the policy is noticed', async () => {
  const provoked: Screen = {
    name: 'provoked',
    async show(page, { hub }) {
      await portalOf(page, hub).open('/login')
      await page.getByLabel('Username').waitFor()
      await page.evaluate(() =>
        document.head.append(Object.assign(document.createElement('style'), { textContent: 'p{}' })),
      )
    },
  }
  const { policyBreaches } = await look(provoked, () => Promise.resolve())
  expect(policyBreaches).not.toEqual([])
})
