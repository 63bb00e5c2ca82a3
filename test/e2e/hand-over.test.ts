import { createServer, request, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approveNext } from '../harness/approval.ts'
import { LAN_NAME, startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { applicationsOf } from '../harness/gateway-ui-client.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { waitFor } from '../harness/wait-for.ts'

/** What a person sees when the way from the hub's page to the gateway's does not work: never silence. */
let browser: BrowserHandle
/** Knows no names below localhost, as WebKit. */
let nameless: BrowserHandle
let hub: Hub
let application: Server
let gateway: TestGateway
let answerLate: (() => void) | undefined

beforeAll(async () => {
  const page = (res: ServerResponse) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Router</h1>')
  application = createServer((req, res) => {
    if (req.url === '/late') answerLate = () => void page(res)
    else if (req.url === '/elsewhere') res.writeHead(302, { location: `http://127.0.0.1:${hub.port}/beta` }).end()
    else page(res)
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(application.address() as AddressInfo).port}`
  ;[browser, nameless, hub] = await Promise.all([
    startBrowser(),
    startBrowser({ unknownNames: '*.localhost' }),
    startHub(),
  ])
  gateway = await startGateway(hub, {
    name: 'North orchard',
    file: { applications: { router: { url, title: 'Page of the router' } } },
  })
  await approveNext(hub)
  const id = await waitFor(() => gateway.state().gatewayId, { for: 'the gateway to know its id' })
  await applicationsOf(hub.api, id)
})

afterAll(async () => {
  await browser?.close()
  await nameless?.close()
  await gateway?.stop()
  await hub?.stop()
  application?.closeAllConnections()
  application?.close()
})

/** A person who has signed in to the hub at this host. */
async function enter(host: string, { browser: used = browser, port = hub.port } = {}) {
  const person = await used.person()
  const page = await person.newPage()
  const hubUrl = `http://${host}:${port}`
  const portal = portalOf(page, { ...hub, url: hubUrl })
  await portal.open('/login')
  await portal.signIn(hub.admin)
  await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  const open = (path = '') =>
    page.goto(`${hubUrl}/proxy/gateway/${gateway.state().gatewayId}?application=router${path && `&path=${path}`}`)
  // Playwright's own waiting would wait for the page that is on its way.
  let words = ''
  await page.exposeFunction('tellWords', (text: string) => (words = text))
  await page.addInitScript(() => {
    const tell = () =>
      (globalThis as { tellWords?: (text: string) => void }).tellWords?.(document.body?.textContent ?? '')
    new MutationObserver(tell).observe(document, { childList: true, subtree: true, characterData: true })
  })
  return { person, page, open, words: () => words }
}

const opened = async (page: Page): Promise<URL> => {
  await page.getByRole('heading', { name: 'Router' }).waitFor()
  return new URL(page.url())
}

test('a browser that knows no names below localhost takes the port by itself', async () => {
  const { person, page, open } = await enter('localhost', { browser: nameless })
  await open('/page')
  const { hostname, port, pathname } = await opened(page)
  expect([hostname, pathname]).toEqual(['localhost', '/page'])
  expect(Number(port)).not.toBe(hub.port)
  await person.close()
})

test.each(['refused', 'dropped'])('on loopback a name is taken where ports are %s', async (how) => {
  const { person, page, open } = await enter('127.0.0.1')
  await page.route(
    ({ host }) => host.startsWith('127.0.0.1:') && host !== `127.0.0.1:${hub.port}`,
    (route) => (how === 'refused' ? route.abort('connectionrefused') : new Promise(() => {})),
  )
  await open()
  expect((await opened(page)).host).toMatch(new RegExp(`^gw-[a-z0-9]{12}-router\\.localhost:${hub.port}$`))
  await person.close()
})

test('where there is no other way the page says what is wrong, and lets the person go there', async () => {
  const { person, page, open, words } = await enter(LAN_NAME)
  let isClosed = true
  await page.route(
    ({ host }) => host.startsWith(`${LAN_NAME}:`) && host !== `${LAN_NAME}:${hub.port}`,
    (route) => (isClosed ? route.abort('connectionrefused') : route.continue()),
  )
  await open()
  await expect.poll(words).toMatch(/Your browser does not reach the hub at http:\/\/hub\.test:\d+, where/)
  expect(words()).toMatch(/must let TCP port \d+ through/)
  isClosed = false
  await page.getByRole('button', { name: 'Continue anyway' }).click()
  expect((await opened(page)).hostname).toBe(LAN_NAME)
  await person.close()
})

test('a gateway that answers late is said to, and then opens', async () => {
  const { person, page, open, words } = await enter('localhost')
  await open('/late')
  await expect.poll(words).toContain('The gateway’s page has not answered yet.')
  answerLate?.()
  expect((await opened(page)).pathname).toBe('/late')
  await person.close()
})

test('a hub that does not answer is said to', async () => {
  const { person, page, open, words } = await enter('localhost')
  await page.route('**/ui-ticket*', () => new Promise(() => {}))
  await open()
  await expect.poll(words).toContain('The hub has not answered yet.')
  expect(words()).toContain('Back to the gateways')
  await person.close()
})

/** A proxy in front of the hub that changes headers of its answers. */
async function startProxy(change: (headers: IncomingHttpHeaders) => IncomingHttpHeaders) {
  const proxy = createServer((req, res) => {
    const { method, url: path, headers } = req
    const forwarded = request({ port: hub.port, host: '127.0.0.1', method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 0, change(answer.headers))
      answer.pipe(res)
    })
    req.pipe(forwarded.on('error', () => res.destroy()))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const close = () => {
    proxy.closeAllConnections()
    proxy.close()
  }
  return { port: (proxy.address() as AddressInfo).port, close }
}

test('a policy that a proxy has changed is named', async () => {
  const proxy = await startProxy((headers) => {
    const policy = headers['content-security-policy']
    if (policy === undefined) return headers
    return { ...headers, 'content-security-policy': String(policy).replace(/form-action .*/, "form-action 'self'") }
  })
  const { person, open, words } = await enter('localhost', { port: proxy.port })
  await open()
  await expect.poll(words).toContain('The content security policy of this page does not let the browser go to')
  expect(words()).toContain('Try again')
  await person.close()
  proxy.close()
})

test('a browser that does not keep the cookie of a name takes the port, as WebKit does without TLS', async () => {
  const proxy = await startProxy(({ 'set-cookie': _cookie, ...headers }) => headers)
  const { person, page, open } = await enter('localhost', { port: proxy.port })
  await open('/page')
  const { hostname, port } = await opened(page)
  expect(hostname).toBe('localhost')
  expect([hub.port, proxy.port]).not.toContain(Number(port))
  await person.close()
  proxy.close()
})

test('a browser that keeps no cookie where there is no other way is told, and goes round no longer', async () => {
  const { person, open, words } = await enter(LAN_NAME)
  // Without TLS nobody replaces a Secure cookie, and no browser sends it.
  const name = `gws_${gateway.state().gatewayId}-router`
  await person.addCookies([{ name, value: 'x', domain: LAN_NAME, path: '/', secure: true }])
  await open()
  await expect.poll(words).toMatch(/comes back from http:\/\/hub\.test:\d+ without the cookie/)
  await person.close()
})

test('a gateway’s page that redirects to another site gets there, which the policy for forms forbids', async () => {
  const { person, page, open } = await enter('localhost')
  await open('/elsewhere')
  await expect.poll(() => page.url()).toBe(`http://127.0.0.1:${hub.port}/beta`)
  await person.close()
})
