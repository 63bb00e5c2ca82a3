import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { BrowserContext, Page } from 'playwright-core'
import { listGatewayInvitations, listGateways } from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

const DAY_MS = 86_400_000

let browser: BrowserHandle
let hub: Hub
let gateway: TestGateway | undefined
let person: BrowserContext
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await hub?.stop()
})

beforeEach(async () => {
  person = await browser.person({ reducedMotion: 'reduce' })
  page = await person.newPage()
  portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
})

afterEach(() => person.close())

const inDialog = (name: string | RegExp) => portal.dialog().getByRole('button', { name })

test('a device that runs the agent joins with what the dialog shows', async () => {
  await portal.open('/gateways')
  await page.getByRole('button', { name: 'Add Gateway' }).click()
  await inDialog(/^Hedgerow agent/).click()
  await inDialog('Create Command').click()
  await portal.dialog().getByText('Enter a name').waitFor()
  await portal.dialog().getByLabel('Gateway Name').fill("Rosa's barn")
  await portal.dialog().getByLabel('Location').fill('Row 12')
  await inDialog('Create Command').click()
  await portal.dialog().getByRole('img', { name: "QR code of the invitation Rosa's barn" }).waitFor()
  const command = (await portal.dialog().locator('pre').first().innerText()).replaceAll(/ \\\n/g, ' ')
  expect(command).toMatch(/ npm run gateway -- --name 'Rosa'\\''s barn' --location 'Row 12'$/)
  const invitationCode = /GATEWAY_INVITATION_CODE=(\S+)/.exec(command)![1]!
  gateway = await startGateway(hub, { name: "Rosa's barn", location: 'Row 12', invitationCode })
  const joined = await waitFor(async () => (await hub.api(listGateways)).find(({ name }) => name === "Rosa's barn"), {
    for: 'the device to join without an approval',
  })
  expect(joined.location).toBe('Row 12')
  await inDialog('Done').click()
  await portal.row("Rosa's barn").waitFor()
})

test('an invitation is valid for 1, 7 or 30 days, and comes with the lines for the DNS zone', async () => {
  for (const [label, days] of [
    ['1 day', 1],
    ['7 days', 7],
    ['30 days', 30],
  ] as const) {
    await portal.open('/gateway-invitations?do=new')
    await portal.dialog().getByLabel('Label').fill(`For ${label}`)
    await portal.dialog().getByLabel('Expires in').selectOption(label)
    await inDialog('Create Invitation').click()
    await portal
      .dialog()
      .getByText(/^DNS lines/)
      .click()
    const lines = portal.dialog().locator('pre').last()
    await expect
      .poll(() => lines.innerText())
      .toContain(`_hedgerow._tcp.example.net. SRV 10 60 ${hub.port} hub.example.net.`)
    expect(await lines.innerText()).toMatch(/TXT "scheme=http"\n.*TXT "fp=([A-Z2-7]{4} ){7}[A-Z2-7]{4}"$/)
    await inDialog('Done').click()
    const made = (await hub.api(listGatewayInvitations)).find((one) => one.label === `For ${label}`)!
    expect(Math.round((Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / DAY_MS)).toBe(days)
  }
})
