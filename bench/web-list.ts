import type { BrowserContext, Page } from 'playwright-core'
import type { Hub } from '../test/harness/hub.ts'
import { SLOWED } from './web-pages.ts'

/** The pause of a fast typist. */
const BETWEEN_KEYS_MS = 110
const SEARCHES = ['field 12', 'gateway 77', '10.100.3', 'online', 'barn 9']
/** Browsers leave out event timings shorter than a frame. */
const UNREPORTED_MS = 16
const SCROLLS = 120

/**
 * Types searches and deletes them letter by letter. `paintMs`: from each key to the next paint, by the browser's own
 * event timing, in steps of 8 ms. `settledMs`: from each search's last key until the table says how many match.
 */
export async function measureTyping(
  person: BrowserContext,
  hub: Hub,
): Promise<{ paintMs: number[]; settledMs: number[] }> {
  const page = await openList(person, hub)
  const search = page.getByLabel('Search gateways')
  await search.click()
  // The very first keys compile the code of all later ones.
  await page.keyboard.type('field', { delay: BETWEEN_KEYS_MS })
  await search.fill('')
  await page.evaluate(watchKeys)
  let keys = 0
  const settledMs: number[] = []
  for (const text of SEARCHES) {
    await page.keyboard.type(text, { delay: BETWEEN_KEYS_MS })
    settledMs.push(await page.evaluate(lastKeyToRowsMs))
    for (let letter = 0; letter < text.length; letter += 1) {
      await page.keyboard.press('Backspace')
      await page.waitForTimeout(BETWEEN_KEYS_MS)
    }
    keys += text.length * 2
  }
  await page.waitForTimeout(1_000)
  const reported = await page.evaluate(() => [...(globalThis as unknown as Watched).keyMs.values()])
  await page.close()
  return { paintMs: [...reported, ...Array.from({ length: keys - reported.length }, () => UNREPORTED_MS)], settledMs }
}

/** Scrolls the table with the wheel. `frameMs`: the time between two frames meanwhile. */
export async function measureScrolling(person: BrowserContext, hub: Hub): Promise<{ frameMs: number[] }> {
  const page = await openList(person, hub)
  const frameMs = await scrollFrames(page)
  await page.close()
  return { frameMs }
}

/** Scrolls a page by the wheel; the times between two frames meanwhile. */
async function scrollFrames(page: Page): Promise<number[]> {
  await page.mouse.move(700, 600)
  await page.evaluate(watchFrames)
  for (let turn = 0; turn < SCROLLS; turn += 1) await page.mouse.wheel(0, 240)
  return page.evaluate(() => (globalThis as unknown as Watched).frameMs)
}

async function openList(person: BrowserContext, hub: Hub): Promise<Page> {
  const page = await person.newPage()
  await page.goto(`${hub.url}/gateways`)
  await page.getByRole('table', { name: 'Gateways' }).waitFor()
  const devtools = await person.newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWED })
  return page
}

/** State that the functions below leave in the page for the next ones. */
type Watched = { keyMs: Map<number, number>; rowsAtMs: number; keyAtMs: number; frameMs: number[] }

/** Runs in the page. One key is several events; the longest of those with the same interaction counts. */
function watchKeys(): void {
  const watched = globalThis as unknown as Watched
  watched.keyMs = new Map()
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEventTiming & { interactionId: number })[]) {
      if (entry.interactionId === 0 || !entry.name.startsWith('key')) continue
      watched.keyMs.set(entry.interactionId, Math.max(watched.keyMs.get(entry.interactionId) ?? 0, entry.duration))
    }
  })
  observer.observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
  document.addEventListener('keydown', (event) => (watched.keyAtMs = event.timeStamp), { capture: true })
  const table = document.querySelector('main')!
  new MutationObserver(() => (watched.rowsAtMs = performance.now())).observe(table, {
    subtree: true,
    childList: true,
    characterData: true,
  })
}

/** Runs in the page. */
async function lastKeyToRowsMs(): Promise<number> {
  const watched = globalThis as unknown as Watched
  for (let seen = -1; seen !== watched.rowsAtMs;) {
    seen = watched.rowsAtMs
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  return watched.rowsAtMs - watched.keyAtMs
}

/** Runs in the page. */
function watchFrames(): void {
  const watched = globalThis as unknown as Watched
  watched.frameMs = []
  let beforeMs = performance.now()
  const next = (nowMs: number) => {
    watched.frameMs.push(nowMs - beforeMs)
    beforeMs = nowMs
    requestAnimationFrame(next)
  }
  requestAnimationFrame((nowMs) => {
    beforeMs = nowMs
    requestAnimationFrame(next)
  })
}
