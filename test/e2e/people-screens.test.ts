import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import {
  createUser,
  listSessions,
  listUsers,
  readHubSettings,
  editHubSettings,
  editUser,
  updateUser,
  type HubUser,
  type Role,
} from '@hedgerow/contract'
import { authenticatorCode, nextAuthenticatorCode } from '../harness/authenticator.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { startHub, type Credentials, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'

const EXPIRED = 'Your session has expired. Please log in again.'
const PASSWORD = 'four foxes in fog'

let browser: BrowserHandle
let hub: Hub
let reused: ReusedPage
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce' })
})

afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

beforeEach(async () => {
  page = await reused.next()
  portal = portalOf(page, hub)
})

const path = () => new URL(page.url()).pathname
const button = (name: string | RegExp) => page.getByRole('button', { name })
const inDialog = (name: string) => portal.dialog().getByRole('button', { name, exact: true })
/** An asterisk follows the label of a required field. */
const field = (label: string) => page.getByLabel(new RegExp(`^${label}( \\*)?$`))
const says = (words: string | RegExp) => page.getByText(words).first().waitFor()
const usersOf = (api: Hub['api']) => api(listUsers, { query: {} })

async function addUser(username: string, role: Role): Promise<{ credentials: Credentials; user: HubUser }> {
  const body = { username, password: PASSWORD, email: `${username}@example.org`, role }
  return { credentials: { username, password: PASSWORD }, user: await hub.api(createUser, { body }) }
}

async function openAs(credentials: Credentials, address: string, at = hub): Promise<void> {
  await enterAs(page, at, credentials)
  await portalOf(page, at).open(address)
  await page.locator('main h1').waitFor()
  await page.waitForURL(`**${address}`)
}

async function openVerb(username: string, verb: string): Promise<void> {
  await button(`More actions for ${username}`).click()
  await page.getByRole('menuitem', { name: verb }).click()
}

/** Changes the role from another client. */
const changeRole = ({ id, username, email, firstName, lastName, active }: HubUser, role: Role) =>
  hub.api(updateUser, { params: { id }, body: { username, email, firstName, lastName, active, role } })

/** Switches two-factor on through the profile's dialog; returns its secret and recovery codes. */
async function setUpTwoFactor(password: string): Promise<{ secret: string; recoveryCodes: string[] }> {
  // The panel below has that name too.
  const confirmation = page.locator('input').and(page.getByLabel('Password', { exact: true }))
  await confirmation.fill('not my password')
  await button('Continue').click()
  await says('The current password is wrong.')
  await confirmation.fill(password)
  await button('Continue').click()
  await page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor()
  const secret = (await page.getByText(/^[A-Z2-7]{4}( [A-Z2-7]{1,4})+$/).innerText()).replaceAll(' ', '')
  await field('Code').fill(authenticatorCode(secret))
  await button('Switch Two-Factor On').click()
  const list = page.getByRole('list', { name: 'Recovery codes' })
  await list.waitFor()
  const recoveryCodes = await list.getByRole('listitem').allInnerTexts()
  await button('I have saved them').click()
  return { secret, recoveryCodes }
}

