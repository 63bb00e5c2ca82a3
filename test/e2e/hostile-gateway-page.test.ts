import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gatewayUiTicket } from '@hedgerow/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approveNext } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { applicationsOf } from '../harness/gateway-ui-client.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { attack, HOSTILE_HEADERS } from '../harness/hostile-page.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { joinPlayedGateway } from '../harness/played-gateway.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

/** A hostile application on a gateway, opened through the hub: its scripts attack everything that they can reach. */
let browser: BrowserHandle
let hub: Hub
let application: Server
let gateway: TestGateway
/** The requests that the application received, as text. */
const seen: string[] = []

beforeAll(async () => {
  application = createServer((req, res) => {
    seen.push(JSON.stringify([req.url, req.rawHeaders]))
    if (req.url === '/worker.js')
      return res.writeHead(200, { 'content-type': 'text/javascript' }).end('/* takes over */')
    return res.writeHead(200, HOSTILE_HEADERS).end('<!doctype html><title>Hostile</title><h1>Hostile page</h1>')
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(application.address() as AddressInfo).port}`
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  gateway = await startGateway(hub, {
    name: 'Hostile',
    file: { applications: { evil: { url, title: 'Page of the router' } } },
  })
  await approveNext(hub)
  const id = await waitFor(() => gateway.state().gatewayId, { for: 'the gateway to know its id' })
  await applicationsOf(hub.api, id)
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await hub?.stop()
  application?.close()
})

/** Signs in at `hubUrl` and continues by Connect to the application in the same tab. */
async function openHostilePage(hubUrl: string) {
  const person = await browser.person({ serviceWorkers: 'allow' })
  const page = await person.newPage()
  const portal = portalOf(page, { ...hub, url: hubUrl })
  await portal.open('/login')
  await portal.signIn(hub.admin)
  await page.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  await page.getByRole('button', { name: 'Connect to Hostile' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect to Hostile' })
  await dialog.getByRole('button', { name: 'Page of the router' }).click()
  await page.getByRole('heading', { name: 'Hostile page' }).waitFor()
  return { person, page, hubUrl }
}

test('on localhost, a hostile page reads nothing of the hub and cannot act on it', async () => {
  const { person, page, hubUrl } = await openHostilePage(hub.url)
  const origin = `http://gw-${gateway.state().gatewayId}-evil.localhost:${hub.port}`
  expect(new URL(page.url()).origin).toBe(origin)
  expect(await attack(page, hubUrl)).toEqual({
    token: null,
    stored: 0,
    cookies: 'planted=1',
    opener: null,
    isTop: true,
    api: 'refused: TypeError',
    page: 'refused: TypeError',
    popup: 'refused: SecurityError',
    frame: 'refused: SecurityError',
    worker: `${origin}/`,
  })

  // The hub is unchanged: still signed in, without a foreign worker, cookie or cleared storage.
  const portal = await person.newPage()
  await portal.goto(`${hubUrl}/dashboard`)
  await portal.getByRole('heading', { name: 'Dashboard' }).first().waitFor()
  expect(await portal.evaluate(() => document.cookie)).toBe('')
  const workers = () =>
    portal.evaluate(async () =>
      (await navigator.serviceWorker.getRegistrations()).map(
        ({ active, installing, waiting }) => (active ?? waiting ?? installing)?.scriptURL,
      ),
    )
  await expect.poll(workers).toEqual([`${hubUrl}/service-worker.js`])
  const token = await portal.evaluate(() => localStorage.getItem('hubToken'))
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  expect(seen.join('\n')).not.toContain(token)
  expect(seen.join('\n')).not.toContain('gws')
  await person.close()
})

test('the same in port mode', async () => {
  const { person, page, hubUrl } = await openHostilePage(`http://127.0.0.1:${hub.port}`)
  const { hostname, port } = new URL(page.url())
  expect(hostname).toBe('127.0.0.1')
  expect(Number(port)).not.toBe(hub.port)
  expect(await attack(page, hubUrl)).toMatchObject({
    token: null,
    stored: 0,
    cookies: `g${gateway.state().gatewayId}-evil.planted=1`,
    opener: null,
    api: 'refused: TypeError',
    page: 'refused: TypeError',
    popup: 'refused: SecurityError',
    frame: 'refused: SecurityError',
    worker: expect.stringMatching(/^refused: /) as string,
  })
  expect(seen.join('\n')).not.toContain('gws')
  await person.close()
})

test('a page of another site cannot hand over a stolen ticket', async () => {
  const person = await browser.person({ serviceWorkers: 'allow' })
  const page = await person.newPage()
  const { action, ticket } = await hub.api(gatewayUiTicket, { params: { id: gateway.state().gatewayId ?? '' } })
  const site = createServer((_req, res) =>
    res
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<form method="post" action="${action}"><input name="ticket" value="${ticket}"><button>Win</button></form>`),
  )
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
  const answer = page.waitForResponse(action)
  await page.getByRole('button').click()
  expect((await answer).status()).toBe(403)
  expect(await person.cookies()).toEqual([])
  await person.close()
  site.close()
})

test('the page of a failure says what to do, follows when another one comes, and reloads when it works', async () => {
  let answer = ''
  const played = await joinPlayedGateway(hub, (stream) => stream.once('data', () => stream.end(answer)))
  const person = await browser.person()
  const page = await person.newPage()
  await enterAs(page, hub, hub.admin)
  await page.goto(`${hub.url}/proxy/gateway/${played.id}?path=%2Freview%3Fcamera%3D1`)
  await page.getByRole('heading', { name: 'closed the connection' }).waitFor()
  await page.getByText('This page tries again in').waitFor()
  expect(await page.getByRole('link', { name: 'Back to the hub' }).getAttribute('href')).toBe(
    `${hub.url}/gateways/${played.id}`,
  )
  answer = 'SSH-2.0-OpenSSH\r\n'
  await page.getByRole('heading', { name: 'not a web page' }).waitFor()
  const body = '<!doctype html><title>Back</title><h1>It works again</h1>'
  const fields = `Connection: close\r\nContent-Type: text/html\r\nContent-Length: ${body.length}`
  answer = `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`
  await page.getByRole('heading', { name: 'It works again' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/review')
  await person.close()
  await played.stop()
})
