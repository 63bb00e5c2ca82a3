import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { hubStats } from '@hedgerow/contract'
import { startBrowser } from '../test/harness/browser.ts'
import { startHub } from '../test/harness/hub.ts'
import { portalOf } from '../test/harness/portal.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { approveDevices, startDevices } from './demo-arrivals.ts'
import { fleet, giveHistory, reportCameras } from './made-up-day.ts'
import { ensureWebBuilt } from './web-build.ts'

/**
 * The first step of `npm run pictures`: the public site's picture files: the demo's dashboard in light and dark, the
 * card of shared links, and the icon in the sizes for phones; and, as JPEG, the pictures of the demo's cameras. Its
 * output is committed.
 */
const APPS = join(import.meta.dirname, '..', 'apps')
const ICONS = { 'apple-touch-icon.png': 180, 'icon-192.png': 192, 'icon-512.png': 512, 'icon-maskable-512.png': 512 }
/** Margins for masks: phones show at least the circle over 80 % of the width (W3C Web Application Manifest). */
const MASKABLE = ['viewBox="0 0 32 32"', 'viewBox="-4 -4 40 40"'] as const
const CARD = { width: 1_200, height: 630 }

await using life = new AsyncDisposableStack()
await ensureWebBuilt()
const browser = await startBrowser()
life.defer(() => browser.close())
const hub = await startHub({
  env: { HUB_ADMIN_USERNAME: 'rosa', HUB_ADMIN_PASSWORD: 'four foxes in fog', HUB_LOG_LEVEL: 'warn' },
})
life.defer(async () => void (await hub.stop()))

const visitor = await browser.person({ viewport: CARD, reducedMotion: 'reduce' })
const page = await visitor.newPage()
await page.goto(hub.url)
await composeCard(page)
await save('og.png', await page.screenshot({ type: 'png' }))
const icon = await readFile(join(APPS, '..', 'packages/ui/public/icon.svg'), 'utf8')
for (const [file, size] of Object.entries(ICONS)) {
  await page.setViewportSize({ width: size, height: size })
  // Phones round the corners themselves.
  const drawing = file.includes('maskable') ? icon.replace(...MASKABLE) : icon
  const style = 'position:fixed;inset:0;background:#0a3d34'
  await page.setContent(drawing.replace('rx="7"', '').replace('<svg ', `<svg style="${style}" `))
  await save(file, await page.screenshot({ type: 'png' }))
}
const frames = join(import.meta.dirname, 'demo-frames')
await page.setViewportSize({ width: 320, height: 180 })
for (const file of await readdir(frames)) {
  if (!file.endsWith('.svg')) continue
  const drawing = await readFile(join(frames, file), 'utf8')
  await page.setContent(drawing.replace('<svg ', '<svg style="position:fixed;inset:0" '))
  const jpeg = await page.screenshot({ type: 'jpeg', quality: 72 })
  await writeFile(join(frames, file.replace('.svg', '.jpg')), jpeg)
}

const gateways = await startDevices(hub, fleet, life)
for (const gateway of gateways) await giveHistory(gateway)
for (const gateway of gateways) await reportCameras(gateway)
await approveDevices(hub, fleet)
await waitFor(async () => (await hub.api(hubStats)).threats > 1, { for: 'a day of detections', timeoutMs: 30_000 })
for (const colorScheme of ['light', 'dark'] as const) {
  const person = await browser.person({ colorScheme, viewport: { width: 1_280, height: 800 }, reducedMotion: 'reduce' })
  const screen = await person.newPage()
  const portal = portalOf(screen, hub)
  await portal.open('/login')
  await portal.signIn(hub.admin)
  await screen.waitForURL('**/gateways')
  await portal.navigation('Dashboard').click()
  await screen.locator('canvas').waitFor()
  await screen.getByText(/potential threats detected today/).waitFor()
  const firstSteps = screen.getByRole('region', { name: 'First steps' })
  await firstSteps.getByRole('button', { name: 'Hide' }).click()
  await firstSteps.waitFor({ state: 'detached' })
  await screen.evaluate(() => document.fonts.ready.then(() => undefined))
  const session = await person.newCDPSession(screen)
  const { data } = (await session.send('Page.captureScreenshot', { format: 'webp', quality: 86 })) as { data: string }
  await save(`media/dashboard-${colorScheme}.webp`, Buffer.from(data, 'base64'))
}

/** The drawing of the landing page beside its name and first line, as large as the card. */
async function composeCard(on: Page): Promise<void> {
  await on.evaluate(async () => {
    const drawing = document.querySelector<SVGElement>('figure svg[role="img"]')!
    const title = document.querySelector<HTMLElement>('h1')!
    const name = document.querySelector<HTMLElement>('header a span')!
    drawing.lastElementChild!.remove()
    document.body.replaceChildren(drawing, name, title)
    document.documentElement.style.background = '#0a1512'
    drawing.setAttribute('viewBox', '330 90 560 510')
    drawing.style.cssText = 'position:fixed;top:0;left:508px;width:692px;height:630px;max-width:none;border:0'
    title.style.cssText =
      'position:fixed;left:64px;bottom:64px;width:420px;' +
      'font-size:74px;line-height:1;letter-spacing:-0.042em;color:#f1f8f5'
    name.style.cssText = 'position:fixed;left:34px;top:32px;zoom:1.9;color:#f1f8f5'
    await document.fonts.ready
  })
}

async function save(file: string, bytes: Uint8Array): Promise<void> {
  const app = /^(?:og\.png$|media\/)/.test(file) ? 'site' : 'portal'
  await writeFile(join(APPS, app, 'public', file), bytes)
  console.log(`${file}: ${Math.ceil(bytes.length / 1_024)} KiB`)
}
