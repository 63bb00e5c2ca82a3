import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import {
  addGateway,
  addSite,
  approveRegistration,
  assignSite,
  deleteGateway,
  getVersions,
  listGateways,
  listPendingRegistrations,
  rejectRegistration,
  saveSiteUpdates,
  editGateway,
} from '@hedgerow/contract'
import { makeRelease, writeVersion } from '../../apps/gateway/testing/signed-release.ts'
import { admit } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { applicationsOf } from '../harness/gateway-ui-client.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../harness/gateway.ts'
import { addDayOfHistory, addPerson, addOldRollout, withFields } from '../harness/hub-database.ts'
import { startHub, type Credentials, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

/** A JPEG of one grey pixel. */
const PICTURE =
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k='

let browser: BrowserHandle
let hub: Hub
let manager: Credentials
let reused: ReusedPage
let page: Page
let portal: Portal
const gateways: TestGateway[] = []

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce' })
  manager = await addPerson(hub, { username: 'shepherd', role: 'manager' })
})

afterAll(async () => {
  await browser?.close()
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  await hub?.stop()
})

beforeEach(async () => {
  page = await reused.next()
  portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  await portal.open('/gateways')
  await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
})

/** A device that has asked to join. */
async function waitingDevice(
  name: string,
  options: Partial<TestGatewayOptions> = {},
): Promise<{ gateway: TestGateway; registrationId: string }> {
  const gateway = await startGateway(hub, { name, location: 'By the stream', ...options })
  gateways.push(gateway)
  const request = await waitFor(
    async () => (await hub.api(listPendingRegistrations)).find(({ deviceName }) => deviceName === name),
    { for: `${name} to ask` },
  )
  return { gateway, registrationId: request.registrationId }
}

const said = (words: string) => page.getByText(words, { exact: true }).waitFor()
const parameters = () => new URL(page.url()).searchParams

