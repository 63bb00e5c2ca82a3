import type { Page } from 'playwright-core'
import { login, TOKEN_STORAGE_KEY } from '@hedgerow/contract'
import { createClient } from '@hedgerow/client'
import type { Credentials, Hub } from './hub.ts'

const tokens = new WeakMap<Hub, Map<string, Promise<string>>>()

/** Signs a person in once for all pages of a test file; session.test.ts signs in by the form. */
function tokenOf(hub: Hub, credentials: Credentials): Promise<string> {
  const ofHub = tokens.get(hub) ?? new Map<string, Promise<string>>()
  tokens.set(hub, ofHub)
  const known = ofHub.get(credentials.username)
  if (known !== undefined) return known
  const token = createClient(hub.url)(login, { body: credentials }).then((answer) => {
    if ('challenge' in answer) throw new Error(`${credentials.username} signs in with two-factor`)
    return answer.accessToken
  })
  ofHub.set(credentials.username, token)
  return token
}

/** Leaves the page on a document of the hub without a script, with this person's session in the profile's storage. */
export async function enterAs(page: Page, hub: Hub, credentials: Credentials): Promise<void> {
  const token = await tokenOf(hub, credentials)
  const blank = `${hub.url}/livez`
  if (page.url() !== blank) await page.goto(blank)
  await page.evaluate(([key, value]) => localStorage.setItem(key, value), [TOKEN_STORAGE_KEY, token] as const)
}
