import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approveNext } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'

/** A topic of ntfy: the notifications of somebody's phone. */
const phone: { title: string; click: string; actions: string }[] = []
let ntfy: Server
let browser: BrowserHandle
let hub: Hub
let gateway: TestGateway

beforeAll(async () => {
  ntfy = createServer((request, response) => {
    const { title, click, actions } = request.headers
    phone.push({ title: String(title), click: String(click), actions: String(actions) })
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => ntfy.listen(0, '127.0.0.1', resolve))
  const HUB_NTFY_URL = `http://127.0.0.1:${(ntfy.address() as AddressInfo).port}/topic`
  ;[browser, hub] = await Promise.all([startBrowser({ whole: true }), startHub({ env: { HUB_NTFY_URL } })])
  gateway = await startGateway(hub, { name: 'Barn' })
  await approveNext(hub)
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await hub?.stop()
  ntfy?.close()
})

test('a person makes a rule, tries the channel, and the message on the phone opens the incident', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open('/threats')
  await portal.signIn(hub.admin)
  await page.getByRole('link', { name: 'Alert Rules' }).click()
  await portal.row('Every alert').getByRole('button', { name: 'Delete Every alert' }).click()
  await page.getByText(/^No active rule covers what cameras see/).waitFor()

  await page.getByRole('button', { name: 'New Rule' }).click()
  await portal.dialog().getByRole('button', { name: 'Save Rule' }).click()
  await portal.dialog().getByText('Enter a name').waitFor()
  await portal.dialog().getByLabel('Name').fill('Foxes')
  await portal.dialog().getByLabel('Severity', { exact: true }).selectOption('Everything seen')
  await portal.dialog().getByLabel('Labels').fill('fox, marten')
  await portal.dialog().getByLabel('Group events for (seconds)').fill('0')
  await portal.dialog().getByRole('button', { name: 'Add a step' }).click()
  const people = { name: /^People \(/ }
  await portal.dialog().getByRole('group', people).first().getByLabel(hub.admin.username).check()
  await portal.dialog().getByRole('group', { name: 'Step 1' }).getByRole('group', people).waitFor()
  await portal.dialog().getByRole('button', { name: 'Remove step 1' }).click()
  await portal.dialog().getByText('would have sent no message').waitFor()
  const events = portal.dialog().getByRole('group', { name: 'Events' })
  await events.getByLabel('A full disk of the hub').check()
  await portal.dialog().getByText('Messages about the other events are not counted').waitFor()
  await events.getByLabel('What cameras see').uncheck()
  await portal.dialog().getByText('The preview counts only messages about what cameras see').waitFor()
  await events.getByLabel('What cameras see').check()
  await events.getByLabel('A full disk of the hub').uncheck()
  await portal.dialog().getByRole('button', { name: 'Save Rule' }).click()
  await portal.row('Foxes').getByText('fox, marten').waitFor()

  const channel = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('button', { name: `Send test: ${name}` }) })
  await channel('ntfy').getByRole('button').click()
  await channel('ntfy').getByText('The ntfy server took it.').waitFor()
  await channel('ntfy')
    .getByText(/^Last message sent/)
    .waitFor()
  // An earlier message said that the gateway waited for approval.
  expect(phone.at(-1)!.title).toBe('Test message from your hub')
  phone.length = 0
  await page.getByRole('button', { name: 'Send again: Test message from your hub' }).click()
  await expect.poll(() => phone.map(({ title }) => title), { timeout: 30_000 }).toEqual(['Test message from your hub'])
  phone.length = 0

  const startedAt = new Date().toISOString()
  const seen = { camera: 'coop', severity: 'detection', score: 0.8, startedAt } as const
  await gateway.localApi.reportDetections([
    { ...seen, id: 'hen', label: 'hen' },
    { ...seen, id: 'fox', label: 'fox' },
  ])
  await expect.poll(() => phone.length, { timeout: 30_000 }).toBe(1)
  expect(phone[0]!.title).toMatch(/^fox at Barn, coop/)
  await page.goto(phone[0]!.click.replace(/^https?:\/\/[^/]+/, hub.url))
  const incident = page.getByRole('dialog', { name: 'fox at Barn' })
  await incident.getByText('Foxes: nobody has acknowledged it yet').waitFor()

  // Somebody else's browser, without a session: opening the link changes nothing, the button does, live for all.
  const other = await browser.person({ reducedMotion: 'reduce' })
  const link = await other.newPage()
  const actions = JSON.parse(phone[0]!.actions) as { url: string }[]
  await link.goto(actions[1]!.url.replace(/^https?:\/\/[^/]+/, hub.url))
  await link.getByText(/^fox at Barn, coop/).waitFor()
  await link.getByRole('button', { name: 'Acknowledge' }).click()
  await link.getByText(/^Acknowledged on .* by a link over ntfy\.$/).waitFor()
  await incident.getByText(/^Foxes: Acknowledged on .* by a link over ntfy\.$/).waitFor()
  await other.close()
  await person.close()
})

