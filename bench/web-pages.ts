import { gzipSync } from 'node:zlib'
import type { BrowserContext } from 'playwright-core'
import type { Hub } from '../test/harness/hub.ts'
import { distributionOf, type Distribution } from './report.ts'

export type MeasuredPage = {
  path: string
  /** A selector of an element that exists once the page is complete. */
  whole: string
}

/** About the ratio between this machine and a phone of some years ago. */
export const SLOWED = 4
/** A page has loaded everything once it requested nothing for this long. */
const QUIET_MS = 1_000

/**
 * Script in gzip kB (everything that arrives without a touch, chunks of the first screen included) and first
 * contentful paint, with an empty cache each time.
 */
export async function measurePages(
  person: BrowserContext,
  hub: Hub,
  pages: readonly MeasuredPage[],
  loads: number,
): Promise<Record<string, Distribution>> {
  const rows: Record<string, Distribution> = {}
  for (const { path, whole } of pages) {
    const loaded: Load[] = []
    for (let load = 0; load < loads; load += 1) loaded.push(await loadPage(person, `${hub.url}${path}`, whole))
    const distribution = (figure: (load: Load) => number) => distributionOf(loaded.map(figure))
    rows[`${path}: script, gzip kB`] = distribution((load) => load.kilobytes)
    rows[`${path}: first paint, ms`] = distribution((load) => load.firstPaintMs)
    rows[`${path}: largest paint, ms`] = distribution((load) => load.largestPaintMs)
  }
  return rows
}

type Load = { kilobytes: number; firstPaintMs: number; largestPaintMs: number }

async function loadPage(person: BrowserContext, url: string, whole: string): Promise<Load> {
  const page = await person.newPage()
  const devtools = await person.newCDPSession(page)
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWED })
  const scripts: Promise<Buffer>[] = []
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.push(response.body())
  })
  await page.goto(url)
  await page.locator(whole).first().waitFor({ timeout: 60_000 })
  // The event stream of a signed-in page never ends, so silence is counted here instead of on the network.
  for (let before = -1; before < scripts.length;) {
    before = scripts.length
    await page.waitForTimeout(QUIET_MS)
  }
  const bytes = (await Promise.all(scripts)).reduce((sum, script) => sum + gzipSync(script, { level: 9 }).length, 0)
  const paints = await page.evaluate(readPaints)
  await page.close()
  return { kilobytes: bytes / 1_000, ...paints }
}

/** Runs in the page. */
function readPaints(): Promise<{ firstPaintMs: number; largestPaintMs: number }> {
  return new Promise((resolve) => {
    const firstPaintMs = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN
    new PerformanceObserver((list) =>
      resolve({ firstPaintMs, largestPaintMs: list.getEntries().at(-1)?.startTime ?? Number.NaN }),
    ).observe({ type: 'largest-contentful-paint', buffered: true })
  })
}
