import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startBrowser } from '../test/harness/browser.ts'
import { screens } from '../test/harness/screens.ts'
import { startShowcase } from '../test/harness/showcase.ts'

/** `npm run screenshots [parts of names]`: every screen in light and dark, wide and narrow, into .screenshots/. */
const FOLDER = join(import.meta.dirname, '..', '.screenshots')
const WIDTHS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

const wanted = process.argv.slice(2)
if (wanted.length === 0) await rm(FOLDER, { recursive: true, force: true })
await mkdir(FOLDER, { recursive: true })
await using life = new AsyncDisposableStack()
const browser = await startBrowser()
life.defer(() => browser.close())
const showcase = await startShowcase()
life.defer(() => showcase.stop())

const isWanted = (name: string) => wanted.length === 0 || wanted.some((part) => name.includes(part))
for (const screen of screens.filter(({ name }) => isWanted(name))) {
  for (const viewport of WIDTHS) {
    const person = await browser.person({ viewport, deviceScaleFactor: 1, reducedMotion: 'reduce' })
    const page = await person.newPage()
    const name = (scheme: string) => `${screen.name}-${scheme}-${viewport.width}.png`
    try {
      await screen.show(page, showcase)
      await page.evaluate(async () => {
        await document.fonts.ready
        scrollTo(0, 0)
      })
      // A dialog covers the window, not the page below it.
      const fullPage = !(await page.getByRole('dialog').isVisible())
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.screenshot({ path: join(FOLDER, name(colorScheme)), fullPage })
        console.log(name(colorScheme))
      }
    } catch (error) {
      process.exitCode = 1
      console.error(`${name('*')}: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      await person.close()
    }
  }
}
