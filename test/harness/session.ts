import type { Page } from 'playwright-core'
import { login, TOKEN_STORAGE_KEY } from '@hedgerow/contract'
import { createApi } from './api-client.ts'
import type { Credentials, Hub } from './hub.ts'

const tokens = new WeakMap<Hub, Map<string, Promise<string>>>()

/** Signs a person in once for all pages of a test file; session.test.ts signs in by the form. */
function tokenOf(hub: Hub, credentials: Credentials): Promise<string> {
  const ofHub = tokens.get(hub) ?? new Map<string, Promise<string>>()
  tokens.set(hub, ofHub)
  const known = ofHub.get(credentials.username)
  if (known !== undefined) return known
  const token = createApi(hub.url)(login, { body: credentials }).then((answer) => {
    if ('challenge' in answer) throw new Error(`${credentials.username} signs in with two-factor`)
    return answer.accessToken
  })
  ofHub.set(credentials.username, token)
  return token
}

const entries = new WeakMap<Page, { dispose(): Promise<void> }>()

/** Gives pages of the hub that `page` opens from now on this person's session. */
export async function enterAs(page: Page, hub: Hub, credentials: Credentials): Promise<void> {
  await leave(page)
  const entry = { origin: hub.url, key: TOKEN_STORAGE_KEY, token: await tokenOf(hub, credentials) }
  const script = await page.addInitScript(({ origin, key, token }) => {
    if (location.origin === origin) localStorage.setItem(key, token)
  }, entry)
  entries.set(page, script)
}

/** Ends what `enterAs` began: `page` opens its next pages without that session, unless its storage still has one. */
export async function leave(page: Page): Promise<void> {
  await entries.get(page)?.dispose()
  entries.delete(page)
}
