import type { Page } from 'playwright-core'
import { TOKEN_STORAGE_KEY } from '@hedgerow/contract'

/** A screen that asks the hub nothing. */
const NOWHERE = '/help/none'
const WORDS = 'There is no such page'
const PATIENCE_MS = 3_000

export const isNowhere = (path: string): boolean => path === NOWHERE

/** Moves the portal that the page shows as Forward does, without a load. */
const move = (page: Page, path: string) =>
  page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: null }))
  }, path)

/** Leaves a screen of the portal, whatever its state. False: not all of it went, so the next screen needs a load. */
export async function leaveScreen(page: Page): Promise<boolean> {
  await move(page, NOWHERE)
  const [{ status }] = await Promise.allSettled([page.getByText(WORDS).waitFor({ timeout: PATIENCE_MS })])
  if (status === 'rejected') return false
  return page.evaluate((token) => {
    for (const key of Object.keys(localStorage)) if (key !== token) localStorage.removeItem(key)
    sessionStorage.clear()
    const beside = [...document.querySelectorAll('body > div:not(#root)')]
    const stays = document.querySelector('[role="dialog"], [role="menu"], [role="listbox"], [role="alert"]')
    return stays === null && beside.every(({ textContent }) => textContent === '')
  }, TOKEN_STORAGE_KEY)
}

/** To a screen, from nowhere. */
export async function moveTo(page: Page, path: string): Promise<void> {
  await move(page, path)
  await page.getByText(WORDS).waitFor({ state: 'hidden' })
}
