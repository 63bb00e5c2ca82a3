import { afterAll, beforeAll, expect, test } from 'vitest'
import { GATEWAY_PORT } from '@hedgerow/contract'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let hub: Hub
let gateway: TestGateway

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  gateway = await startGateway(hub, { name: 'North orchard', location: 'By the stream' })
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await hub?.stop()
})

test('a person approves a waiting gateway and opens its page through the tunnel', async () => {
  const person = await browser.person()
  const page = await person.newPage()
  const portal = portalOf(page, hub)

  // The device's own page, as a person at the device reads it.
  const device = await person.newPage()
  await device.goto(gateway.pageUrl)
  // The gateway knows the hub once its request to join was answered.
  const hubFingerprint = await waitFor(() => gateway.state().hubFingerprint, { for: 'the fingerprint of the hub' })
  const { fingerprint } = gateway.state()
  await device.getByText(fingerprint).first().waitFor()
  await device.getByText(hubFingerprint).first().waitFor()

  await portal.open('/')
  await page.getByRole('link', { name: 'Login' }).first().click()
  await portal.signIn(hub.admin)
  await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/gateways')

  const approvals = page.getByRole('link', { name: /^Approvals/ })
  await expect.poll(() => approvals.textContent()).toMatch(/^Approvals1/)
  await approvals.click()

  const waiting = portal.row('North orchard')
  await expect.poll(() => waiting.textContent()).toContain('By the stream')
  await waiting.getByRole('button', { name: /^Details/ }).click()
  const details = portal.dialog()
  await details.getByText(fingerprint).waitFor()
  await details.getByText(hubFingerprint).waitFor()
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'hidden' })

  await waiting.getByRole('button', { name: /^Approve/ }).click()
  await portal.dialog().getByRole('button', { name: 'Approve' }).click()
  const message = page.getByText('Gateway "North orchard" approved successfully! VPN IP: 10.100.0.2', { exact: true })
  await message.waitFor()
  await page
    .getByText('No Pending Requests - All gateway registration requests have been processed.', { exact: true })
    .waitFor()
  await expect.poll(() => approvals.textContent()).toBe('Approvals')

  // The device's page follows without a reload.
  await device.locator('[data-step="approved"][data-state="done"]').waitFor()

  await page.getByRole('link', { name: 'Gateways' }).click()
  const row = portal.row('North orchard')
  await row.getByText('Online').waitFor()
  expect(await row.textContent()).toContain('10.100.0.2')

  const { gatewayId } = gateway.state()
  const address = `http://gw-${gatewayId}.localhost:${hub.port}/`
  await row.getByRole('button', { name: /^Connect/ }).click()
  const opened = await waitFor(() => person.pages().find((one) => one.url() === `${address}device/`), {
    for: `a page at ${address}`,
  })
  await opened.getByText(fingerprint).first().waitFor()
  await opened.getByText('North orchard').first().waitFor()
  await opened.getByRole('button', { name: 'Stop everything' }).waitFor()
  expect(await opened.evaluate(() => globalThis.localStorage.getItem('hubToken'))).toBeNull()
  expect(await opened.evaluate(() => globalThis.opener === null)).toBe(true)

  const health = await opened.evaluate(async () => (await fetch('/api/health')).json() as Promise<unknown>)
  expect(health).toMatchObject({ status: 'ok', gatewayId })
  await person.close()
})

test('this gateway is not on the port of the direct health check, so the tunnel must have carried it', () => {
  expect(Number(new URL(gateway.pageUrl).port)).not.toBe(GATEWAY_PORT)
})
