import { createClient } from '@hedgerow/client'
import { createUser, listGateways, listUsers } from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startMailServer } from '../../apps/hub/testing/mail-server.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startHub, type Credentials, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { enterAs } from '../harness/session.ts'

/** What people do about accounts: tokens, a forgotten password, an invitation by mail, an end. */
const PASSWORD = 'four foxes in fog'
const NEW_PASSWORD = 'nine owls at noon'

let browser: BrowserHandle
let mail: Awaited<ReturnType<typeof startMailServer>>
let hub: Hub
let reused: ReusedPage
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, mail] = await Promise.all([startBrowser(), startMailServer()])
  hub = await startHub({ env: { HUB_SMTP_URL: mail.url, HUB_SMTP_FROM: 'hub@example.org' } })
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce' })
})
afterAll(async () => {
  await browser?.close()
  await hub?.stop()
  await mail?.stop()
})
beforeEach(async () => {
  page = await reused.next()
  portal = portalOf(page, hub)
})

const button = (name: string | RegExp) => page.getByRole('button', { name })
const field = (label: string) => page.getByLabel(new RegExp(`^${label}( \\*)?$`))
const inDialog = (label: string) => portal.dialog().getByLabel(new RegExp(`^${label}( \\*)?$`))
const says = (words: string | RegExp) => page.getByText(words).first().waitFor()
const openAs = async (credentials: Credentials, address: string) => {
  await enterAs(page, hub, credentials)
  await portal.open(address)
}
const addressOf = (username: string) => `${username}@example.org`
async function addUser(username: string): Promise<Credentials> {
  const credentials = { username, password: PASSWORD }
  await hub.api(createUser, { body: { ...credentials, email: addressOf(username), role: 'user' } })
  return credentials
}
/** The link in the newest mail to an address. The text is quoted-printable. */
async function linkTo(email: string): Promise<string> {
  const mails = () => mail.mails.filter(({ to }) => to.includes(email))
  await expect.poll(() => mails().length).toBeGreaterThan(0)
  const { pathname, hash } = new URL(/http\S+#\S+/.exec(mails().at(-1)!.text.replaceAll('=3D', '='))![0])
  return pathname + hash
}
const tokenWorks = (token: string) =>
  createClient(
    hub.url,
    token,
  )(listGateways).then(
    () => true,
    () => false,
  )

test('a token is made with the password, shown once, works, and is revoked', async () => {
  await openAs(await addUser('scripter'), '/profile')
  await button('Make a Token').click()
  await inDialog('Name').fill('nightly backup')
  await inDialog('Your password').fill('not this one')
  await button('Make Token').click()
  await says('The current password is wrong.')
  await inDialog('Your password').fill(PASSWORD)
  await button('Make Token').click()
  const token = await portal
    .dialog()
    .getByText(/^hgr_\w{36}$/)
    .innerText()
  expect(await tokenWorks(token)).toBe(true)
  await button('Done').click()
  await portal.row('nightly backup').getByText('Read, as user').waitFor()
  expect(await page.getByText('hgr_').count()).toBe(0)
  await button('Revoke nightly backup').click()
  await portal.dialog().getByRole('button', { name: 'Revoke' }).click()
  await says('Token "nightly backup" revoked.')
  expect(await tokenWorks(token)).toBe(false)
  await says('No tokens')
})

test('a forgotten password is set anew by the link of a mail, which works once', async () => {
  const { username } = await addUser('forgetful')
  const email = addressOf(username)
  await portal.open('/login')
  await page.getByText('Forgot it?').click()
  await page.getByRole('link', { name: 'Get a link by mail' }).click()
  await field('Username or email').fill(email)
  await button('Send the Link').click()
  await says('Look into your mailbox.')
  const link = await linkTo(email)
  await portal.open(link)
  await field('New password').fill('short')
  await button('Set Password').click()
  await says('Password must be at least 8 characters long')
  await field('New password').fill(NEW_PASSWORD)
  await button('Set Password').click()
  await says('Your new password is set.')
  await page.getByRole('link', { name: 'Sign in' }).click()
  await portal.signIn({ username, password: NEW_PASSWORD })
  await expect.poll(() => new URL(page.url()).pathname).toBe('/gateways')

  page = await reused.next()
  portal = portalOf(page, hub)
  await portal.open(link)
  await field('New password').fill(PASSWORD)
  await button('Set Password').click()
  await says('This link was used already, or is older than 30 minutes.')
})

test('an invitation goes by mail, and the address that refuses it is named', async () => {
  await openAs(hub.admin, '/users')
  await button('Invite').click()
  await inDialog('Send to').fill('rosa@example.org')
  await button('Create Invitation').click()
  await says('The link was sent to rosa@example.org.')
  await button('Done').click()
  mail.state.refuse = true
  await button('Invite').click()
  await inDialog('Send to').fill('emil@example.org')
  await button('Create Invitation').click()
  await says(/^No mail went to emil@example\.org: .*the mailbox is full/)
  mail.state.refuse = false

  page = await reused.next()
  portal = portalOf(page, hub)
  await portal.open(await linkTo('rosa@example.org'))
  await expect.poll(() => field('Invite code').inputValue()).toMatch(/^(?:\w{4}-){3}\w{4}$/)
})

test('a person is deactivated and activated again from the list', async () => {
  const leaver = await addUser('leaver')
  const elsewhere = hub.apiAs(leaver)
  await elsewhere(listGateways)
  await openAs(hub.admin, '/users')
  const choose = async (verb: string) => {
    await button('More actions for leaver').click()
    await page.getByRole('menuitem', { name: verb }).click()
    await portal.dialog().getByRole('button', { name: verb }).click()
  }
  await choose('Deactivate User')
  await says('User "leaver" deactivated.')
  await portal.row('@leaver').getByText('Inactive').waitFor()
  await expect(elsewhere(listGateways)).rejects.toMatchObject({ status: 401 })
  await expect(hub.apiAs(leaver)(listGateways)).rejects.toMatchObject({ body: { error: 'account_inactive' } })
  await choose('Activate User')
  await says('User "leaver" activated.')
  await hub.apiAs(leaver)(listGateways)
  expect((await hub.api(listUsers)).find(({ username }) => username === 'leaver')?.active).toBe(true)

  await button('More actions for admin').click()
  const last = page.getByRole('menuitem', { name: 'Deactivate User' })
  expect(await last.getAttribute('aria-disabled')).toBe('true')
})
