import type { BrowserContext, Page } from 'playwright-core'
import type { BrowserHandle } from './browser.ts'
import { leaveScreen } from './in-place.ts'

type Options = NonNullable<Parameters<BrowserHandle['person']>[0]>

const WIDE = { width: 1280, height: 720 }
const EVENTS = ['console', 'dialog', 'download', 'pageerror', 'request', 'requestfailed', 'response'] as const
const STORAGES = 'cookies,local_storage,indexeddb,service_workers,cache_storage'

/**
 * One page for all tests of a file, one after the other: a new profile loads and compiles the portal again, in twice
 * the time. A test that leaves behind what cannot be undone, a clock or a script of the page, closes the page.
 */
export type ReusedPage = {
  /** The profile of the page. */
  context(): BrowserContext
  /** The page, with nothing of the test before but the cached files of `origins`. */
  next(): Promise<Page>
  /**
   * The page, nowhere in the portal that the test before has left open, with its session: the portal need not load
   * again. Undefined where something of that test would stay.
   */
  stay(): Promise<Page | undefined>
}

/** `origins`: those whose storage tests fill, without a path; the first is a hub's. */
export async function reusePage(
  browser: BrowserHandle,
  origins: readonly [string, ...string[]],
  options: Options = {},
): Promise<ReusedPage> {
  let page = await newPage()
  let isNew = true
  /** The portal may keep what a test made up. */
  let isRouted = false

  async function newPage(): Promise<Page> {
    const opened = await (await browser.person(options)).newPage()
    const route = opened.route.bind(opened)
    opened.route = (...input) => {
      isRouted = true
      return route(...input)
    }
    return opened
  }

  async function forgetListeners(): Promise<void> {
    for (const other of page.context().pages()) if (other !== page) await other.close()
    for (const event of EVENTS) page.removeAllListeners(event)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }

  async function forgetWindow(): Promise<void> {
    await page.mouse.move(0, 0)
    await page.setViewportSize(options.viewport ?? WIDE)
    const { colorScheme = 'light', reducedMotion = 'no-preference' } = options
    await page.emulateMedia({ colorScheme, reducedMotion })
  }

  async function forget(): Promise<void> {
    const context = page.context()
    await forgetListeners()
    // The page of another origin may be there, or that of an error, which has no storage.
    await page.evaluate(() => sessionStorage.clear()).catch(() => undefined)
    // A page without a script, of the same site: for any other, even about:blank, Chromium would start a new process.
    await page.goto(`${origins[0]}/livez`)
    await page.evaluate(() => sessionStorage.clear())
    await context.clearCookies()
    await context.clearPermissions()
    const devtools = await context.newCDPSession(page)
    for (const origin of origins) await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: STORAGES })
    await devtools.detach()
    await forgetWindow()
  }

  return {
    context: () => page.context(),
    async next() {
      if (page.isClosed()) {
        await page.context().close()
        page = await newPage()
      } else if (!isNew) await forget()
      isNew = false
      isRouted = false
      return page
    },
    async stay() {
      if (isNew || page.isClosed() || isRouted) return undefined
      await forgetListeners()
      if (!(await leaveScreen(page))) return undefined
      await forgetWindow()
      return page
    },
  }
}