describe('approvals', () => {
  test('Approve stands before Reject: in a row, in the details and for several', async () => {
    const waiting = await Promise.all([waitingDevice('Ordered ford'), waitingDevice('Other ford')])
    await page.getByRole('link', { name: /^Approvals/ }).click()
    const row = portal.row('Ordered ford')
    await Promise.all([row.waitFor(), portal.row('Other ford').waitFor()])
    const words = async (buttons: Locator) =>
      (await buttons.allTextContents()).filter((word) => /^(Details|Approve|Reject)/.test(word))
    expect(await words(row.getByRole('button'))).toEqual(['Details', 'Approve', 'Reject'])
    expect((await words(page.getByRole('button'))).filter((word) => word.endsWith(' selected'))).toEqual([
      'Approve selected',
      'Reject selected',
    ])
    const { width, height } = page.viewportSize()!
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(() => words(row.getByRole('button'))).toEqual(['Approve'])
    await page.setViewportSize({ width, height })
    await row.getByRole('button', { name: /^Details/ }).click()
    await expect.poll(() => words(portal.dialog().getByRole('button'))).toEqual(['Approve', 'Reject'])
    for (const { registrationId } of waiting) await hub.api(approveRegistration, { params: { registrationId } })
  })

  test('of two people who approve one request, the second gets a message, and it leaves both screens', async () => {
    const { registrationId } = await waitingDevice('Twice wanted')
    await page.getByRole('link', { name: /^Approvals/ }).click()
    await page.getByRole('button', { name: 'Approve Twice wanted' }).click()
    const dialog = portal.dialog()
    await dialog.getByText('Gateway fingerprint').waitFor()
    // The other person is quicker, while this dialog is open.
    await hub.apiAs(manager)(approveRegistration, { params: { registrationId } })
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await said('Failed to approve registration: This registration request has already been decided.')
    await page.keyboard.press('Escape')
    await expect.poll(() => portal.row('Twice wanted').count()).toBe(0)
  })

  test('after an approval the toast leads to the gateway', async () => {
    await waitingDevice('Toast bridge')
    await page.getByRole('link', { name: /^Approvals/ }).click()
    await page.getByRole('button', { name: 'Approve Toast bridge' }).click()
    await portal.dialog().getByRole('button', { name: 'Approve' }).click()
    await page.getByText(/^Gateway "Toast bridge" approved successfully! VPN IP: 10\.100\.\d+\.\d+$/).waitFor()
    await page.getByRole('link', { name: 'Open the gateway' }).click()
    await page.getByRole('heading', { name: 'Toast bridge' }).waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/gateways\/[a-z2-7]{12}$/)
  })

  test('a new request appears by itself, without waiting for the next poll', async () => {
    // Without the browser's intervals nothing polls.
    onTestFinished(() => page.close())
    await page.addInitScript(() => (globalThis.setInterval = (() => 0) as unknown as typeof setInterval))
    await portal.open('/gateway-approvals')
    await said('No Pending Requests - All gateway registration requests have been processed.')
    const { registrationId } = await waitingDevice('Night arrival')
    await expect.poll(() => portal.row('Night arrival').count()).toBe(1)
    await hub.api(rejectRegistration, { params: { registrationId }, body: { reason: 'Only passing' } })
  })

  test('several are approved at once, each with its own outcome', async () => {
    await waitingDevice('Upper weir')
    const { registrationId } = await waitingDevice('Lower weir')
    await page.getByRole('link', { name: /^Approvals/ }).click()
    await portal.row('Lower weir').waitFor()
    await portal.row('Upper weir').waitFor()
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Approve selected' }).click()
    await portal.dialog().getByText('Lower weir').waitFor()
    await hub.apiAs(manager)(rejectRegistration, { params: { registrationId }, body: { reason: 'Not ours' } })
    await portal.dialog().getByRole('button', { name: 'Approve 2' }).click()
    await page.getByText(/^Gateway "Upper weir" approved successfully! VPN IP: 10\.100\.\d+\.\d+$/).waitFor()
    await said('Failed to approve registration: This registration request has already been decided.')
    await said('1 of 2 done, 1 failed')
    const path = await portal.dialog().getByRole('link', { name: 'Upper weir' }).getAttribute('href')
    expect(path).toMatch(/^\/gateways\/[a-z2-7]{12}$/)
    await portal.dialog().getByRole('button', { name: 'Close', exact: true }).last().click()
    await said('No Pending Requests - All gateway registration requests have been processed.')
    expect((await hub.api(listGateways)).map(({ name }) => name).filter((name) => name.endsWith('weir'))).toEqual([
      'Upper weir',
    ])
  })

  test('a rejection is listed with its reason and can be taken back', async () => {
    const { registrationId } = await waitingDevice('Stray box')
    await hub.api(rejectRegistration, { params: { registrationId }, body: { reason: 'Nobody knows it' } })
    await page.getByRole('link', { name: /^Approvals/ }).click()
    const row = portal.row('Stray box')
    await row.getByText('Nobody knows it').waitFor()
    await row.getByRole('button', { name: 'Let Stray box ask again' }).click()
    await portal.dialog().getByRole('button', { name: 'Let it ask again' }).click()
    await said('Gateway "Stray box" may ask again.')
    await expect.poll(() => row.count()).toBe(0)
  })
})

