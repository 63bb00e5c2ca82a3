import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startBrowser } from '../test/harness/browser.ts'
import { startHub } from '../test/harness/hub.ts'
import { ensureWebBuilt } from './web-build.ts'

/**
 * The second step of `npm run pictures`: the card of shared links, and the icon in the sizes for phones; and, as JPEG,
 * the drawn camera pictures of tests and screenshots. Its output is committed.
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
const hub = await startHub()
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
  const app = file === 'og.png' ? 'public' : 'portal'
  await writeFile(join(APPS, app, 'public', file), bytes)
  console.log(`${file}: ${Math.ceil(bytes.length / 1_024)} KiB`)
}
