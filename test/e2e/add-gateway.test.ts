import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import {
  listGatewayInvitations,
  listGateways,
  listRejectedRegistrations,
  readAutoApprovalSettings,
  editAutoApprovalSettings,
  testAutoApproval,
} from '@hedgerow/contract'
import { openSession, submitRegistration } from '../../apps/gateway/src/hub/enrolment-calls.ts'
import { createNameService } from '../../apps/gateway/src/kernel/name-service.ts'
import { loadDeviceKeys } from '../../apps/gateway/src/hub/identity.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'

const DAY_MS = 86_400_000

let browser: BrowserHandle
let hub: Hub
let gateway: TestGateway | undefined
let reused: ReusedPage
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url], { reducedMotion: 'reduce' })
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await hub?.stop()
})

beforeEach(async () => {
  page = await reused.next()
  portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  await portal.open('/gateways')
})

const said = (words: string) => page.getByText(words, { exact: true }).waitFor()
const press = (name: string | RegExp) => page.locator('main').getByRole('button', { name }).click()
const inDialog = (name: string | RegExp) => portal.dialog().getByRole('button', { name })

test('a device that runs the agent joins with the command of the page, and gets what was chosen there', async () => {
  await page.getByRole('button', { name: 'Add Gateway' }).click()
  await page.getByLabel(/^Mini PC/).check()
  await press('Show how')
  await said('Enter a name')
  await page.getByLabel('Gateway Name').fill("Rosa's barn")
  await page.getByLabel('Location').fill('Row 12')
  await page.getByText(/^Tags, owner/).click()
  await page.getByLabel('Tags', { exact: true }).fill('North, mill')
  await page.getByLabel('Owner').selectOption(hub.admin.username)
  await page.getByLabel('Description').fill('Behind the mill.\nKey at the pump.')
  await press('Show how')
  await page.getByRole('img', { name: "QR code of the invitation Rosa's barn" }).waitFor()
  const command = (await page.locator('pre').first().innerText()).replaceAll(/ \\\n/g, ' ')
  expect(command).toMatch(/ npm run gateway -- --name 'Rosa'\\''s barn' --location 'Row 12'$/)
  const invitationCode = /GATEWAY_INVITATION_CODE=(\S+)/.exec(command)![1]!
  gateway = await startGateway(hub, { name: 'a-host', invitationCode })
  await page.getByRole('link', { name: "Rosa's barn" }).waitFor()
  expect((await hub.api(listGateways)).find(({ name }) => name === "Rosa's barn")).toMatchObject({
    location: 'Row 12',
    description: 'Behind the mill.\nKey at the pump.',
    tags: ['mill', 'north'],
    owner: hub.admin.username,
  })
  await page.getByRole('link', { name: "Rosa's barn" }).click()
  await page.getByRole('heading', { name: "Rosa's barn" }).waitFor()
})

test('each kind of machine has its own way', async () => {
  const ways: [RegExp, RegExp][] = [
    [/^Raspberry Pi/, /^Put hedgerow\.txt on the card/],
    [/^Windows PC/, /^Run wsl --install/],
    [/^Container/, /^podman run --detach/],
    [/^Frigate runs/, /^On the machine where Frigate runs/],
    [/^Only WireGuard/, /^\[Interface\]/],
  ]
  for (const [index, [kind, words]] of ways.entries()) {
    await portal.open('/add-gateway')
    await page.getByLabel(kind).check()
    await page.getByLabel('Gateway Name').fill(`Kind ${index}`)
    await press(/^(Show how|Add Gateway)$/)
    await page.getByText(words).first().waitFor()
    if (index > 0) continue
    // This hub has no release: its command needs a checkout.
    await page.getByText('In Hedgerow’s folder on the device').waitFor()
    const how = page.getByRole('link', { name: 'How the folder gets there' })
    expect(await how.getAttribute('href')).toBe('/help/install-gateway#from-the-sources')
    const saving = page.waitForEvent('download')
    await press('Download hedgerow.txt')
    const file = await readFile(await (await saving).path(), 'utf8')
    expect(file).toMatch(
      /^GATEWAY_HUB_URL=http.*\nGATEWAY_HUB_FINGERPRINT=.*\nGATEWAY_INVITATION_CODE=.*\nGATEWAY_NAME=Kind 0\n$/,
    )
  }
})

test('an invitation is valid for 1, 7 or 30 days, and comes with the lines for the DNS zone', async () => {
  for (const [label, days] of [
    ['1 day', 1],
    ['7 days', 7],
    ['30 days', 30],
  ] as const) {
    await portal.open('/add-gateway')
    await page.getByLabel('Gateway Name').fill(`For ${label}`)
    await page.getByText(/^Tags, owner/).click()
    await page.getByLabel('Expires in').selectOption(label)
    await press('Show how')
    await page.getByText(/^DNS lines/).click()
    const lines = page.locator('pre').last()
    await expect
      .poll(() => lines.innerText())
      .toContain(`_hedgerow._tcp.example.net. SRV 10 60 ${hub.port} hub.example.net.`)
    expect(await lines.innerText()).toMatch(/TXT "scheme=http"\n.*TXT "fp=([A-Z2-7]{4} ){7}[A-Z2-7]{4}"$/)
    const made = (await hub.api(listGatewayInvitations)).find((one) => one.label === `For ${label}`)!
    expect(Math.round((Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / DAY_MS)).toBe(days)
  }
})

describe('auto-approval settings', () => {
  beforeEach(async () => {
    await page.getByRole('link', { name: /^Approvals/ }).click()
    await page.getByRole('link', { name: 'Auto-approval' }).click()
    await page.getByRole('heading', { name: 'IP whitelist' }).waitFor()
  })

  test('lists take entries by Enter and by button, and name an invalid one', async () => {
    const address = page.getByLabel('IP address', { exact: true })
    await address.fill('198.51.100.300')
    await address.press('Enter')
    await said('Invalid IP address format')
    expect(await address.inputValue()).toBe('198.51.100.300')
    await address.fill('198.51.100.7')
    await address.press('Enter')
    await page.getByRole('button', { name: 'Remove 198.51.100.7' }).waitFor()
    await address.fill('198.51.100.7')
    await address.press('Enter')
    await said('IP already in whitelist')
    await address.fill('   ')
    await address.press('Enter')
    expect(await page.getByText('Invalid IP address format').count()).toBe(0)

    const range = page.getByLabel('Network range', { exact: true })
    const add = page.getByRole('button', { name: 'Add Network range' })
    await range.fill('192.0.2.0/33')
    await add.click()
    await page.getByText(/^Invalid CIDR format \(e\.g\., [\d.]+\/16\)$/).waitFor()
    await range.fill('192.0.2.0/24')
    await add.click()
    await range.fill('192.0.2.0/24')
    await add.click()
    await said('Network range already exists')
    await range.fill('')

    await page.getByRole('button', { name: 'Save Settings' }).click()
    await said('Settings saved successfully')
    expect(await hub.api(readAutoApprovalSettings)).toMatchObject({
      ipWhitelist: ['198.51.100.7'],
      networkRanges: ['192.0.2.0/24'],
    })
  })

  test('the test box explains the saved rules’ decision', async () => {
    const box = page.getByLabel('Test IP')
    await box.fill('1.2.3')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await said('Invalid IP address format')
    await box.fill('203.0.113.9')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    const verdict = await hub.api(testAutoApproval, { body: { ip: '203.0.113.9' } })
    expect(verdict).toMatchObject({ wouldAutoApprove: false, message: expect.stringContaining('203.0.113.9') })
    await said(verdict.message)
  })

  test('unsaved changes are not lost by accident', async () => {
    await page.getByLabel('Notification email').fill('shepherd@example.net')
    await portal.navigation('Gateways').click()
    const dialog = portal.dialog()
    await dialog.getByText('Leave without saving?').waitFor()
    await dialog.getByRole('button', { name: 'Stay' }).click()
    expect(await page.getByLabel('Notification email').inputValue()).toBe('shepherd@example.net')
    await portal.navigation('Gateways').click()
    await dialog.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  })
})

test('many requests from one source are rejected by one decision', async () => {
  const context = { names: createNameService([]), signal: new AbortController().signal }
  const expected = { isSettled: false, check: () => {} }
  for (let i = 1; i <= 6; i++) {
    const keys = await loadDeviceKeys(await mkdtemp(join(tmpdir(), 'hedgerow-crowd-')), [])
    const device = { keys, name: `Crowd ${i}`, location: '', version: '', macAddress: '', invitationCode: undefined }
    await submitRegistration(await openSession(new URL(hub.url), keys, expected, context), device, context)
  }
  await page.getByRole('link', { name: /^Approvals/ }).click()
  await portal.row('Crowd 6').waitFor()
  const button = page.getByRole('button', { name: /^Reject all \d+ from 127\.0\.0\.1$/ })
  await button.click()
  await portal.dialog().getByRole('button', { name: 'Reject all' }).click()
  await said('Rejection reason is required')
  await portal
    .dialog()
    .getByText(/^All requests from this source that wait/)
    .waitFor()
  await portal.dialog().getByLabel('Rejection reason').fill('A flood')
  await portal.dialog().getByRole('button', { name: 'Reject all' }).click()
  await page
    .getByText(/^\d+ requests from 127\.0\.0\.1 rejected\.$/)
    .first()
    .waitFor()
  await expect.poll(() => button.count()).toBe(0)
  const rejected = await hub.api(listRejectedRegistrations)
  expect(rejected.filter(({ reason }) => reason === 'A flood').length).toBeGreaterThanOrEqual(6)
})

test('an invitation shows its command and code once, and is revoked', async () => {
  const rules = await hub.api(readAutoApprovalSettings)
  await hub.api(editAutoApprovalSettings, { body: { ...rules, enabled: false } })
  await page.getByRole('link', { name: /^Approvals/ }).click()
  await page.getByRole('link', { name: 'Invitations' }).click()
  await page.getByRole('button', { name: 'New Invitation' }).click()
  await page.getByText(/^Tags, owner/).click()
  await page.getByLabel('Devices').fill('0')
  await page.getByLabel('Gateway Name').fill('South fields')
  await press('Show how')
  await said('Enter a whole number from 1 to 10,000')
  await page.getByLabel('Devices').fill('3')
  await page.getByLabel('Label').fill('South fields')
  await press('Show how')
  await page.getByRole('img', { name: 'QR code of the invitation South fields' }).waitFor()
  await page.getByText(hub.url).first().waitFor()
  await page.getByText(/^Auto-approval is off, so a device with an invitation still waits/).waitFor()
  await page.getByText(/^Only this machine can reach the hub at localhost/).waitFor()
  await portal.navigation('Gateways').click()
  await portal.dialog().getByText('The hub does not show this code again.').waitFor()
  await inDialog('Stay').click()
  expect(await page.getByText(hub.url).first().isVisible()).toBe(true)
  await portal.navigation('Gateways').click()
  await inDialog('Leave').click()
  await portal.open('/gateway-invitations')
  const row = portal.row('South fields')
  await row.getByText('0 of 3').waitFor()
  await row.getByRole('button', { name: 'Revoke South fields' }).click()
  await inDialog('Revoke').click()
  await said('Invitation "South fields" revoked.')
  await expect.poll(() => row.textContent()).toContain('Revoked')
})