test('the installed portal shows alerts and push messages, and says when the hub does not answer', async () => {
  const person = await browser.person({ reducedMotion: 'reduce', serviceWorkers: 'allow' })
  await person.grantPermissions(['notifications'], { origin: hub.url })
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open('/dashboard')
  await portal.signIn(hub.admin)
  await page.waitForURL('**/dashboard')
  await page.locator('main h1').waitFor()
  await page.getByRole('button', { name: /^Notices, \d+ unread$/ }).click()
  const notices = portal.dialog()
  await notices.getByRole('link', { name: /^fox at Barn, coop/ }).waitFor()
  await notices.getByText(/by a link over ntfy/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Notices', exact: true }).waitFor()

  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
    if (!navigator.serviceWorker.controller)
      await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
  })
  const devtools = await person.newCDPSession(page)
  const registered = new Promise<string>((resolve) =>
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      if (registrations[0]) resolve(registrations[0].registrationId)
    }),
  )
  await devtools.send('ServiceWorker.enable')
  const data = JSON.stringify({ title: 'boar at Barn', text: 'Rule: Foxes', tag: 'a', url: `${hub.url}/threats` })
  await devtools.send('ServiceWorker.deliverPushMessage', { origin: hub.url, registrationId: await registered, data })
  const shown = () =>
    page.evaluate(async () => {
      const notifications = await (await navigator.serviceWorker.ready).getNotifications()
      return notifications.map(({ title, body }) => `${title}: ${body}`)
    })
  await expect.poll(shown, { timeout: 30_000 }).toEqual(['boar at Barn: Rule: Foxes'])
  // The browser's protocol cannot click on a notification: the worker gets the event that a click gives.
  await person.serviceWorkers()[0]!.evaluate(
    `registration.getNotifications().then(([notification]) =>
      dispatchEvent(new NotificationEvent('notificationclick', { notification, action: 'open' })))`,
  )
  await page.waitForURL('**/threats')
  await expect.poll(shown, { timeout: 30_000 }).toEqual([])

  // The service worker caches two pictures of the hub's own, whatever page was open.
  await page.goto(`${hub.url}/gateways`)
  await portal.row('Barn').waitFor()
  const kept = () =>
    page.evaluate(async () => {
      const requests = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()))
      return requests.flat().map(({ url }) => new URL(url).pathname)
    })
  expect(await kept()).toEqual(['/icon.svg', '/icon-192.png'])
  await person.setOffline(true)
  await page.goto(`${hub.url}/threats`)
  await page.getByRole('heading', { name: 'The hub does not answer' }).waitFor()
  await page
    .getByRole('banner')
    .getByText(/^No connection since \d\d:\d\d/)
    .waitFor()
  await person.setOffline(false)
  // The page tries again by itself.
  await page.getByRole('link', { name: 'Alert Rules' }).waitFor()
  await expect.poll(kept).toEqual(['/icon.svg', '/icon-192.png'])
  await person.close()
})

test('a browser that does not trust the certificate of the hub says so, instead of an error of its own', async () => {
  const person = await browser.person({ reducedMotion: 'reduce', serviceWorkers: 'allow' })
  await person.grantPermissions(['notifications'], { origin: hub.url })
  const page = await person.newPage()
  // What Chromium answers where somebody went on in spite of its warning.
  await page.addInitScript(() => {
    ServiceWorkerContainer.prototype.register = () =>
      Promise.reject(new DOMException('An SSL certificate error occurred when fetching the script.', 'SecurityError'))
  })
  const portal = portalOf(page, hub)
  await portal.open('/profile')
  await portal.signIn(hub.admin)
  await page.getByRole('button', { name: 'Show alerts in this browser' }).click()
  const words = page.getByText('does not trust the hub’s certificate')
  await words.waitFor()
  expect(await words.innerText()).toMatch(/^This browser does not trust .* see docs\/operations\/tls\.md\.$/)
  await person.close()
})

test('the page of a message’s link says so when it is opened without one, and asks the hub nothing', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  const page = await person.newPage()
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/alert-links/')) asked.push(request.url())
  })
  const portal = portalOf(page, hub)
  await portal.open('/acknowledge')
  await page.getByText('This page opens from the link in a message about an alert.').waitFor()
  await page.getByRole('link', { name: 'Open the hub' }).waitFor()
  expect(asked).toEqual([])
  // The counter counts: a link is asked about.
  await portal.open('/acknowledge#a.ntfy..zzzzzz.AAAAAAAAAAAAAAAAAAAAAA')
  await page.getByText('This link is not complete, or is older than 7 days.').waitFor()
  expect(asked).toHaveLength(1)
  await person.close()
})

test('a dead link of a message offers no second try; a hub that does not answer offers one', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  const again = page.getByRole('button', { name: 'Try again' })
  await portal.open('/acknowledge#a.ntfy..zzzzzz.AAAAAAAAAAAAAAAAAAAAAA')
  await page.getByText('This link is not complete, or is older than 7 days.').waitFor()
  expect(await again.count()).toBe(0)
  await page.route('**/api/v1/alert-links/**', (route) => route.abort())
  await page.reload()
  await page.getByText('The hub does not answer. Check your connection and try again.').waitFor()
  await page.unroute('**/api/v1/alert-links/**')
  await again.click()
  await page.getByText('This link is not complete, or is older than 7 days.').waitFor()
  expect(await again.count()).toBe(0)
  await person.close()
})
