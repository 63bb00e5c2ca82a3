/** The texts on the screens when a hub or a gateway has a problem. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, rmdir, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { BrowserContext, Page } from 'playwright-core'
import {
  addGateway,
  approveRegistration,
  createGatewayInvitation,
  listGateways,
  listPendingRegistrations,
  readHubSettings,
  editHubSettings,
} from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../harness/gateway.ts'
import { changeFleet } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { skipWithout } from '../harness/privileges.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let person: BrowserContext
let page: Page

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(() => browser?.close())

beforeEach(async () => {
  person = await browser.person({ reducedMotion: 'reduce' })
  page = await person.newPage()
})

afterEach(() => person.close())

/** A hub of the test's own, and the portal in which its admin is signed in. */
async function openHub(env: Record<string, string> = {}): Promise<{ hub: Hub; portal: Portal }> {
  const hub = await startHub({ env })
  onTestFinished(async () => void (await hub.stop()))
  await enterAs(page, hub, hub.admin)
  return { hub, portal: portalOf(page, hub) }
}

async function waitingDevice(hub: Hub, options: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await startGateway(hub, options)
  onTestFinished(() => gateway.stop())
  const isWaiting = async () => (await hub.api(listPendingRegistrations)).some((one) => one.deviceName === options.name)
  await waitFor(isWaiting, { for: `${options.name} to wait` })
  return gateway
}

async function approve(hub: Hub): Promise<string> {
  const [request] = await hub.api(listPendingRegistrations)
  return (await hub.api(approveRegistration, { params: { registrationId: request!.registrationId } })).gatewayId
}

const detection = (id: string) => ({
  id,
  camera: 'yard',
  label: 'fox',
  severity: 'alert' as const,
  score: 0.9,
  startedAt: new Date().toISOString(),
})

test('nothing on the dashboard of a new hub moves while it loads, on a phone', async () => {
  const { portal } = await openHub()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.addInitScript(() => {
    const shifts: number[] = []
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as PerformanceEntry & { value: number }).value)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  // The answers come one by one, in an order that would push each part down.
  const late = ['hub/problems', 'hub/stats', 'hub/settings', 'hub/gateways', 'admin/auto-approval/settings']
  for (const [index, path] of late.entries())
    await page.route(`**/api/v1/${path}`, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 100 * index))
      await route.continue()
    })
  await portal.open('/dashboard')
  await page.getByRole('region', { name: 'First steps' }).waitFor()
  await page.locator('canvas').waitFor()
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  const moved = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts)
  expect(moved.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.05)
})

test('a gateway’s page shows what its quota refused, and the settings have the four quotas', async () => {
  const { hub, portal } = await openHub()
  const gateway = await waitingDevice(hub, { name: 'Chatty barn' })
  await hub.api(editHubSettings, { body: { detectionsPerHour: 1 } })
  const id = await approve(hub)
  // The second batch is over the quota.
  await gateway.reportDetections([detection('one'), detection('two')])
  await waitFor(() => gateway.state().detectionsWaiting === 0, { for: 'the first batch to arrive' })
  await gateway.reportDetections([detection('three')])
  const refused = /^Refused \d+ detections? in the last hour: over 1 an hour\.$/
  await expect
    .poll(async () => {
      await portal.open(`/gateways/${id}`)
      await page.getByRole('heading', { name: 'Chatty barn' }).waitFor()
      return page.getByText(refused).count()
    })
    .toBe(1)

  await portal.open('/settings')
  await page.getByLabel('Detections per gateway and hour', { exact: true }).fill('600')
  await page.getByLabel('Megabytes of detections per gateway and hour').fill('32')
  await page.getByLabel('Detections kept per gateway').fill('5000')
  await page.getByLabel('Megabytes of detections kept in total').fill('5')
  await page.getByRole('button', { name: 'Save Settings' }).click()
  await page.getByText('Enter whole megabytes from 10 to 10,000,000').waitFor()
  await page.getByLabel('Megabytes of detections kept in total').fill('512')
  await page.getByRole('button', { name: 'Save Settings' }).click()
  await page.getByText('Settings saved successfully', { exact: true }).waitFor()
  expect(await hub.api(readHubSettings)).toMatchObject({
    detectionsPerHour: 600,
    detectionMegabytesPerHour: 32,
    detectionsKept: 5_000,
    detectionMegabytesKept: 512,
  })
})

/** A file system of 64 MiB; undefined for a user who may not mount one. */
async function mountSmallDisk(): Promise<string | undefined> {
  if (skipWithout('a small disk', 'root', 'command mount')) return undefined
  const path = await mkdtemp(join(tmpdir(), 'hedgerow-small-disk-'))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', path]).status !== 0) {
    console.log('skipped: a small disk: this machine does not allow a mount')
    await rmdir(path)
    return undefined
  }
  onTestFinished(async () => {
    spawnSync('umount', ['-l', path])
    await rmdir(path)
  })
  return path
}

