import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import {
  addGateway,
  approveRegistration,
  claimGateway,
  endSession,
  listGateways,
  listPendingRegistrations,
  listSessions,
} from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { addPerson } from '../harness/hub-database.ts'
import { startHub, type Credentials, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { waitFor } from '../harness/wait-for.ts'

const DIST = join(import.meta.dirname, '..', '..', 'apps', 'portal', 'dist')
const EXPIRED = 'Your session has expired. Please log in again.'

let browser: BrowserHandle
let hub: Hub
let shepherd: Credentials
let reused: ReusedPage
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce', acceptDownloads: true })
  shepherd = await addPerson(hub, { username: 'shepherd', role: 'manager' })
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
const inDialog = (name: string | RegExp) => portal.dialog().getByRole('button', { name, exact: true })

async function openAs(credentials: Credentials, address = '/gateways'): Promise<void> {
  await portal.open(address)
  await page.waitForURL('**/login')
  await portal.signIn(credentials)
  await page.waitForURL((url) => url.pathname !== '/login')
  await page.locator('main h1').waitFor()
}

/** Ends every session of a person except its own, as from their profile on another device. */
async function endSessionsOf(credentials: Credentials): Promise<void> {
  const api = hub.apiAs(credentials)
  for (const { id, current } of await api(listSessions)) if (!current) await api(endSession, { params: { id } })
}

async function enrolled(name: string): Promise<TestGateway> {
  const gateway = await startGateway(hub, { name })
  onTestFinished(() => gateway.stop())
  const { registrationId } = await waitFor(
    async () => (await hub.api(listPendingRegistrations)).find(({ deviceName }) => deviceName === name),
    { for: `${name} to ask` },
  )
  await hub.api(approveRegistration, { params: { registrationId } })
  await waitFor(async () => (await hub.api(listGateways)).some((one) => one.name === name && one.status === 'online'), {
    for: `${name} to be online`,
  })
  return gateway
}

describe('input when a session ends', () => {
  test('in a form is restored after the next sign-in, and can be sent', async () => {
    await openAs(shepherd, '/add-gateway')
    await page.getByLabel(/^Only WireGuard/).check()
    await page.getByLabel('Gateway Name').fill('Rose garden')
    await page.getByText(/^Tags, description/).click()
    await page.getByLabel('Description').fill('Two lines\nof text')
    // The page notices by its stream of events.
    await endSessionsOf(shepherd)
    await page.getByText(EXPIRED, { exact: true }).waitFor()
    expect(path()).toBe('/login')
    await portal.signIn(shepherd)
    await page.getByLabel('Gateway Name').waitFor()
    await expect.poll(() => page.getByLabel('Gateway Name').inputValue()).toBe('Rose garden')
    expect(await page.getByLabel('Description').inputValue()).toBe('Two lines\nof text')
    await page.getByRole('button', { name: 'Add Gateway' }).click()
    await page.getByText('[Interface]').waitFor()
  })

  test('on a page is restored, still unsaved', async () => {
    await openAs(hub.admin, '/settings')
    await page.getByLabel('Hub name').fill('Old mill')
    await endSessionsOf(hub.admin)
    await page.getByRole('button', { name: 'Save Settings' }).click()
    await page.getByText(EXPIRED, { exact: true }).waitFor()
    await portal.signIn(hub.admin)
    await expect.poll(() => page.getByLabel('Hub name').inputValue()).toBe('Old mill')
    await page.getByText('Some changes are not saved.').waitFor()
  })

  test('is not shown to anybody else', async () => {
    await openAs(shepherd, '/add-gateway')
    await page.getByLabel('Gateway Name').fill('Not for others')
    await endSessionsOf(shepherd)
    await page.getByText(EXPIRED, { exact: true }).waitFor()
    await portal.signIn(hub.admin)
    expect(await page.getByLabel('Gateway Name').inputValue()).toBe('')
  })
})

describe('what is typed while Save is under way', () => {
  /** Holds the answers to changes back until the returned function lets them go. */
  async function holdAnswers(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/api/v1/**', async (route) => {
      if (route.request().method() === 'GET') return route.fallback()
      const response = await route.fetch()
      await promise
      await route.fulfill({ response })
    })
    return resolve
  }

  const field = (label: string) => page.getByLabel(new RegExp(`^${label}( \\*)?$`))

  /** `during` is typed while Save is under way; the list of addresses takes what was typed before. */
  test.each([
    {
      address: '/settings',
      save: 'Save Settings',
      saved: 'Settings saved successfully',
      before: { 'Hub description': 'By the river', 'Maximum number of gateways': '300' },
      during: { 'Maximum number of gateways': '400' },
    },
    {
      address: '/auto-approval-settings',
      save: 'Save Settings',
      saved: 'Settings saved successfully',
      before: { 'Notification email': 'first@farm.example', 'Network range': '198.51.100.0/24' },
      during: { 'Notification email': 'second@farm.example', 'Network range': '203.0.113.0/24' },
    },
    {
      address: '/profile',
      save: 'Save Profile',
      saved: 'Profile saved.',
      before: { Email: 'ada@farm.example', 'First name': 'Ada', 'Last name': 'Lind' },
      // For the new address.
      proof: ['Your password'],
      during: { 'Last name': 'Love' },
    },
  ])(
    'on $address stays, and the rest is as it was saved',
    async ({ address, save, saved, before, proof = [], during }) => {
      await openAs(hub.admin, address)
      for (const [label, text] of Object.entries(before)) await field(label).fill(text)
      for (const label of proof) await field(label).fill(hub.admin.password)
      const answer = await holdAnswers()
      await page.getByRole('button', { name: save }).click()
      for (const [label, text] of Object.entries(during)) await field(label).fill(text)
      answer()
      await page.getByText(saved, { exact: true }).waitFor()
      await expect.poll(() => page.getByRole('button', { name: save }).isEnabled()).toBe(true)
      for (const [label, text] of Object.entries({ ...before, ...during }))
        expect(await field(label).inputValue()).toBe(text)
      const next = page.waitForRequest((request) => request.postData() !== null)
      await page.getByRole('button', { name: save }).click()
      expect((await next).postData()).toContain(Object.values(during)[0])
    },
  )

  test('in a dialog keeps it open, and is saved next', async () => {
    await hub.api(addGateway, { body: { name: 'Slow lane' } })
    await openAs(hub.admin)
    await page.getByRole('button', { name: 'More actions for Slow lane' }).click()
    await page.getByRole('menuitem', { name: 'Edit Gateway' }).click()
    await portal.dialog().getByLabel('Location').fill('North')
    const answer = await holdAnswers()
    await inDialog('Save Gateway').click()
    await portal.dialog().getByLabel('Location').fill('North-east')
    answer()
    await page.getByText('Gateway "Slow lane" saved.').waitFor()
    await inDialog('Save Gateway').click()
    await portal.dialog().waitFor({ state: 'detached' })
    expect((await hub.api(listGateways)).find(({ name }) => name === 'Slow lane')?.location).toBe('North-east')
  })
})

describe('claiming', () => {
  test('with the camera: the device’s own label is read, and the device is claimed', async () => {
    const gateway = await enrolled('Bee house')
    await page.goto(gateway.pageUrl)
    const label = await page.getByRole('img', { name: /^QR code/ }).screenshot()
    // Only the camera is simulated: it shows that label.
    onTestFinished(() => page.close())
    await page.addInitScript(
      (picture) => {
        navigator.mediaDevices.getUserMedia = async () => {
          const image = new Image()
          image.src = picture
          await image.decode()
          const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 })
          const film = () => {
            const context = canvas.getContext('2d')!
            context.fillStyle = '#8a8f8c'
            context.fillRect(0, 0, 640, 480)
            context.drawImage(image, 180, 80, 300, 300)
            requestAnimationFrame(film)
          }
          film()
          return canvas.captureStream(10)
        }
      },
      `data:image/png;base64,${label.toString('base64')}`,
    )
    await openAs(shepherd)
    await page.getByRole('button', { name: 'Claim Gateway' }).click()
    await portal.dialog().getByRole('button', { name: 'Scan the label' }).click()
    const field = portal.dialog().getByLabel('Device Token')
    await expect.poll(() => field.inputValue()).toBe(gateway.state().deviceToken)
    await page.getByLabel('Camera picture').waitFor({ state: 'detached' })
    await inDialog('Claim').click()
    await portal.dialog().waitFor({ state: 'detached' })
    const owned = (await hub.api(listGateways)).find(({ name }) => name === 'Bee house')
    expect(owned?.owner).toBe('shepherd')
  })

  test('a blank token can’t be sent, and a claimed one is refused in the catalogue’s words', async () => {
    const { deviceToken } = await hub.api(addGateway, { body: { name: 'Taken' } })
    await hub.api(claimGateway, { body: { deviceToken: deviceToken! } })
    await openAs(shepherd)
    await page.getByRole('button', { name: 'Claim Gateway' }).click()
    await portal.dialog().getByLabel('Device Token').fill('   ')
    expect(await inDialog('Claim').isDisabled()).toBe(true)
    await portal.dialog().getByLabel('Device Token').fill(deviceToken!.toLowerCase())
    await inDialog('Claim').click()
    await portal
      .dialog()
      .getByText(/^Failed to claim gateway: /)
      .waitFor()
    expect(await portal.dialog().getByLabel('Device Token').inputValue()).toBe(deviceToken!.toLowerCase())
  })
})

