import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approveNext } from '../harness/approval.ts'
import { LAN_NAME, startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { applicationsOf } from '../harness/gateway-ui-client.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { attack, HOSTILE_HEADERS } from '../harness/hostile-page.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { waitFor } from '../harness/wait-for.ts'

/** Connect on a hub that is opened over https with its own certificate, which the person accepts as people do. */
let browser: BrowserHandle
let hub: Hub
let application: Server
let gateway: TestGateway
let httpsPort: number

beforeAll(async () => {
  application = createServer((req, res) => {
    const cookie = req.headers.cookie ?? 'none'
    if (req.url === '/hostile') return res.writeHead(200, HOSTILE_HEADERS).end('<!doctype html><h1>Hostile page</h1>')
    res.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'visit=1; HttpOnly' })
    return res.end(`<!doctype html><link rel="icon" href="data:,"><h1>Router</h1><p>Cookies: ${cookie}</p>`)
  })
  application.on('upgrade', (req, socket) => {
    const accept = createHash('sha1')
      .update(`${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ` +
        `${accept}\r\n\r\n`,
    )
    socket.write(Buffer.from([0x81, 2, 0x68, 0x69]))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(application.address() as AddressInfo).port}`
  httpsPort = await freeTcpPort()
  ;[browser, hub] = await Promise.all([
    startBrowser({ whole: true }),
    startHub({ env: { HUB_HTTPS_PORT: String(httpsPort) } }),
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
  await gateway?.stop()
  await hub?.stop()
  application?.closeAllConnections()
  application?.close()
})

/** Opens an address whose certificate the browser does not trust, and goes on behind its warning. */
async function acceptCertificate(page: Page, url: string): Promise<void> {
  await page.goto(url).catch(() => {})
  const warning = page.getByText('Your connection is not private')
  await warning.waitFor()
  // The words that Chromium takes on that page for "go on".
  await page.keyboard.type('thisisunsafe')
  await warning.waitFor({ state: 'hidden' })
}

async function signIn(person: BrowserContext, hubUrl: string): Promise<Page> {
  const page = await person.newPage()
  await acceptCertificate(page, `${hubUrl}/login`)
  await portalOf(page, { ...hub, url: hubUrl }).signIn(hub.admin)
  await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  return page
}

async function connect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect to North orchard' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Page of the router' }).click()
}

test.each(['localhost', '127.0.0.1', LAN_NAME])('on https://%s Connect opens the gateway’s page', async (name) => {
  const person = await browser.person({ serviceWorkers: 'allow' })
  const hubUrl = `https://${name}:${httpsPort}`
  const page = await signIn(person, hubUrl)
  await connect(page)
  await page.getByRole('heading', { name: 'Router' }).waitFor()
  const { origin, protocol, hostname } = new URL(page.url())
  expect([protocol, hostname]).toEqual(['https:', name])
  expect(origin).not.toBe(hubUrl)

  await page.getByText('Cookies: none').waitFor()
  await page.reload()
  await page.getByText('Cookies: visit=1').waitFor()
  const said = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const socket = new WebSocket(`wss://${location.host}/socket`)
        socket.addEventListener('message', ({ data }) => resolve(data))
        socket.addEventListener('error', () => resolve('refused'))
      }),
  )
  expect(said).toBe('hi')

  // A lost session leads through the hub and back, unseen.
  await person.clearCookies()
  await page.goto(`${origin}/?again`)
  await page.getByText('Cookies: none').waitFor()
  expect(page.url()).toBe(`${origin}/?again`)
  await person.close()
})

test('over https, too, a hostile page reads nothing of the hub and cannot act on it', async () => {
  const person = await browser.person({ serviceWorkers: 'allow' })
  const hubUrl = `https://localhost:${httpsPort}`
  const hubPage = await signIn(person, hubUrl)
  const page = await person.newPage()
  await page.goto(`${hubUrl}/proxy/gateway/${gateway.state().gatewayId}?application=router&path=/hostile`)
  await page.getByRole('heading', { name: 'Hostile page' }).waitFor()
  expect(await attack(page, hubUrl)).toEqual({
    token: null,
    stored: 0,
    cookies: `__Secure-g${gateway.state().gatewayId}-router.planted=1`,
    opener: null,
    isTop: true,
    api: 'refused: TypeError',
    page: 'refused: TypeError',
    popup: 'refused: SecurityError',
    frame: 'refused: SecurityError',
    worker: expect.stringMatching(/^refused: /) as string,
  })
  await hubPage.reload()
  await hubPage.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  const hubToken = await hubPage.evaluate(() => localStorage.getItem('hubToken'))
  expect(hubToken).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  await person.close()
})