describe('users', () => {
  test('one is added, signs in, is edited and deleted, and the list shows each change', async () => {
    await openAs(hub.admin, '/users')
    await button('Add User').click()
    await field('Username').fill('otto')
    await inDialog('Add User').click()
    await says('Enter an email address such as name@example.org')
    expect(await field('Username').inputValue()).toBe('otto')
    await field('Email').fill('otto@example.org')
    await field('First Name').fill('Otto')
    await field('Password').fill(PASSWORD)
    await field('Role').selectOption('manager')
    await inDialog('Add User').click()
    await says('User "otto" added.')
    await portal.row('@otto').getByText('manager').waitFor()

    const other = await browser.person()
    const theirs = portalOf(await other.newPage(), hub)
    await theirs.open('/login')
    await theirs.signIn({ username: 'otto', password: PASSWORD })
    await theirs.page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    await other.close()

    await openVerb('otto', 'Edit User')
    await field('Last Name').fill('Berg')
    await page.getByRole('switch', { name: 'Active' }).click()
    await says('Saving signs otto out everywhere')
    await inDialog('Save User').click()
    await portal.row('Otto Berg').getByText('Inactive').waitFor()

    await openVerb('otto', 'Delete User')
    await inDialog('Delete User').click()
    await says('User "otto" deleted.')
    await portal.row('@otto').waitFor({ state: 'detached' })
  })

  test('a taken name is reported beside its field, and no input is lost', async () => {
    await openAs(hub.admin, '/users')
    await button('Add User').click()
    await field('Username').fill('ADMIN')
    await field('Email').fill('second@example.org')
    await field('Password').fill(PASSWORD)
    await inDialog('Add User').click()
    await says('This username is taken, or looks like one that is taken.')
    expect(await field('Username').evaluate((node) => node === document.activeElement)).toBe(true)
    expect(await field('Email').inputValue()).toBe('second@example.org')
  })

  test('the last admin can be neither demoted nor deleted, and the screen says why', async () => {
    await openAs(hub.admin, '/users')
    await portal.row('@admin').getByText('you', { exact: true }).waitFor()
    await button('More actions for admin').click()
    await says('The hub needs an active admin, and this is the last one.')
    expect(await page.getByRole('menuitem', { name: 'Delete User' }).getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('menuitem', { name: 'Edit User' }).click()
    await says('This is the last active admin.')
    expect(await field('Role').isDisabled()).toBe(true)
  })

  test('of two admins who are demoted at once, the hub keeps one and the dialog says so', async () => {
    const small = await startHub()
    onTestFinished(async () => void (await small.stop()))
    portal = portalOf(page, small)
    const second = { username: 'second-admin', password: PASSWORD }
    await small.api(createUser, { body: { ...second, email: 'second@example.org', role: 'admin' } })
    await openAs(second, '/users', small)
    await openVerb('second-admin', 'Edit User')
    const { id } = (await usersOf(small.api)).find((user) => user.username === 'admin')!
    await small.apiAs(second)(editUser, { params: { id }, body: { role: 'user' } })
    await field('Role').selectOption('user')
    await inDialog('Save User').click()
    await portal.dialog().getByText('The hub needs an active admin, and this is the last one.').waitFor()
    const left = await usersOf(small.apiAs(second))
    expect(left.filter(({ role }) => role === 'admin').map((user) => user.username)).toEqual(['second-admin'])
  })
})

describe('a session that ends', () => {
  test('in the middle of a form leads to the sign-in, and from there back to the same screen', async () => {
    const { credentials, user } = await addUser('shepherd', 'admin')
    await openAs(credentials, '/settings?tab=network')
    await field('VPN network').fill('10.77.0.0/16')
    await changeRole(user, 'manager')
    await says(EXPIRED)
    expect(path()).toBe('/login')
    await portal.signIn(credentials)
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    expect(new URL(page.url()).search).toBe('?tab=network')
    await says('Everybody sees these settings.')
    expect(await button('Save Settings').count()).toBe(0)
  })

  test('because the role changed shows the new role’s screens after the next sign-in', async () => {
    const { credentials, user } = await addUser('walker', 'manager')
    await openAs(credentials, '/users')
    await portal.row('@walker').waitFor()
    await changeRole(user, 'user')
    await says(EXPIRED)
    await portal.signIn(credentials)
    await says('Managers and administrators see the users; administrators change them.')
    expect(await portal.row('@walker').count()).toBe(0)
  })
})

describe('registration', () => {
  test('with an invitation: the code is shown once, admits one person, and gives its role', async () => {
    await openAs(hub.admin, '/users')
    await button('Invite').click()
    await field('Label').fill('For Rosa')
    await field('Role').selectOption('manager')
    await inDialog('Create Invitation').click()
    const link = await portal
      .dialog()
      .getByText(/\/register#invite=/)
      .innerText()
    await inDialog('Done').click()
    await portal.row('For Rosa').getByText('0 of 1').waitFor()

    const visitor = await browser.person()
    const rosa = portalOf(await visitor.newPage(), hub)
    const rosas = (label: string) => rosa.page.getByLabel(new RegExp(`^${label}( \\*)?$`))
    await rosa.page.goto(link)
    await rosas('First name').fill('Rosa')
    await rosas('Last name').fill('Lind')
    await rosas('Username').fill('rosa')
    await rosas('Email').fill('rosa@farm.example')
    await rosas('Password').fill(PASSWORD)
    await rosas('Confirm password').fill('four foxes in dog')
    const submit = rosa.page.getByRole('button', { name: 'Create Account' })
    await submit.click()
    await rosa.page.getByText('Passwords do not match').waitFor()
    await rosas('Password').fill('rosalind')
    await rosas('Confirm password').fill('rosalind')
    await submit.click()
    await rosa.page.getByText('This password holds your own name').waitFor()
    await rosas('Password').fill(PASSWORD)
    await rosas('Confirm password').fill(PASSWORD)
    await submit.click()
    await rosa.page.getByText('Registration successful! You can now log in.').waitFor()
    await rosa.page.waitForURL('**/login')
    await rosa.signIn({ username: 'rosa', password: PASSWORD })
    await rosa.page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    expect((await usersOf(hub.api)).find(({ username }) => username === 'rosa')?.role).toBe('manager')

    await rosa.page.evaluate(() => localStorage.clear())
    await rosa.page.goto('about:blank')
    await rosa.page.goto(link)
    for (const [label, value] of [
      ['First name', 'Otto'],
      ['Last name', 'Berg'],
      ['Username', 'otto2'],
      ['Email', 'otto@farm.example'],
      ['Password', PASSWORD],
      ['Confirm password', PASSWORD],
    ] as const)
      await rosas(label).fill(value)
    await submit.click()
    await rosa.page.getByText('This invite code is invalid, used up or expired.').waitFor()
    expect(await rosas('Username').inputValue()).toBe('otto2')
    await visitor.close()
  })

  test('needs no code where none is required, and says when it is closed', async () => {
    await hub.api(editHubSettings, { body: { inviteCodeRequired: false } })
    await portal.open('/login')
    await page.getByRole('link', { name: 'Create an account' }).click()
    await button('Create Account').waitFor()
    expect(await field('Invite code').count()).toBe(0)
    await hub.api(editHubSettings, { body: { openRegistration: false } })
    await page.reload()
    await says('Registration is closed. Ask an administrator for an account.')
    expect(await button('Create Account').count()).toBe(0)
    await hub.api(editHubSettings, { body: { openRegistration: true, inviteCodeRequired: true } })
  })
})

describe('two-factor', () => {
  test('is set up with a real code, required at sign-in, and switched off again', async () => {
    const { credentials: careful } = await addUser('careful', 'user')
    await openAs(careful, '/profile')
    await button('Set Up Two-Factor').click()
    const { secret, recoveryCodes } = await setUpTwoFactor(careful.password)
    expect(new Set(recoveryCodes).size).toBe(10)
    await says('10 of 10 recovery codes left')

    await button(/^Account of/).click()
    await page.getByRole('menuitem', { name: 'Logout' }).click()
    // The address changes before the landing page appears; a page opened in between would be replaced.
    await page.getByRole('link', { name: 'Register' }).waitFor()
    await portal.open('/login')
    await portal.signIn(careful)
    await field('Code').fill('000000')
    await button('Sign In').click()
    await says('This code is wrong, or was already used.')
    await field('Code').fill(nextAuthenticatorCode(secret))
    await button('Sign In').click()
    await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()

    await portal.open('/profile')
    await button('Switch Off').click()
    await portal.dialog().getByLabel('Password', { exact: true }).fill(careful.password)
    await portal.dialog().getByLabel('Code').fill(recoveryCodes[0]!)
    await inDialog('Switch Off').click()
    await says('Two-factor sign-in is off.')
    await button('Set Up Two-Factor').waitFor()
  })

  test('when required for all, comes before every other screen, also when signed in, at the same address', async () => {
    const strict = await startHub()
    onTestFinished(async () => void (await strict.stop()))
    portal = portalOf(page, strict)
    await openAs(strict.admin, '/settings?tab=security', strict)
    await page.getByRole('switch', { name: 'Two-factor authentication' }).click()
    await says('has to set it up as soon as this is saved')
    await button('Save Settings').click()
    await page.getByRole('heading', { name: 'Set up two-factor' }).waitFor()
    await page.reload()
    await setUpTwoFactor(strict.admin.password)
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    expect(new URL(page.url()).search).toBe('?tab=security')
  })
})

describe('the profile', () => {
  test('saves names and address, and shows them again after a reload', async () => {
    const { credentials } = await addUser('renamed', 'user')
    await openAs(credentials, '/profile')
    await field('First name').fill('Ada')
    await field('Email').fill('not an address')
    await button('Save Profile').click()
    await says('Enter an email address such as name@example.org')
    await field('Email').fill('ada@farm.example')
    await button('Save Profile').click()
    await says('A new address takes your password')
    await field('Your password').fill(PASSWORD)
    await button('Save Profile').click()
    await says('Profile saved.')
    await page.reload()
    await field('Email').waitFor()
    expect([await field('First name').inputValue(), await field('Email').inputValue()]).toEqual([
      'Ada',
      'ada@farm.example',
    ])
  })

  test('a changed password keeps this session, ends the others, and is valid at once', async () => {
    const { credentials: changer } = await addUser('changer', 'user')
    const elsewhere = hub.apiAs(changer)
    await elsewhere(listSessions)
    await openAs(changer, '/profile')
    await field('Current password').fill('not this one')
    await field('New password').fill('nine owls at noon')
    await field('Confirm new password').fill('nine owls at noon')
    await button('Change Password').click()
    await says('The current password is wrong.')
    await field('Current password').fill(changer.password)
    await button('Change Password').click()
    await says('Password changed. Your other sessions have ended.')
    await expect(elsewhere(listSessions)).rejects.toMatchObject({ status: 401 })
    await page.reload()
    await page.getByRole('heading', { name: 'Profile' }).waitFor()
    expect(path()).toBe('/profile')
    const sessions = await hub.apiAs({ username: 'changer', password: 'nine owls at noon' })(listSessions)
    expect(sessions).toHaveLength(2)
  })

  test('ends another session, which is signed out at once', async () => {
    const { credentials: two } = await addUser('two-places', 'user')
    const other = await browser.person({ userAgent: 'Mozilla/5.0 (Android 16; Mobile; rv:150.0) Firefox/150.0' })
    const phone = portalOf(await other.newPage(), hub)
    await phone.open('/login')
    await phone.signIn(two)
    await phone.page.waitForURL('**/gateways')
    await openAs(two, '/profile')
    await portal.row('Firefox on Android').getByRole('button', { name: /^End/ }).click()
    await says('Session ended.')
    await portal.row('Firefox on Android').waitFor({ state: 'detached' })
    await phone.page.getByText(EXPIRED).waitFor()
    expect(path()).toBe('/profile')
    await other.close()
  })
})

describe('settings', () => {
  test('are saved with the exact toast, and persist after a reload', async () => {
    await openAs(hub.admin, '/settings')
    await field('Hub name').fill('Old mill')
    await field('Maximum number of gateways').fill('')
    await page.getByRole('tab', { name: 'Network' }).click()
    await button('Save Settings').click()
    await says('Enter a whole number from 1 to 100,000')
    expect(await page.getByRole('tab', { name: 'General' }).getAttribute('aria-selected')).toBe('true')
    await field('Maximum number of gateways').fill('250')
    await button('Save Settings').click()
    await page.getByText('Settings saved successfully', { exact: true }).waitFor()
    expect(await hub.api(readHubSettings)).toMatchObject({ hubName: 'Old mill', maxGateways: 250 })
    await page.getByRole('banner').getByText('Old mill').waitFor()
    await page.reload()
    expect(await field('Maximum number of gateways').inputValue()).toBe('250')
  })

  test('that the hub refuses show the reason, in a toast and beside the field', async () => {
    await openAs(hub.admin, '/settings?tab=network')
    await field('VPN network').fill('10.100.0.0/33')
    await button('Save Settings').click()
    await page.getByText('Failed to save settings', { exact: true }).waitFor()
    await says('Enter an IPv4 network of /8 to /30')
    expect(await field('VPN network').inputValue()).toBe('10.100.0.0/33')
  })

  test('have their Save button in view wherever the page is scrolled', async () => {
    await page.setViewportSize({ width: 390, height: 700 })
    await openAs(hub.admin, '/settings')
    const box = async () => (await button('Save Settings').boundingBox())!
    for (const top of [0, 400]) {
      await page.evaluate((y) => window.scrollTo(0, y), top)
      const { y, height } = await box()
      expect(y).toBeGreaterThan(0)
      expect(y + height).toBeLessThanOrEqual(700)
    }
  })

  test('that are unsaved cause a question before the page is left', async () => {
    await openAs(hub.admin, '/settings')
    await field('Hub description').fill('By the river')
    await page.getByRole('tab', { name: 'Audit' }).click()
    await page.getByRole('tab', { name: 'General' }).click()
    expect(await field('Hub description').inputValue()).toBe('By the river')
    await portal.navigation('Dashboard').click()
    await inDialog('Stay').click()
    expect(await field('Hub description').inputValue()).toBe('By the river')
    await portal.navigation('Dashboard').click()
    await inDialog('Leave').click()
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
  })

  test('a certificate is renewed', async () => {
    await openAs(hub.admin, '/settings?tab=certificates')
    await portal.row('Hub TLS certificate').getByText('Valid').waitFor()
    await button('Renew Hub TLS certificate').click()
    const shownFingerprint = () =>
      portal
        .dialog()
        .getByText(/^([0-9A-F]{2}:){31}/)
        .innerText()
    const before = await shownFingerprint()
    await inDialog('Renew').click()
    await says('Hub TLS certificate renewed.')
    await portal.dialog().waitFor({ state: 'detached' })
    await button('Renew Hub TLS certificate').click()
    expect(await shownFingerprint()).not.toBe(before)
  })

  test('the audit log is filtered, and downloaded with the same filter', async () => {
    await addUser('audited', 'user')
    await openAs(hub.admin, '/settings?tab=audit')
    await page.getByLabel('Filter by action').selectOption('user')
    await page.getByLabel('Search the audit log').fill('user.create')
    await portal.row('admin added the user audited').waitFor()
    expect(await page.getByTitle('user.create').count()).toBeGreaterThan(0)
    await portal.row('signed in').first().waitFor({ state: 'detached' })
    const download = page.waitForEvent('download')
    await button('Download CSV').click()
    const file = await download
    expect(file.suggestedFilename()).toBe('audit.csv')
    const [head, ...lines] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
    expect(head).toBe('"at","actor","action","target","sourceIp","result","reason"')
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.every((line) => line.includes('"user.create"'))).toBe(true)
    await page.getByRole('link', { name: 'audited' }).click()
    await portal.row('@audited').waitFor()
  })
})
