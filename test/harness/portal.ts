import type { Locator, Page } from 'playwright-core'
import type { Credentials, Hub } from './hub.ts'

/** A person's steps in the portal, found by roles, labels and texts, never by classes. */
export type Portal = {
  readonly page: Page
  open(path: string): Promise<void>
  /** Fills in the sign-in form that is on the screen. */
  signIn(credentials: Credentials): Promise<void>
  /** A link or button of the top bar. */
  navigation(name: string): Locator
  dialog(): Locator
  /** The row of a table that has this text. */
  row(text: string): Locator
}

export function portalOf(page: Page, hub: Hub): Portal {
  return {
    page,
    open: async (path) => void (await page.goto(`${hub.url}${path}`)),
    async signIn({ username, password }) {
      await page.getByLabel('Username').fill(username)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Sign In', exact: true }).click()
    },
    navigation: (name) => page.getByRole('navigation').getByText(name, { exact: true }),
    dialog: () => page.getByRole('dialog'),
    row: (text) => page.getByRole('row').filter({ hasText: text }),
  }
}
