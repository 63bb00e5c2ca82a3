import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { addGateway, createGatewayInvitation, createUser, listGateways } from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { screens } from '../../apps/portal/src/parts/screens.ts'

const SCREENS = [
  ...screens.map(({ path }) => path).filter((path) => path !== '/proxy/gateway/:id' && path !== '/help/:page'),
  ...['security', 'network', 'certificates', 'audit'].map((tab) => `/settings?tab=${tab}`),
]

let browser: BrowserHandle
let hub: Hub
let gatewayId: string
let reused: ReusedPage
let page: Page

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce' })
  gatewayId = (await hub.api(addGateway, { body: { name: 'Alder ford' } })).id
  await hub.api(createGatewayInvitation, { body: { label: 'South fields', maxUses: 2, expiresInHours: 24 } })
  const rosa = { username: 'rosa', email: 'rosa@farm.example', password: 'four foxes in fog', role: 'user' } as const
  await hub.api(createUser, { body: rosa })
})

afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

beforeEach(async () => {
  page = await reused.next()
})

/** Signs in by keyboard: the first field has focus. */
async function signIn(address: string): Promise<void> {
  await portalOf(page, hub).open(address)
  await page.getByLabel('Username').waitFor()
  await page.keyboard.type(hub.admin.username)
  await page.keyboard.press('Tab')
  await page.keyboard.type(hub.admin.password)
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname !== '/login')
  await page.locator('main h1').waitFor()
}

const focusedName = () =>
  page.evaluate(() => {
    const focused = document.activeElement
    return focused?.getAttribute('aria-label') ?? focused?.textContent ?? ''
  })

async function tabTo(name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if ((await focusedName()) === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab never came to ${name}`)
}

/** Walks the page by Tab; returns controls that it did not reach, and those without a visible focus. */
async function walk(): Promise<{ missed: string[]; unmarked: string[] }> {
  const wanted = await page.evaluate(() => {
    for (const one of document.querySelectorAll<HTMLElement>('[data-walk]')) delete one.dataset['walk']
    const controls = [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea')].filter(
      // Arrows lead from the chosen one of a group to the others.
      (one) =>
        one.tabIndex >= 0 &&
        !one.matches(':disabled, [type=radio]:not(:checked)') &&
        one.checkVisibility({ visibilityProperty: true }),
    )
    for (const [index, control] of controls.entries()) control.dataset['walk'] = String(index)
    ;(document.activeElement as HTMLElement | null)?.blur()
    return controls.map((one) => one.getAttribute('aria-label') ?? (one.textContent || one.outerHTML.slice(0, 120)))
  })
  const met = new Set<number>()
  const shown = new Set<number>()
  // A date field has several tab stops; the browser itself marks the inner ones.
  for (let presses = 0; presses < wanted.length * 2 + 20 && met.size < wanted.length; presses += 1) {
    await page.keyboard.press('Tab')
    const { index, marked } = await page.evaluate(() => {
      const focused = document.activeElement
      const around = [focused, focused?.parentElement, focused?.parentElement?.parentElement]
      const near = [...around, ...(focused?.parentElement?.children ?? [])].filter((one) => one instanceof Element)
      const marked = near.some((one) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(one)
        return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
      })
      return { index: focused instanceof HTMLElement ? focused.dataset['walk'] : undefined, marked }
    })
    if (index === undefined) continue
    met.add(Number(index))
    if (marked) shown.add(Number(index))
  }
  return {
    missed: wanted.filter((_, index) => !met.has(index)),
    unmarked: wanted.filter((_, index) => met.has(index) && !shown.has(index)),
  }
}

test('Tab reaches every control of every screen, and each shows its focus', async () => {
  await signIn('/gateways')
  for (const screen of SCREENS) {
    await portalOf(page, hub).open(screen.replace(':id', gatewayId))
    await page.locator('main h1').waitFor()
    await expect.poll(() => page.locator('main [class*="Skeleton"]').count()).toBe(0)
    // A walk misses elements that appear during it; then the next walk counts.
    await expect
      .poll(async () => ({ screen, ...(await walk()) }), { timeout: 60_000 })
      .toEqual({ screen, missed: [], unmarked: [] })
  }
})

test('a gateway is added and deleted without a pointer, and focus is never lost', async () => {
  await signIn('/gateways')
  const dialog = page.getByRole('dialog')
  await tabTo('Add Gateway')
  await page.keyboard.press('Enter')
  const name = page.getByLabel('Gateway Name')
  await name.waitFor()
  await expect
    .poll(async () => {
      await page.keyboard.press('Tab')
      return name.evaluate((one) => one === document.activeElement)
    })
    .toBe(true)
  await page.keyboard.type('By hand')
  await page.keyboard.press('Shift+Tab')
  // The arrow goes round from the first kind to the last.
  await page.keyboard.press('ArrowUp')
  await tabTo('Add Gateway')
  await page.keyboard.press('Enter')
  await page.getByText('[Interface]').waitFor()
  await tabTo('Gateways')
  await page.keyboard.press('Enter')

  await page.getByRole('link', { name: 'By hand' }).waitFor()
  await tabTo('More actions for By hand')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Delete Gateway' }).waitFor()
  await expect
    .poll(async () => {
      await page.keyboard.press('ArrowDown')
      return focusedName()
    })
    .toBe('Delete Gateway')
  await page.keyboard.press('Enter')
  await expect.poll(() => dialog.getByLabel(/^Type/).evaluate((one) => one === document.activeElement)).toBe(true)
  await page.keyboard.type('By hand')
  await page.keyboard.press('Enter')
  await page.getByText('Gateway "By hand" deleted.').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'By hand' }).waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  expect((await hub.api(listGateways)).map(({ name }) => name)).toEqual(['Alder ford'])
})

test('the menus of the account and of a gateway give the focus back to their buttons, the first time too', async () => {
  await signIn('/gateways')
  for (const name of [`Account of ${hub.admin.username}`, 'More actions for Alder ford'])
    for (const time of ['first', 'second']) {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menuitem').first().waitFor()
      await expect.poll(() => page.evaluate(() => document.activeElement?.closest('[role="menu"]') !== null)).toBe(true)
      await page.keyboard.press('Escape')
      await page.getByRole('menuitem').first().waitFor({ state: 'detached' })
      await expect.poll(focusedName, { message: time }).toBe(name)
    }
})

test('the skip link skips the bar, and the tabs of the settings respond to arrow keys', async () => {
  await signIn('/settings')
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await page.keyboard.press('Tab')
  expect(await focusedName()).toBe('Skip to content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
  await page.getByRole('tab', { name: 'General' }).focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => page.getByRole('tab', { name: 'Security' }).getAttribute('aria-selected')).toBe('true')
})

test('nothing moves for a person who asks for reduced motion', async () => {
  const moving = () =>
    page.evaluate(
      () =>
        [...document.querySelectorAll('*')].filter((one) => {
          const { transitionDuration, transitionProperty, animationDuration, animationName } = getComputedStyle(one)
          const lasts = (durations: string) =>
            durations.split(',').some((duration) => Number.parseFloat(duration) > 0.001)
          const fades = transitionProperty !== 'none' && lasts(transitionDuration)
          return fades || (animationName !== 'none' && lasts(animationDuration))
        }).length,
    )
  await signIn('/gateways')
  await page.getByRole('button', { name: 'Claim Gateway' }).click()
  await page.getByRole('dialog').getByLabel('Device Token').waitFor()
  expect(await moving()).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  expect(await moving()).toBeGreaterThan(0)
})