describe('the VPN configuration', () => {
  test('of a plain WireGuard device is shown with its QR code, copied and downloaded, the same each way', async () => {
    await hub.api(addGateway, { body: { name: 'Spring house' } })
    await reused.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: hub.url })
    await openAs(shepherd)
    await page.getByRole('button', { name: 'More actions for Spring house' }).click()
    await page.getByRole('menuitem', { name: 'VPN Config' }).click()
    const text = await portal.dialog().locator('pre').innerText()
    expect(text).toMatch(/^\[Interface\]\nPrivateKey = \S{43}=\nAddress = 10\.100\.\d+\.\d+\/24\nListenPort = 51820\n/)
    await portal.dialog().getByRole('img', { name: 'QR code of the configuration of Spring house' }).waitFor()
    await inDialog('Copy').click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(text.trim())
    const download = page.waitForEvent('download')
    await inDialog('Download').click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/\.conf$/)
    expect((await readFile(await file.path(), 'utf8')).trim()).toBe(text.trim())
  })

  test('of a gateway that enrolled itself shows no secret and no QR code', async () => {
    await enrolled('Dove cote')
    await openAs(shepherd)
    await page.getByRole('button', { name: 'More actions for Dove cote' }).click()
    await page.getByRole('menuitem', { name: 'VPN Config' }).click()
    const text = await portal.dialog().locator('pre').innerText()
    expect(text.match(/= <kept on the gateway>$/gm)).toHaveLength(2)
    expect(
      await portal
        .dialog()
        .getByRole('img', { name: /^QR code/ })
        .count(),
    ).toBe(0)
  })
})

