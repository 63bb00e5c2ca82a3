import { editAutoApprovalSettings, editChannelSetup, listChannelSetups } from '@hedgerow/contract'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { NTFY_TOKEN, startMessengers } from '../../apps/hub/testing/messengers.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'

let browser: BrowserHandle
let hub: Hub
let phone: Awaited<ReturnType<typeof startMessengers>>

beforeAll(async () => {
  phone = await startMessengers()
  const env = {
    HUB_CHANNEL_HOSTS: phone.host,
    HUB_TELEGRAM_CHAT: '@farm',
    HUB_WEBHOOK_URL: phone.url,
    HUB_WEBHOOK_SECRET: 'a secret for webhooks',
  }
  ;[browser, hub] = await Promise.all([startBrowser(), startHub({ env })])
})
afterAll(async () => {
  await browser?.close()
  await hub?.stop()
  phone?.stop()
})
afterEach(async () => {
  phone.state.taken.length = 0
  await hub.api(editChannelSetup, {
    params: { name: 'ntfy' },
    body: { enabled: false, values: { url: null, token: null } },
  })
})

test.each([
  ['desktop', { width: 1440, height: 900 }, 'light'],
  ['phone', { width: 390, height: 844 }, 'dark'],
] as const)('an admin sets ntfy up, tries it, and switches it off, on a %s', async (_name, viewport, colorScheme) => {
  const person = await browser.person({ viewport, colorScheme, reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await enterAs(page, hub, hub.admin)
  await portal.open('/alert-rules')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = portal.dialog()
  const ntfy = page.getByRole('listitem').filter({ hasText: /^ntfy/ })
  await page.getByText('Set by HUB_WEBHOOK_URL, HUB_WEBHOOK_SECRET').waitFor()

  // The keyboard opens it, and what is missing has the focus.
  await button('Set up: ntfy').focus()
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Save Channel' }).click()
  await dialog.getByText('Topic is needed while the channel is on.').waitFor()
  expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).type)).toBe('url')
  await dialog.getByLabel('Topic').fill('http://192.168.1.1/farm')
  await dialog.getByRole('button', { name: 'Save Channel' }).click()
  await dialog.getByText(/^Topic is not on the Internet/).waitFor()
  await dialog.getByLabel('Topic').fill(`${phone.url}/farm`)
  await dialog.getByLabel('Access token', { exact: true }).fill(NTFY_TOKEN)
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save Channel' }).click()
  await dialog.waitFor({ state: 'hidden' })

  await button('Send test: ntfy').click()
  await ntfy.getByText('The ntfy server took it.').waitFor()
  expect(phone.state.taken[0]!.body.subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]))

  await page.reload()
  await button('Edit: ntfy').click()
  const token = dialog.getByLabel('Access token', { exact: true })
  expect(await token.inputValue()).toBe('')
  expect(await token.getAttribute('placeholder')).toBe('Set. Leave it empty to keep it')
  expect(await page.content()).not.toContain(NTFY_TOKEN)
  await dialog.getByLabel('Topic').fill(`${phone.url}/orchard`)
  await dialog.getByRole('button', { name: 'Save Channel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await button('Send test: ntfy').click()
  await expect.poll(() => phone.state.taken.map(({ path }) => path)).toEqual(['/farm', '/orchard'])

  await button('Edit: ntfy').click()
  await dialog.getByLabel('Remove Access token').check()
  await dialog.getByLabel('Send messages over this channel').uncheck()
  await dialog.getByRole('button', { name: 'Save Channel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await ntfy.getByText('Off', { exact: true }).waitFor()
  expect(await button('Send test: ntfy').count()).toBe(0)
  const setup = (await hub.api(listChannelSetups)).find(({ name }) => name === 'ntfy')
  expect(setup).toMatchObject({ enabled: false, fields: [{ value: `${phone.url}/orchard` }, { isSet: false }] })

  // A field of a variable is shown, and cannot be changed.
  await button('Set up: Telegram').click()
  expect(await dialog.getByLabel('Chat').inputValue()).toBe('Set by HUB_TELEGRAM_CHAT')
  expect(await dialog.getByLabel('Chat').isEditable()).toBe(false)
  expect(await axeViolations(page)).toEqual([])
})

test('Settings leads to the channels, and those say who gets the mail, with the field that changes it', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  const mail = page.getByRole('listitem').filter({ hasText: /^Mail/ })
  const recipient = page.getByLabel('Notification email')
  const hasFocus = () => recipient.evaluate((node) => node === document.activeElement)
  await enterAs(page, hub, hub.admin)
  await portal.open('/settings')
  await page.getByRole('link', { name: 'Mail, Telegram and other channels' }).click()
  await mail.getByText('Mail goes only to people that a rule names.').waitFor()
  const channels = page.getByRole('heading', { name: 'Channels' })
  await expect.poll(async () => (await channels.boundingBox())!.y).toBeLessThan(page.viewportSize()!.height)
  await mail.getByRole('link', { name: 'Set the recipient' }).click()
  await expect.poll(hasFocus).toBe(true)

  await hub.api(editAutoApprovalSettings, { body: { notificationEmail: 'rosa@farm.example' } })
  await portal.open('/alert-rules')
  await mail.getByText('Mail goes to rosa@farm.example, unless the rule names people.').waitFor()
  await page.getByRole('button', { name: 'Set up: Mail', exact: true }).click()
  await portal.dialog().getByText('Mail goes to rosa@farm.example, unless the rule names people.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await portal.dialog().getByLabel('Sender').fill('hub@farm.example')
  await portal.dialog().getByRole('link', { name: 'Change the recipient' }).click()
  await page.getByRole('button', { name: 'Leave', exact: true }).click()
  await expect.poll(hasFocus).toBe(true)
})