test('Needs attention says that the hub’s disk is nearly full, until there is room', async ({ skip }) => {
  const disk = await mountSmallDisk()
  if (disk === undefined) {
    skip()
    return
  }
  const { portal } = await openHub({ HUB_DATA_DIR: disk })
  await portal.open('/dashboard')
  const attention = page.getByRole('region', { name: 'Needs attention' })
  await attention.getByText('No gateways yet.').waitFor()
  const { bsize, bavail } = await statfs(disk)
  const other = join(disk, 'of-another-program')
  await writeFile(other, Buffer.alloc(bsize * bavail - 4_000_000, 1))
  const said = async () => {
    await page.reload()
    await attention.getByText('No gateways yet.').waitFor()
    return attention.getByRole('alert').allTextContents()
  }
  const limits = { timeout: 90_000, interval: 1_000 }
  await expect.poll(said, limits).toEqual([expect.stringMatching(/are free on the hub's disk: make room\.$/)])
  await rm(other)
  await expect.poll(said, limits).toEqual([])
})

test('while UDP is blocked the page says what to open, Connect shows why, and waiting detections count', async () => {
  const { hub, portal } = await openHub({ HUB_VPN_ENDPOINT_HOST: 'blocked.invalid' })
  const gateway = await waitingDevice(hub, { name: 'Walled garden', httpsFallbackAfterMs: 300 })
  const id = await approve(hub)
  await gateway.reportDetections([detection('one')])
  await waitFor(async () => (await hub.api(listGateways))[0]?.status === 'warning', {
    for: 'a heartbeat outside the tunnel',
  })
  // The hub reports it a minute after the approval.
  await changeFleet(hub, (db) =>
    db
      .updateTable('gateways')
      .set({ created_at: Date.now() - 600_000 })
      .execute(),
  )
  await portal.open(`/gateways/${id}`)
  const handshake = page.getByRole('region', { name: 'Connection to the hub' }).getByRole('listitem').nth(2)
  await expect
    .poll(async () => (await handshake.textContent()) ?? '', { timeout: 60_000 })
    .toMatch(/^failed.*Let UDP from the gateway reach port \d+ of blocked\.invalid\.$/)
  await expect
    .poll(async () => (await page.locator('main').textContent()) ?? '', { timeout: 60_000 })
    .toContain('1 detection stays on the device')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await portal
    .dialog()
    .getByText(
      /^Failed to access gateway: UDP seems to be blocked .* Allow UDP from the gateway to port \d+ of blocked/,
    )
    .waitFor()
})

test('the queue says why an invited device waits, and it joins when the limit is raised', async () => {
  const { hub, portal } = await openHub()
  await hub.api(editHubSettings, { body: { maxGateways: 1 } })
  await hub.api(addGateway, { body: { name: 'Only one' } })
  const { code } = await hub.api(createGatewayInvitation, { body: { label: 'Spring delivery' } })
  await waitingDevice(hub, { name: 'One too many', invitationCode: code })

  await portal.open('/auto-approval-settings')
  const consequences = page.getByRole('region', { name: 'What follows from these rules' })
  await consequences.getByText('A device with a valid gateway invitation joins at once, from anywhere.').waitFor()
  await page.getByRole('switch', { name: 'Auto-approval' }).click()
  await page
    .getByRole('region', { name: 'What happens when this is saved' })
    .getByText(/^Every device waits/)
    .waitFor()
  await page.getByRole('switch', { name: 'Auto-approval' }).click()

  await portal.open('/gateway-approvals')
  const row = portal.row('One too many')
  await row.getByText('Invitation: Spring delivery').waitFor()
  const why =
    /^The hub .*1 of 1.*approve joins by itself when you raise the limit under Settings, or delete a gateway\.$/
  await page.getByRole('alert').filter({ hasText: why }).waitFor()
  await hub.api(editHubSettings, { body: { maxGateways: 2 } })
  await expect.poll(() => row.count(), { timeout: 60_000 }).toBe(0)
  expect((await hub.api(listGateways)).map(({ name }) => name).toSorted()).toEqual(['One too many', 'Only one'])
})

test('a certificate is in use only if the hub answers with it', async () => {
  const plain = await openHub()
  await plain.portal.open('/settings?tab=certificates')
  await page.getByText(/None is in use now: this hub answers over plain http only/).waitFor()
  expect(await page.getByText('in use', { exact: true }).count()).toBe(0)
  const secure = await openHub({ HUB_HTTPS_PORT: String(await freeTcpPort()) })
  await secure.portal.open('/settings?tab=certificates')
  await secure.portal.row('Hub TLS certificate').getByText('in use', { exact: true }).waitFor()
  expect(await page.getByText(/None is in use now/).count()).toBe(0)
})
