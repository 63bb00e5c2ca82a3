import { afterAll, beforeAll, expect, test } from 'vitest'
import { admit } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { textEditor } from '../harness/text-editor.ts'

let browser: BrowserHandle
let hub: Hub
let gateway: TestGateway
let id: string

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  gateway = await startGateway(hub, { name: 'North orchard' })
  id = await admit(hub)
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await hub?.stop()
})

test('a person who comes through the hub gives the device’s password once, and learns how to get another', async () => {
  const person = await browser.person()
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open(`/proxy/gateway/${id}?path=/device/configuration`)
  await page.waitForURL('**/login')
  await portal.signIn(hub.admin)
  const editor = textEditor(page)
  const before = await editor.text()
  const password = page.getByLabel('Password of this device').first()
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await page.getByText('Forgot it?').last().click()
  await page.getByText('sudo hedgerow-gateway password').last().waitFor()
  const field = page.locator('form').getByLabel('Password of this device')
  await editor.fill(`${before}\n# one\n`)
  await field.fill('wrong')
  await save.click()
  await page.getByText('The password is wrong.').waitFor()
  await field.fill(gateway.newPassword!)
  await save.click()
  await page.getByText('Saved. It is active.').waitFor()
  await expect.poll(() => password.count()).toBe(0)
  await page.reload()
  await editor.fill(`${before}\n# two\n`)
  expect(await password.count()).toBe(0)
  await save.click()
  await page.getByText('Saved. It is active.').waitFor()
  const kept = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]))
  expect(kept).not.toContain(gateway.newPassword)
  expect(kept).not.toContain('hedgerow-')

  // The device forgets the visit: the field is back.
  await person.clearCookies({ name: /^hedgerow-/ })
  await editor.fill(`${before}\n# three\n`)
  await save.click()
  await page.getByText('Through the hub this takes the password of the device.').waitFor()
  await field.waitFor()
  await person.close()
})
