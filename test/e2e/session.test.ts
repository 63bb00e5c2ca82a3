import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { editHubSettings } from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { addPerson, changeUser, withDatabase } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'

const EXPIRED = 'Your session has expired. Please log in again.'

let browser: BrowserHandle
let hub: Hub
let reused: ReusedPage
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url])
})

afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

beforeEach(async () => {
  portal = portalOf(await reused.next(), hub)
})

const path = () => new URL(portal.page.url()).pathname
const token = () => portal.page.evaluate(() => localStorage.getItem('hubToken'))

describe('signing in', () => {
  test('a wrong password shows why, and stays on the page', async () => {
    await portal.open('/login')
    await portal.signIn({ ...hub.admin, password: 'not the password' })
    await portal.page.getByText('The username or the password is wrong.').waitFor()
    expect(path()).toBe('/login')
    expect(await token()).toBeNull()
  })

  test('leads to the gateways', async () => {
    await portal.open('/login')
    await portal.signIn(hub.admin)
    await portal.page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    expect(path()).toBe('/gateways')
  })

  test('leads to the requested address', async () => {
    await portal.open('/gateway-approvals')
    await portal.page.waitForURL('**/login')
    await portal.signIn(hub.admin)
    await portal.page.getByRole('heading', { name: 'Pending Gateway Registrations' }).waitFor()
    expect(path()).toBe('/gateway-approvals')
  })

  test('survives a reload, and /login then leads to the dashboard', async () => {
    await portal.open('/login')
    await portal.signIn(hub.admin)
    await portal.page.waitForURL('**/gateways')
    await portal.page.reload()
    await portal.page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    await portal.open('/login')
    await portal.page.getByRole('heading', { name: 'Dashboard' }).waitFor()
    expect(path()).toBe('/dashboard')
  })

  test.each([
    ['a page that is left', '/dashboard', 'Dashboard'],
    ['a public page that is left', '/beta', 'Beta Program'],
  ])('survives %s while the hub is asked who this is', async (_, at, heading) => {
    await portal.open('/login')
    await portal.signIn(hub.admin)
    await portal.page.waitForURL('**/gateways')
    await portal.page.route('**/api/v1/auth/validate', () => {})
    const asked = portal.page.waitForRequest('**/api/v1/auth/validate')
    await portal.open(at)
    await asked
    await portal.page.unroute('**/api/v1/auth/validate')
    await portal.page.reload()
    await portal.page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await portal.open('/gateways')
    await portal.page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    expect(path()).toBe('/gateways')
  })

  test.each(['/dashboard', '/beta'])('survives one question of %s that the hub does not answer', async (at) => {
    await portal.open('/login')
    await portal.signIn(hub.admin)
    await portal.page.waitForURL('**/gateways')
    const outcomes = ['failed', 'answered'] as const
    const asked: string[] = []
    await portal.page.route('**/api/v1/auth/validate', async (route) => {
      const outcome = outcomes[asked.length] ?? 'answered'
      asked.push(outcome)
      await (outcome === 'failed' ? route.abort() : route.continue())
    })
    await portal.open(at)
    await expect.poll(() => asked).toEqual(outcomes)
    await portal.open('/gateways')
    await portal.page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    expect(path()).toBe('/gateways')
  })

  test('ends where the hub answers no question at all', async () => {
    await portal.open('/login')
    await portal.signIn(hub.admin)
    await portal.page.waitForURL('**/gateways')
    await portal.page.route('**/api/v1/auth/validate', (route) => route.abort())
    await portal.open('/dashboard')
    await portal.page.waitForURL('**/login')
    expect(await token()).toBeNull()
  })

  test('Logout deletes the token, here and on the hub', async () => {
    await portal.open('/login')
    await portal.signIn(hub.admin)
    await portal.page.waitForURL('**/gateways')
    const former = await token()
    await portal.page.getByRole('button', { name: /^Account of/ }).click()
    await portal.page.getByRole('menuitem', { name: 'Logout' }).click()
    await portal.page.getByRole('link', { name: 'Register' }).waitFor()
    expect(path()).toBe('/')
    expect(await token()).toBeNull()
    const answer = await fetch(`${hub.url}/api/v1/auth/validate`, { headers: { authorization: `Bearer ${former}` } })
    expect(answer.status).toBe(401)
  })
})

describe('the QR label of a device', () => {
  test('opens the claim dialog with its token, also across a sign-in, and takes it out of the address', async () => {
    await portal.open('/gateways?token=DT-0123456789AB')
    await portal.page.waitForURL('**/login')
    await portal.signIn(hub.admin)
    const field = portal.dialog().getByLabel('Device Token')
    await field.waitFor()
    expect(await field.inputValue()).toBe('DT-0123456789AB')
    expect(new URL(portal.page.url()).search).toBe('')
    expect(path()).toBe('/gateways')
  })
})

