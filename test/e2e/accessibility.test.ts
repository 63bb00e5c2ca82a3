import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { portalOf } from '../harness/portal.ts'
import type { Screen } from '../harness/screen.ts'
import { screens } from '../harness/screens.ts'
import { startShowcase, type Showcase } from '../harness/showcase.ts'

const NARROW = { width: 360, height: 740 }
const WIDE = { width: 1440, height: 900 }
/** #0b6f5d and #4fc3a8: the brand on light and on dark ground. */
const BRAND = { light: 'rgb(11, 111, 93)', dark: 'rgb(79, 195, 168)' }

let browser: BrowserHandle
let showcase: Showcase

beforeAll(async () => {
  ;[browser, showcase] = await Promise.all([startBrowser(), startShowcase()])
})

afterAll(async () => {
  await browser?.close()
  await showcase?.stop()
})

type Scheme = 'light' | 'dark'

/** Shows a screen to a fresh person; gives what `look` sees and every breach of the Content-Security-Policy. */
async function look<T>(
  screen: Screen,
  options: { colorScheme: Scheme; viewport: { width: number; height: number } },
  see: (page: Page) => Promise<T>,
): Promise<{ seen: T; policyBreaches: string[] }> {
  const person = await browser.person({ ...options, reducedMotion: 'reduce' })
  try {
    const page = await person.newPage()
    const policyBreaches: string[] = []
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) policyBreaches.push(message.text())
    })
    await screen.show(page, showcase)
    return { seen: await see(page), policyBreaches }
  } finally {
    await person.close()
  }
}

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test.each(screens)('$name has nothing that axe-core finds, and keeps to the policy', async (screen) => {
    const { seen, policyBreaches } = await look(screen, { colorScheme, viewport: WIDE }, axeViolations)
    expect(seen).toEqual([])
    expect(policyBreaches).toEqual([])
  })

  test('the brand colour is really applied', async () => {
    const signIn = screens.find(({ name }) => name === 'sign-in')!
    const { seen } = await look(signIn, { colorScheme, viewport: WIDE }, (page) =>
      page.getByRole('button', { name: 'Sign In' }).evaluate((node) => getComputedStyle(node).backgroundColor),
    )
    expect(seen).toBe(BRAND[colorScheme])
  })
})

test.each(screens)('$name needs no horizontal scrolling at 360 px', async (screen) => {
  const { seen } = await look(screen, { colorScheme: 'light', viewport: NARROW }, (page) =>
    page.evaluate(() => document.documentElement.scrollWidth),
  )
  expect(seen).toBeLessThanOrEqual(NARROW.width)
})

test('a breach of the policy would be noticed', async () => {
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
  const options = { colorScheme: 'light', viewport: WIDE } as const
  const { policyBreaches } = await look(provoked, options, () => Promise.resolve())
  expect(policyBreaches).not.toEqual([])
})
