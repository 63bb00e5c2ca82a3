import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readHubSettings } from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'

/** Settings that are saved together, and the bar below them. */
let browser: BrowserHandle
let hub: Hub
beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
})
afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

async function open(path: string, viewport: { width: number; height: number }): Promise<Page> {
  const person = await browser.person({ viewport, reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open(path)
  await page.waitForURL('**/login')
  await portal.signIn(hub.admin)
  await page.getByRole('button', { name: 'Save Settings' }).waitFor()
  return page
}

test('changes are discarded by one button, and nothing is saved', async () => {
  const page = await open('/settings', { width: 1440, height: 900 })
  const name = page.getByLabel('Hub name')
  const before = await name.inputValue()
  const discard = page.getByRole('button', { name: 'Discard' })
  expect(await discard.isDisabled()).toBe(true)
  await name.fill('Old mill')
  await page.getByText('Some changes are not saved.').waitFor()
  await discard.click()
  await expect.poll(() => name.inputValue()).toBe(before)
  await expect.poll(() => discard.isDisabled()).toBe(true)
  expect(await page.getByText('Some changes are not saved.').count()).toBe(0)
  expect((await hub.api(readHubSettings)).hubName).toBe(before)
})

test('the rules of auto-approval are discarded with what was typed and not added', async () => {
  const page = await open('/auto-approval-settings', { width: 1440, height: 900 })
  await page.getByRole('textbox', { name: 'IP address' }).fill('198.51.100.7')
  await page.getByLabel('Notification email').fill('nobody')
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => page.getByRole('textbox', { name: 'IP address' }).inputValue()).toBe('')
  expect(await page.getByLabel('Notification email').inputValue()).toBe('')
})

/** What of the focused part of the page the bar covers. */
const covered = (page: Page) =>
  page.evaluate(() => {
    const focused = document.activeElement!
    const bar = [...document.querySelectorAll('button')].find(
      (button) => button.textContent === 'Discard',
    )!.parentElement!
    if (bar.contains(focused) || focused === document.body) return undefined
    const [field, above] = [focused.getBoundingClientRect(), bar.getBoundingClientRect()]
    const isCovered = field.bottom > above.top && field.top < above.bottom
    const isOutside = field.bottom > innerHeight || field.top < 0
    return isCovered || isOutside ? (focused.getAttribute('name') ?? focused.outerHTML.slice(0, 120)) : undefined
  })

test.each([
  ['a laptop at 200 %', { width: 720, height: 450 }],
  ['a small phone', { width: 360, height: 740 }],
  ['a small phone with its keyboard', { width: 360, height: 420 }],
])('the bar covers no field that has the focus: %s', async (_what, viewport) => {
  const page = await open('/settings', viewport)
  await page.getByLabel('Hub name').fill('Old mill')
  const bad: (string | undefined)[] = []
  let steps = 0
  for (const key of ['Tab', 'Shift+Tab'])
    for (;;) {
      await page.keyboard.press(key)
      steps += 1
      bad.push(await covered(page))
      const where = await page.evaluate(() => document.activeElement?.textContent)
      if (key === 'Tab' ? where === 'Save Settings' : where === 'General' || steps > 200) break
    }
  expect(steps).toBeGreaterThan(8)
  expect(bad.filter((one) => one !== undefined)).toEqual([])
})