describe('a refusal', () => {
  test('of a role that is too low is shown in place, and the person stays signed in', async () => {
    const walker = await addPerson(hub, { username: 'walker', role: 'user' })
    await portal.open('/login')
    await portal.signIn(walker)
    await portal.page.waitForURL('**/gateways')
    await portal.page.getByRole('link', { name: /^Approvals/ }).click()
    await portal.page.getByText('Managers and administrators see the waiting devices').waitFor()
    expect(path()).toBe('/gateway-approvals')
    await portal.page.reload()
    await portal.page.getByRole('heading', { name: 'Pending Gateway Registrations' }).waitFor()
    expect(await token()).not.toBeNull()
  })

  test('with role_required, for a role that changed a moment ago, does not sign out', async () => {
    const manager = await addPerson(hub, { username: 'keeper', role: 'manager' })
    await portal.open('/login')
    await portal.signIn(manager)
    await portal.page.getByRole('button', { name: 'Add Gateway' }).click()
    await portal.page.getByLabel(/^Only WireGuard/).check()
    await portal.page.getByLabel('Gateway Name').fill('Pump house')
    await changeUser(hub, manager.username, { role: 'user' })
    // The hub caches a session for one second.
    await sleep(1_100)
    const refused = portal.page.waitForResponse((answer) => answer.status() === 403)
    await portal.page.getByRole('button', { name: 'Add Gateway' }).click()
    expect(await (await refused).json()).toMatchObject({ error: 'role_required' })
    await portal.page.getByText('Your role does not allow this.').waitFor()
    expect(path()).toBe('/add-gateway')
    expect(await token()).not.toBeNull()
  })

  test('of a deactivated account signs out with the message', async () => {
    const leaver = await addPerson(hub, { username: 'leaver', role: 'manager' })
    await portal.open('/login')
    await portal.signIn(leaver)
    await portal.page.waitForURL('**/gateways')
    const refused = portal.page.waitForResponse((answer) => answer.status() === 403)
    await changeUser(hub, leaver.username, { active: 0 })
    expect(await (await refused).json()).toMatchObject({ error: 'account_inactive' })
    await portal.page.getByText(EXPIRED, { exact: true }).waitFor()
    expect(path()).toBe('/login')
    expect(await token()).toBeNull()
  })

  test('of a forged token signs out', async () => {
    await portal.open('/login')
    await portal.page.evaluate(() => localStorage.setItem('hubToken', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'))
    await portal.open('/gateways')
    await portal.page.getByLabel('Username').waitFor()
    expect(path()).toBe('/login')
    expect(await token()).toBeNull()
  })
})

describe('a session of ten minutes', () => {
  const TIMEOUT_S = 600
  const PART_MS = 400_000

  /** Lets time pass: in the browser by its clock, on the hub by the remaining time of its sessions. */
  async function letPass(): Promise<void> {
    await withDatabase(hub, (db) =>
      db
        .updateTable('sessions')
        .set((row) => ({ expires_at: row('expires_at', '-', PART_MS) }))
        .execute(),
    )
    await portal.page.clock.fastForward(PART_MS)
  }

  const setTimeoutOfSessions = (sessionTimeout: number) =>
    hub.apiAs(hub.admin)(editHubSettings, { body: { sessionTimeout } })

  /** Signs a keeper in and counts their page's requests: renewals, and gateway lists received. */
  async function signInWatched(): Promise<{ renewals: number; lists: number }> {
    await setTimeoutOfSessions(TIMEOUT_S)
    onTestFinished(async () => void (await setTimeoutOfSessions(3_600)))
    const keeper = await addPerson(hub, { username: `keeper-${crypto.randomUUID().slice(0, 8)}`, role: 'manager' })
    const seen = { renewals: 0, lists: 0 }
    portal.page.on('response', (answer) => {
      if (answer.url().endsWith('/auth/renew')) seen.renewals++
      if (answer.url().endsWith('/hub/gateways') && answer.ok()) seen.lists++
    })
    onTestFinished(() => portal.page.close())
    await portal.page.clock.install()
    await portal.open('/login')
    await portal.signIn(keeper)
    await portal.page.getByText('No gateways yet').waitFor()
    return seen
  }

  /** Waits until the page has polled once more and got the answer. */
  async function pollOnce(seen: { lists: number }): Promise<void> {
    const before = seen.lists
    await expect
      .poll(async () => {
        await portal.page.clock.fastForward(31_000)
        return seen.lists
      })
      .toBeGreaterThan(before)
  }

  test('continues for a person who moves the pointer or types, for longer than that', async () => {
    const seen = await signInWatched()
    for (const act of [
      () => portal.page.mouse.move(40, 300),
      () => portal.page.keyboard.press('Shift'),
      () => portal.page.mouse.move(80, 400),
    ]) {
      await letPass()
      await pollOnce(seen)
      const renewed = portal.page.waitForResponse((answer) => answer.url().endsWith('/auth/renew'))
      await act()
      const { accessToken } = (await (await renewed).json()) as { accessToken: string }
      await expect.poll(token).toBe(accessToken)
    }
    await portal.page.reload()
    await portal.page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    expect(path()).toBe('/gateways')
  })

  test('ends for a person who has left, however often their page polls', async () => {
    const seen = await signInWatched()
    await letPass()
    await pollOnce(seen)
    await letPass()
    await expect
      .poll(async () => {
        await portal.page.clock.fastForward(31_000)
        return path()
      })
      .toBe('/login')
    await portal.page.getByText(EXPIRED, { exact: true }).waitFor()
    expect(seen.renewals).toBe(0)
    expect(await token()).toBeNull()
  })
})
