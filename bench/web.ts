import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { BrowserContext } from 'playwright-core'
import { ensureWebBuilt } from '../scripts/web-build.ts'
import { startBrowser } from '../test/harness/browser.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { portalOf } from '../test/harness/portal.ts'
import { createFleet } from './fleet.ts'
import { distributionOf, report, reportGoals, type Distribution } from './report.ts'
import { measureScrolling, measureTyping } from './web-list.ts'
import { measurePages, type MeasuredPage } from './web-pages.ts'

/**
 * How long a person waits in the browser, with a processor four times slower and an empty cache: the script each page
 * loads by itself, its first paint, a keystroke in the filter of a large fleet, and scrolling through it. A real hub
 * and a real Chromium. `--gateways 10000 --loads 7 --only pages,typing,scrolling`.
 */
export async function benchWeb(args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: { gateways: text('10000'), loads: text('7'), only: text('pages,typing,scrolling') },
  })
  const parts = values.only.split(',')
  await ensureWebBuilt()
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-bench-web-'))
  const url = `sqlite:${join(folder, 'hub.sqlite')}`
  await createFleet(url, Number(values.gateways))
  const hub = await startHub({ env: { HUB_DATABASE_URL: url } })
  const browser = await startBrowser()
  try {
    const rows: Record<string, Distribution> = {}
    const [visitor, person] = [
      await browser.person({ viewport: VIEWPORT }),
      await browser.person({ viewport: VIEWPORT }),
    ]
    await signIn(person, hub)
    if (parts.includes('pages')) {
      const loads = Number(values.loads)
      Object.assign(rows, await measurePages(visitor, hub, VISITOR_PAGES, loads))
      Object.assign(rows, await measurePages(person, hub, PORTAL_PAGES, loads))
    }
    if (parts.includes('typing')) {
      const { paintMs, settledMs } = await measureTyping(person, hub)
      rows['filter: keystroke to next paint, ms'] = distributionOf(paintMs)
      rows['filter: last keystroke to the new rows, ms'] = distributionOf(settledMs)
    }
    if (parts.includes('scrolling')) {
      const { frameMs } = await measureScrolling(person, hub)
      rows['scrolling: one frame, ms'] = distributionOf(frameMs)
    }
    report('web', rows)
    const pages = Object.entries(rows).map(([what, { max, p50 }]) => [what, what.endsWith('kB') ? max : p50])
    reportGoals('web', {
      ...Object.fromEntries(pages),
      'filter: keystroke to next paint, p95, ms': rows['filter: keystroke to next paint, ms']?.p95,
      'scrolling: one frame, p95, ms': rows['scrolling: one frame, ms']?.p95,
    })
  } finally {
    await browser.close()
    await hub.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const VIEWPORT = { width: 1440, height: 900 }

const VISITOR_PAGES: MeasuredPage[] = [
  { path: '/', whole: 'h1' },
  { path: '/beta', whole: 'h1' },
  { path: '/login', whole: 'form' },
  { path: '/register', whole: 'form' },
]

const PORTAL_PAGES: MeasuredPage[] = [
  { path: '/dashboard', whole: 'canvas' },
  { path: '/gateways', whole: 'tbody' },
]

async function signIn(person: BrowserContext, hub: Hub): Promise<void> {
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open('/login')
  await portal.signIn(hub.admin)
  await page.waitForURL((url) => url.pathname !== '/login')
  await page.close()
}