describe('gateways', () => {
  test('search, status and order live in the address and survive a reload and Back', async () => {
    for (const name of ['Ash lane', 'Birch lane', 'Cedar yard']) await hub.api(addGateway, { body: { name } })
    await page.getByRole('link', { name: 'Cedar yard' }).waitFor()
    await page.getByLabel('Search gateways').fill('lane')
    await portal.row('Cedar yard').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Gateway Name' }).click()
    await page.getByRole('button', { name: 'Gateway Name' }).click()
    await page.getByLabel('Filter by status').selectOption('offline')
    await page.getByRole('button', { name: 'Cards' }).click()
    const asked = { q: 'lane', sort: '-name', status: 'offline', view: 'cards' }
    await expect.poll(() => Object.fromEntries(parameters())).toEqual(asked)

    await page.reload()
    await page.getByRole('link', { name: 'Birch lane' }).click()
    await page.getByRole('heading', { name: 'Birch lane' }).waitFor()
    await page.goBack()
    const names = () => page.getByRole('row').getByRole('link').allTextContents()
    await expect.poll(names).toEqual(['Birch lane', 'Ash lane'])
    expect(await page.getByLabel('Search gateways').inputValue()).toBe('lane')
    await page.getByRole('button', { name: 'Table' }).click()
    expect(await page.getByRole('columnheader', { name: 'Gateway Name' }).getAttribute('aria-sort')).toBe('descending')
  })

  test('of a long list only the visible part is drawn, as table and as cards, and all can be reached', async () => {
    await withFields(hub, 200, async () => {
      const rows = page.getByRole('row')
      for (const { width, view } of [
        { width: 1440, view: 'table' },
        { width: 1440, view: 'cards' },
        { width: 390, view: 'table' },
      ]) {
        await page.setViewportSize({ width, height: 800 })
        await portal.open(`/gateways?q=field&view=${view}`)
        await page.getByRole('link', { name: 'Field 1', exact: true }).waitFor()
        expect(await page.getByRole('table', { name: 'Gateways' }).getAttribute('aria-rowcount')).toBe('201')
        expect(await rows.count()).toBeLessThan(60)
        // Rows further down are measured as they appear, so the end moves.
        await expect
          .poll(
            async () => {
              await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
              return page.getByRole('link', { name: 'Field 200', exact: true }).isVisible()
            },
            { timeout: 15_000 },
          )
          .toBe(true)
        expect(await rows.count()).toBeLessThan(60)
        await page.getByLabel('Search gateways').fill('field 123')
        await page.getByText(/^1 of \d+$/).waitFor()
        await page.getByRole('link', { name: 'Field 123', exact: true }).waitFor()
      }
    })
  })

  test('Back from a gateway returns to the same place of a long list', async () => {
    await withFields(hub, 200, async () => {
      await portal.open('/gateways?q=field')
      const field = page.getByRole('link', { name: 'Field 120', exact: true })
      const scroll = () => page.evaluate(() => window.scrollY)
      await page.getByRole('link', { name: 'Field 1', exact: true }).waitFor()
      await expect
        .poll(async () => {
          // The rows get their heights in the frame after the turn of the wheel.
          await page.evaluate(async () => {
            window.scrollBy(0, 300)
            for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
          })
          return field.isVisible()
        })
        .toBe(true)
      await field.scrollIntoViewIfNeeded()
      const top = async () => (await field.boundingBox())?.y ?? NaN
      const before = await top()
      await field.click()
      await page.getByRole('heading', { name: 'Field 120' }).waitFor()
      expect(await scroll()).toBe(0)
      await page.goBack()
      await field.waitFor()
      await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(60)
    })
  })

  test('a refresh moves no row under the pointer; once the pointer has left, the requested order is back', async () => {
    const { id } = await hub.api(addGateway, { body: { name: 'Quay one' } })
    await hub.api(addGateway, { body: { name: 'Quay two' } })
    await portal.open('/gateways?q=quay')
    await portal.row('Quay one').hover()
    await hub.api(editGateway, { params: { id }, body: { name: 'Quay zero', location: '', description: '' } })
    const names = () => page.getByRole('row').getByRole('link').allTextContents()
    await expect.poll(names).toEqual(['Quay zero', 'Quay two'])
    await page.getByRole('heading', { name: 'Gateway Management' }).hover()
    await expect.poll(names).toEqual(['Quay two', 'Quay zero'])
  })

  test('a gateway is renamed, and deleted only with its name typed', async () => {
    const { id } = await hub.api(addGateway, { body: { name: 'Old pump' } })
    await page.getByRole('button', { name: 'More actions for Old pump' }).click()
    await page.getByRole('menuitem', { name: 'Edit Gateway' }).click()
    await portal.dialog().getByLabel('Gateway Name').fill('New pump')
    await portal.dialog().getByLabel('Location').fill('Mill race')
    await portal.dialog().getByRole('button', { name: 'Save Gateway' }).click()
    await said('Gateway "New pump" saved.')
    await portal.row('New pump').getByText('Mill race').waitFor()

    await page.getByRole('button', { name: 'More actions for New pump' }).click()
    await page.getByRole('menuitem', { name: 'Delete Gateway' }).click()
    await portal
      .dialog()
      .getByText(/If the agent still runs on the device, it asks to join again/)
      .waitFor()
    const confirm = portal.dialog().getByRole('button', { name: 'Delete Gateway' })
    expect(await confirm.isDisabled()).toBe(true)
    await portal.dialog().getByLabel(/^Type/).fill('new pump')
    expect(await confirm.isDisabled()).toBe(true)
    await portal.dialog().getByLabel(/^Type/).fill('New pump')
    await confirm.click()
    await said('Gateway "New pump" deleted.')
    await portal.row('New pump').waitFor({ state: 'detached' })
    expect((await hub.api(listGateways)).map((gateway) => gateway.id)).not.toContain(id)
  })

  test('a gateway that is deleted during Connect is reported, and leaves the list', async () => {
    const { id } = await hub.api(addGateway, { body: { name: 'Will o the wisp' } })
    const connect = page.getByRole('button', { name: 'Connect to Will o the wisp' })
    await connect.waitFor()
    // The portal's own check of the network: the gateway is deleted during this step.
    await page.route('**/api/health', async (route) => {
      await hub.api(deleteGateway, { params: { id }, body: { name: 'Will o the wisp' } }).catch(() => {})
      await route.abort()
    })
    await connect.click()
    await said('Failed to access gateway: This gateway does not exist, or you may not see it.')
    await expect.poll(() => portal.row('Will o the wisp').count()).toBe(0)
  })

  test.each([
    ['an error alone', { error: 'Maintenance until 14:00' }],
    ['a message alone', { message: 'Maintenance until 14:00' }],
  ])('a proxy in front of the hub may refuse with %s: the person reads it', async (_, json) => {
    await hub.api(addGateway, { body: { name: 'Weather mast' } }).catch(() => undefined)
    const refuse = (address: string) => page.route(address, (route) => route.fulfill({ status: 503, json }))
    await refuse('**/api/v1/gateway/claim')
    await page.getByRole('button', { name: 'Claim Gateway' }).click()
    await portal.dialog().getByLabel('Device Token').fill('DT-0123456789AB')
    await portal.dialog().getByRole('button', { name: 'Claim', exact: true }).click()
    await said('Failed to claim gateway: Maintenance until 14:00')
    await page.keyboard.press('Escape')

    await refuse('**/api/v1/gateway/validate-access')
    await page.getByRole('button', { name: 'Connect to Weather mast' }).click()
    await said('Failed to access gateway: Maintenance until 14:00')

    await refuse('**/api/v1/admin/gateway-requests/pending')
    await portal.open('/gateway-approvals')
    await said('Failed to load pending requests: Maintenance until 14:00')

    await refuse('**/api/v1/admin/auto-approval/test')
    await portal.open('/auto-approval-settings')
    await page.getByLabel('Test IP').fill('198.51.100.7')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await said('Failed to test IP: Maintenance until 14:00')

    const written: string[] = []
    page.on('console', (message) => void written.push(message.text()))
    await refuse('**/api/v1/hub/users')
    await portal.open('/users')
    await said('Maintenance until 14:00')
    expect(written.filter((line) => line.startsWith('The users were not loaded:'))).not.toEqual([])
  })

  test('a gateway’s own page shows its connection to the hub, its cameras and its detections', async () => {
    const { gateway, registrationId } = await waitingDevice('Hen house')
    await gateway.localApi.patchStatus({
      cameras: [
        { name: 'perch', state: 'online', fps: 14.5 },
        { name: 'run', state: 'offline', fps: 0 },
      ],
    })
    const { gatewayId } = await hub.api(approveRegistration, { params: { registrationId } })
    await gateway.localApi.reportDetections([
      {
        id: 'one',
        camera: 'perch',
        label: 'marten',
        severity: 'alert',
        score: 0.93,
        startedAt: new Date().toISOString(),
        thumbnail: PICTURE,
        deterrent: 'Yard siren',
      },
    ])
    await portal.open(`/gateways/${gatewayId}`)
    await page.getByRole('heading', { name: 'Hen house' }).waitFor()
    const conditions = page.getByRole('region', { name: 'Connection to the hub' }).getByRole('listitem')
    await expect.poll(() => conditions.count()).toBe(4)
    await expect
      .poll(async () => (await conditions.allTextContents()).every((condition) => condition.startsWith('done')))
      .toBe(true)
    const panel = (name: string) => page.getByRole('region', { name, exact: true })
    await panel('Cameras').getByText('14.5 FPS').waitFor()
    await panel('Cameras').getByText('offline').waitFor()
    const picture = page.getByRole('img', { name: 'marten at perch' })
    await picture.waitFor()
    expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1)
    await page.getByText('Yard siren').waitFor()

    // On a phone its pictures come first, then what it watches with and what happened; figures and tables follow.
    await page.setViewportSize({ width: 390, height: 844 })
    const inOrder = [picture, ...['Cameras', 'What happened', 'Reviews', 'Health', 'Connection to the hub'].map(panel)]
    const tops = () => Promise.all(inOrder.map(async (one) => (await one.boundingBox())!.y))
    await expect.poll(async () => (await tops()).every((top, index, all) => top > (all[index - 1] ?? 0))).toBe(true)
  })

  test('a day of load and traffic is drawn in both schemes, and read hour by hour', async () => {
    const { id } = await hub.api(addGateway, { body: { name: 'Sluice' } })
    const history = page.getByRole('region', { name: 'Load and traffic (Last 24 Hours)' })
    const url = `**/api/v1/hub/gateways/${id}/history*`
    await page.route(url, (route) => route.abort())
    await portal.open(`/gateways/${id}`)
    await history.getByRole('alert').waitFor()
    await page.unroute(url)
    await history.getByRole('button', { name: 'Try again' }).click()
    await history.getByText('Nothing in the last 24 hours').waitFor()

    await addDayOfHistory(hub, id)
    await page.reload()
    await history.getByText('Load at most 0.75 per core.').waitFor()
    await history.getByText('Memory at most 50 %.').waitFor()
    await history.getByText('42.0 MB from the gateway, 2.10 MB to it.').waitFor()
    const pictures = () =>
      history.locator('canvas').evaluateAll((all) => all.map((one) => (one as HTMLCanvasElement).toDataURL()))
    const isDrawn = async () => new Set(await pictures()).size === 3
    await expect.poll(isDrawn).toBe(true)
    const [bright] = await pictures()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(async () => (await pictures())[0] !== bright).toBe(true)

    await history.getByText('Hour by hour').click()
    const rows = history.getByRole('table', { name: 'Load and traffic by the hour' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(25)
    const texts = (await rows.allTextContents()).slice(1)
    expect(texts.filter((text) => text.includes('Unknown'))).toHaveLength(3)
    expect(texts.filter((text) => text.includes('2.00 MB'))).toHaveLength(21)
  })

  test('the address of an application for a higher role says so, and leads to the gateway’s interface', async () => {
    const { registrationId } = await waitingDevice('Weir', {
      file: { applications: { router: { url: 'http://127.0.0.1:9', title: 'Router', leastRole: 'admin' } } },
    })
    const { gatewayId } = await hub.api(approveRegistration, { params: { registrationId } })
    await applicationsOf(hub.api, gatewayId)
    await enterAs(page, hub, manager)
    await portal.open(`/proxy/gateway/${gatewayId}?application=router`)
    await said('Your role does not allow this application.')
    await page.getByRole('link', { name: 'Back to the gateways' }).waitFor()
    await page.getByRole('link', { name: 'Open the gateway’s own interface' }).click()
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    expect(new URL(page.url()).origin).not.toBe(hub.url)
  })

  test('an address of no gateway says so and leads back', async () => {
    await portal.open('/gateways/aaaaaaaaaaaa')
    await said('This gateway does not exist, or you may not see it.')
    await page.getByRole('link', { name: 'Back to the gateways' }).click()
    await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/gateways')
  })
})

test('the dashboard names problems with the reason, and links to them', async () => {
  await hub.api(addGateway, { body: { name: 'A silent ford' } })
  await portal.navigation('Dashboard').click()
  const panel = page.getByRole('region', { name: 'Needs attention' })
  await panel.getByText(/never connected$/).click()
  const entry = panel.getByRole('listitem').filter({ hasText: 'A silent ford' })
  await expect.poll(() => entry.textContent()).toMatch(/Offline.*no VPN handshake/)
  await entry.getByRole('link', { name: 'A silent ford' }).click()
  await page.getByRole('heading', { name: 'A silent ford' }).waitFor()
})

test('a new hub lists the first steps until they are done or hidden', async () => {
  const fresh = await startHub()
  onTestFinished(async () => void (await fresh.stop()))
  portal = portalOf(page, fresh)
  await enterAs(page, fresh, fresh.admin)
  await portal.open('/dashboard')
  const steps = page.getByRole('region', { name: 'First steps' })
  const state = async (name: string) => steps.getByRole('listitem').filter({ hasText: name }).textContent()
  await expect.poll(() => state('Add the first gateway')).toContain('To do')
  await fresh.api(addGateway, { body: { name: 'First of all' } })
  await expect.poll(() => state('Add the first gateway'), { timeout: 60_000 }).toContain('Done')
  await steps.getByRole('link', { name: 'Give the hub a name' }).click()
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  await expect.poll(() => page.getByLabel('Hub name').evaluate((one) => one === document.activeElement)).toBe(true)
  await page.goBack()
  await steps.getByRole('button', { name: 'Hide' }).click()
  await steps.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('region', { name: 'Needs attention' }).waitFor()
  expect(await steps.count()).toBe(0)
})

test('while the hub is away the bar says so, and everything refreshes when it is back', async () => {
  await portal.navigation('Dashboard').click()
  await page.locator('canvas').waitFor()
  const away = page.getByRole('banner').getByText(/^No connection since \d\d:\d\d$/)
  await hub.kill9()
  await away.waitFor()
  await hub.restart()
  await expect.poll(() => away.count(), { timeout: 60_000 }).toBe(0)
})

test('a device without a network keeps the open page and says since when; it refreshes with the network', async () => {
  onTestFinished(() => page.context().setOffline(false))
  await portal.navigation('Users').click()
  await page.waitForURL('**/users')
  const rows = page.locator('tbody tr')
  await portal.row(manager.username).waitFor()
  const away = page.getByRole('banner').getByText(/^No connection since \d\d:\d\d$/)
  const shown = await rows.count()
  await page.context().setOffline(true)
  await away.waitFor()
  expect(await rows.count()).toBe(shown)
  await page.context().setOffline(false)
  await expect.poll(() => away.count(), { timeout: 60_000 }).toBe(0)
})

/** Puts a release into the hub's downloads; returns an agent's installation with an older one. */
async function handOutRelease({ dataDir }: Hub): Promise<{ root: string; slot: '' }> {
  const { files, rootKey } = makeRelease(5)
  const downloads = join(dataDir, 'downloads')
  const root = await mkdtemp(join(tmpdir(), 'hedgerow-installation-'))
  onTestFinished(async () => {
    await rm(downloads, { recursive: true, force: true })
    await rm(root, { recursive: true })
  })
  await mkdir(downloads)
  for (const [name, content] of files) await writeFile(join(downloads, name), content)
  await mkdir(join(root, 'updates'))
  await writeFile(join(root, 'root.pub'), rootKey)
  writeVersion(join(root, 'current'), { number: 3 })
  return { root, slot: '' }
}

test('Versions shows what each gateway runs, and Update brings it the release that the hub hands out', async () => {
  const installation = await handOutRelease(hub)
  const restarted = Promise.withResolvers<void>()
  const { registrationId } = await waitingDevice('Apiary', { installation, restart: restarted.resolve })
  await hub.api(approveRegistration, { params: { registrationId } })
  await portal.open('/gateways')
  await page.getByRole('link', { name: 'Versions' }).click()
  await page.getByRole('heading', { name: 'Versions', exact: true }).waitFor()
  await page.getByText(/This hub hands out 0\.5\.0/).waitFor()
  await page.getByRole('button', { name: 'Update Apiary' }).click()
  await portal.row('Apiary').getByText(`0.5.0, asked for by ${hub.admin.username}`).waitFor()
  await restarted.promise
  expect(await readlink(join(installation.root, 'updates/trial'))).toBe('a')

  // A site gets hours of its own.
  const { gateways: listed } = await hub.api(getVersions, { query: {} })
  const { id } = listed.find(({ name }) => name === 'Apiary')!
  const heath = await hub.api(addSite, { body: { name: 'Heath' } })
  await hub.api(assignSite, { body: { ids: [id], siteId: heath.id } })
  await page.getByRole('button', { name: 'Add a Site' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Site').selectOption('Heath')
  await dialog.getByLabel('Automatic updates').selectOption('on')
  await dialog.getByLabel('Hours').selectOption('own')
  await dialog.getByLabel('These hours').fill('2 to 5')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Enter hours such as 02:00-05:00').waitFor()
  await dialog.getByLabel('These hours').fill('02:00-05:00')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await portal.row('Heath').getByText('02:00-05:00').waitFor()
  expect(await hub.api(getVersions, { query: {} })).toMatchObject({
    sites: [{ site: heath.id, name: 'Heath', automatic: true, hours: '02:00-05:00' }],
  })
})

test('a gateway whose agent restarts again and again says so, in the list and on its page', async () => {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const at = Array<number>(11).fill(Number(process.hrtime.bigint() / 1_000_000n))
  const crashed = { boot, hasEnded: false, sinceBoot: 81, at, reason: '' }
  const { registrationId } = await waitingDevice('Restless', {
    before(dataDir) {
      writeFileSync(join(dataDir, 'restarts.json'), JSON.stringify(crashed))
      writeFileSync(join(dataDir, 'restarts.json.error'), 'an uncaught TypeError')
    },
  })
  await hub.api(approveRegistration, { params: { registrationId } })
  const problem = 'The agent restarted 12 times in the last hour; the last end: an uncaught TypeError.'
  await portal.open('/gateways')
  await portal.row('Restless').getByTitle(problem).waitFor()
  await page.getByRole('link', { name: 'Restless' }).click()
  await page.getByText('12 in the last hour', { exact: true }).waitFor()
  await expect.poll(() => page.getByText(problem, { exact: true }).count()).toBeGreaterThan(0)
})

test('people skip a gateway that automatic updates wait for, stop the updates, and let them go on', async () => {
  const fresh = await startHub()
  onTestFinished(async () => void (await fresh.stop()))
  const installation = await handOutRelease(fresh)
  const gateway = await startGateway(fresh, { name: 'Apiary', location: 'Heath', installation })
  gateways.push(gateway)
  await admit(fresh)
  const versions = () => fresh.api(getVersions, { query: {} })
  await waitFor(async () => (await versions()).gateways.some(({ canUpdate }) => canUpdate), { for: 'its version' })
  const silent = await fresh.api(addGateway, { body: { name: 'Silent ford' } })
  await addOldRollout(fresh, silent.id, { version: '0.5.0', number: 5 })
  // Apiary waits for hours that are not now.
  const hour = (ahead: number) => `${String((new Date().getHours() + ahead) % 24).padStart(2, '0')}:00`
  const heath = await fresh.api(addSite, { body: { name: 'Heath' } })
  const site = { site: heath.id, automatic: true, hours: `${hour(6)}-${hour(7)}` }
  await fresh.api(saveSiteUpdates, { body: site })

  portal = portalOf(page, fresh)
  await enterAs(page, fresh, fresh.admin)
  await portal.open('/versions')
  const panel = page.getByRole('region', { name: 'At a glance' })
  const stop = panel.getByRole('button', { name: 'Stop', exact: true })
  const held = panel.getByText(/^Gateway "Silent ford" was asked 2 h ago and was not heard from since\./)
  await held.waitFor()
  await panel.getByRole('button', { name: 'Skip Silent ford' }).click()
  await held.waitFor({ state: 'detached' })
  expect((await versions()).rollout).toMatchObject({ state: 'running', held: [] })
  await stop.click()
  await panel.getByText(`Automatic updates stopped: ${fresh.admin.username} stopped them.`).waitFor()
  expect((await versions()).rollout?.state).toBe('stopped')
  await panel.getByRole('button', { name: 'Go on' }).click()
  await stop.waitFor()
  expect((await versions()).rollout?.state).toBe('running')
})