describe('the dashboard', () => {
  test('keeps its values when a refresh fails, writes to the console only, and is right after the next', async () => {
    const written: string[] = []
    page.on('console', (message) => written.push(message.text()))
    onTestFinished(() => page.close())
    await page.clock.install()
    await openAs(hub.admin, '/dashboard')
    const total = page.getByLabel('Hub statistics')
    await expect.poll(() => total.textContent()).toMatch(/Total Gateways\d/)
    const before = await total.textContent()
    await page.route('**/api/v1/hub/stats', (route) => route.abort())
    await page.clock.fastForward(31_000)
    await expect.poll(() => written.some((line) => line.startsWith('Failed to fetch dashboard data:'))).toBe(true)
    expect(await total.textContent()).toBe(before)
    await page.unroute('**/api/v1/hub/stats')
    await hub.api(addGateway, { body: { name: 'Thirty seconds later' } })
    // In steps, because one leap would exceed the time limit of a pending request.
    const secondLater = async () => {
      await page.clock.fastForward(1_000)
      return total.textContent()
    }
    await expect.poll(secondLater, { interval: 500 }).not.toBe(before)
  })

  test('leaves the loading state and shows no failure when its first fetch fails; the next one mends it', async () => {
    onTestFinished(() => page.close())
    await page.clock.install()
    const written: string[] = []
    page.on('console', (message) => written.push(message.text()))
    await page.route(/\/api\/v1\/(hub|admin)\//, (route) => route.abort())
    await openAs(hub.admin, '/dashboard')
    const total = page.getByLabel('Hub statistics')
    await expect.poll(() => total.textContent()).toBe('Total Gateways0Active Gateways0Total Users0Threats Today0')
    await page.getByRole('region', { name: 'Recent Activity' }).getByText('No recent activity').waitFor()
    await page.locator('canvas').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(written.some((line) => line.startsWith('Failed to fetch dashboard data:'))).toBe(true)
    await page.unroute(/\/api\/v1\/(hub|admin)\//)
    await page.clock.fastForward(31_000)
    await expect.poll(() => total.textContent()).toMatch(/Total Users[1-9]/)
  })

  test('lists all that came as rows, and once what repeats within a minute', async () => {
    const at = Date.now()
    const entries = Array.from({ length: 12 }, (_, index) => ({
      id: String(index),
      message: index < 10 ? `Gateway ${index} waits for approval` : 'The same again',
      timestamp: new Date(at - index * 1_000).toISOString(),
      type: 'info',
      gatewayId: null,
      kind: 'registration.pending',
      detection: null,
    }))
    onTestFinished(() => page.unroute('**/api/v1/hub/activity/recent*'))
    await page.route('**/api/v1/hub/activity/recent*', (route) => route.fulfill({ json: entries }))
    await openAs(hub.admin, '/dashboard')
    const rows = page.getByRole('region', { name: 'Recent Activity' }).getByRole('listitem')
    await expect.poll(() => rows.count()).toBe(11)
    const shown = await page.evaluate((ms) => new Date(ms).toLocaleString(), at)
    expect(await rows.first().textContent()).toBe(`Gateway 0 waits for approval${shown}info`)
    expect(await rows.last().textContent()).toContain('2 times within a minute')
  })
})

describe('the shell', () => {
  test('the chosen theme persists after a reload, and the system theme follows the system', async () => {
    await openAs(hub.admin)
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    const choose = async (theme: string) => {
      await page.getByRole('button', { name: /^Account of/ }).click()
      await page.getByRole('menuitemradio', { name: theme }).click()
    }
    await choose('Dark theme')
    await expect.poll(scheme).toBe('dark')
    await page.reload()
    await page.locator('main h1').waitFor()
    expect(await scheme()).toBe('dark')
    await choose('System theme')
    await expect.poll(scheme).toBe('light')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(scheme).toBe('dark')
  })

  test('Back closes a dialog and leaves the screen unchanged', async () => {
    await openAs(hub.admin, '/users')
    await portal.navigation('Gateways').click()
    await page.getByRole('button', { name: 'Claim Gateway' }).click()
    await portal.dialog().getByLabel('Device Token').waitFor()
    await page.goBack()
    await portal.dialog().waitFor({ state: 'detached' })
    await page.waitForURL('**/gateways')
    await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'User Management' }).waitFor()
    await page.goForward()
    await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    expect(path()).toBe('/gateways')
  })

  test('a screen whose code cannot load while the hub is away loads by itself when the hub is back', async () => {
    await openAs(hub.admin)
    await page.route(`${hub.url}/**`, (route) => route.abort())
    await portal.navigation('Users').click()
    await page.getByRole('heading', { name: 'This page did not load' }).waitFor()
    expect(await portal.navigation('Gateways').isVisible()).toBe(true)
    await page.unroute(`${hub.url}/**`)
    await page.getByRole('heading', { name: 'User Management' }).waitFor()
    await page.getByText('The hub was updated or restarted, so this page was loaded again.').waitFor()
    expect(path()).toBe('/users')
  })

  test('a screen that was loaded again less than a minute ago waits, and then loads by itself', async () => {
    await openAs(hub.admin)
    await page.evaluate(() => sessionStorage.setItem('hubReloadedAt', String(Date.now() - 56_000)))
    await page.route(`${hub.url}/**`, (route) => route.abort())
    await portal.navigation('Users').click()
    await page.getByRole('heading', { name: 'This page did not load' }).waitFor()
    await page.unroute(`${hub.url}/**`)
    await page.getByRole('heading', { name: 'User Management' }).waitFor()
    expect(path()).toBe('/users')
  })

  test('an open page reloads itself when the hub has a new portal, and says so', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hedgerow-portal-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    await cp(DIST, dir, { recursive: true })
    const updated = await startHub({ env: { HUB_WEB_DIR: dir } })
    onTestFinished(async () => void (await updated.stop()))
    portal = portalOf(page, updated)
    await openAs(updated.admin)
    await renameAssets(dir)
    await portal.navigation('Users').click()
    await page.getByText('The hub was updated or restarted, so this page was loaded again.').waitFor()
    await page.locator('main h1').waitFor()
    await portal.navigation('Users').click()
    await page.getByRole('heading', { name: 'User Management' }).waitFor()
    expect(path()).toBe('/users')
  })
})

/**
 * Simulates another build of a served folder: every script gets another name. The compressed copies are of the old
 * ones.
 */
async function renameAssets(dir: string): Promise<void> {
  const files = await readdir(dir, { recursive: true })
  await Promise.all(files.filter((name) => /\.(br|gz)$/.test(name)).map((name) => rm(join(dir, name))))
  const assets = (await readdir(join(dir, 'assets'))).filter((name) => name.endsWith('.js'))
  const renamed = (text: string) => assets.reduce((now, name) => now.replaceAll(name, `new-${name}`), text)
  for (const name of assets) {
    const file = join(dir, 'assets', name)
    await writeFile(file, renamed(await readFile(file, 'utf8')))
    await rename(file, join(dir, 'assets', `new-${name}`))
  }
  const index = join(dir, 'index.html')
  await writeFile(index, renamed(await readFile(index, 'utf8')))
}
