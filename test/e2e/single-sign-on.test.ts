import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { CLIENT, startSignInProvider, type SignInProvider } from '../../apps/hub/testing/sign-in-provider.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { addPerson } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'

let browser: BrowserHandle
let hub: Hub
let provider: SignInProvider

async function startHouse(env: Record<string, string> = {}) {
  const port = await freeTcpPort()
  const url = `http://localhost:${port}`
  const house = await startSignInProvider(url)
  const started = await startHub({
    env: {
      HUB_PORT: String(port),
      HUB_PUBLIC_URL: url,
      HUB_OIDC_ISSUER: house.issuer,
      HUB_OIDC_CLIENT_ID: CLIENT.id,
      HUB_OIDC_CLIENT_SECRET: CLIENT.secret,
      HUB_OIDC_NAME: 'the farm',
      HUB_OIDC_ROLES: 'guards=manager; *=user',
      ...env,
    },
  })
  return { hub: started, provider: house }
}

beforeAll(async () => {
  browser = await startBrowser()
  ;({ hub, provider } = await startHouse())
})
afterAll(async () => {
  await hub?.stop()
  await provider?.stop()
  await browser?.close()
})

const visitor = async () => (await browser.person()).newPage()
const atFarm = (page: Page) => page.getByRole('button', { name: 'Sign in with the farm' })

async function signInAtFarm(page: Page, name: string): Promise<void> {
  await atFarm(page).click()
  await page.getByPlaceholder('Enter any login').fill(name)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
}

describe('a person of the provider', () => {
  test('signs in to the address they wanted, and signs out there too', async () => {
    provider.people.set('rosa', { preferred_username: 'rosa', name: 'Rosa Lind', groups: ['guards'] })
    const page = await visitor()
    await page.goto(`${hub.url}/profile`)
    await signInAtFarm(page, 'rosa')
    await page.getByText('Signed in as rosa.').waitFor()
    expect(page.url()).toBe(`${hub.url}/profile`)
    await page.getByRole('list', { name: 'Sign-in providers' }).getByText('the farm').waitFor()
    await page.getByText('You have no password').waitFor()
    expect(await page.getByText('Two-factor sign-in').count()).toBe(0)
    await page.reload()
    await page.getByText('Signed in as rosa.').waitFor()

    await page.getByRole('button', { name: 'End this session and log out' }).click()
    await page.getByRole('button', { name: 'Yes, sign me out' }).click()
    await page.waitForURL(`${hub.url}/login`)
    expect(await page.evaluate(() => localStorage.getItem('hubToken'))).toBeNull()
    await atFarm(page).click()
    await page.getByPlaceholder('Enter any login').waitFor()
  })

  test('links an account that exists by its password, once', async () => {
    const nora = await addPerson(hub, { username: 'nora', role: 'user' })
    provider.people.set('n-lind', { preferred_username: 'nora' })
    const page = await visitor()
    await page.goto(`${hub.url}/login`)
    await signInAtFarm(page, 'n-lind')
    await page.getByText('Sign in with your password once').waitFor()
    await portalOf(page, hub).signIn(nora)
    await page.waitForURL('**/gateways')

    const other = await visitor()
    await other.goto(`${hub.url}/login`)
    await signInAtFarm(other, 'n-lind')
    await other.waitForURL('**/gateways')
    await other.goto(`${hub.url}/profile`)
    await expect.poll(() => other.getByText('Signed in as nora.').count()).toBe(1)
  })

  test('may not link, and then signs in as before', async () => {
    const otto = await addPerson(hub, { username: 'otto', role: 'user' })
    provider.people.set('o', { preferred_username: 'otto' })
    const page = await visitor()
    await page.goto(`${hub.url}/login`)
    await signInAtFarm(page, 'o')
    await page.getByRole('button', { name: 'Do Not Link' }).click()
    await portalOf(page, hub).signIn(otto)
    await page.waitForURL('**/gateways')
    await page.goto(`${hub.url}/profile`)
    await page.getByText('Signed in as otto.').waitFor()
    expect(await page.getByRole('list', { name: 'Sign-in providers' }).count()).toBe(0)
  })
})

test('an answer that this tab did not begin signs nobody in', async () => {
  const page = await visitor()
  await page.goto(`${hub.url}/login/first?code=somebody&state=elses`)
  await page.getByText('This sign-in began in another tab or browser, or is over.').waitFor()
  expect(page.url()).toBe(`${hub.url}/login/first`)
  await page.getByRole('link', { name: 'Back to Sign In' }).click()
  await atFarm(page).waitFor()
})

test('at another address the page names the one where the provider sends people', async () => {
  const page = await visitor()
  await page.goto(`${hub.url.replace('localhost', '127.0.0.1')}/login`)
  await page.getByRole('link', { name: hub.url }).click()
  await atFarm(page).waitFor()
  expect(page.url()).toBe(`${hub.url}/login`)
})

test('without passwords, the page offers the provider alone', async () => {
  const house = await startHouse({ HUB_LOCAL_SIGN_IN: 'off' })
  try {
    const page = await visitor()
    await page.goto(`${house.hub.url}/login`)
    await atFarm(page).waitFor()
    await expect.poll(() => page.getByLabel('Username').count()).toBe(0)
    await page.getByRole('button', { name: 'Use a Password' }).click()
    await portalOf(page, house.hub).signIn(house.hub.admin)
    await page.getByText('This hub accepts no passwords.').waitFor()
  } finally {
    await house.hub.stop()
    await house.provider.stop()
  }
})
