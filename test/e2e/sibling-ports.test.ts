import { createServer, type RequestListener, type Server } from 'node:http'
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

/**
 * In port mode and over plain http, where a browser sends no Sec-Fetch headers: a gateway's page attacks its
 * neighbours.
 */
let browser: BrowserHandle
let hub: Hub
const closers: (() => unknown)[] = []
let hostile: TestGateway
let victim: TestGateway
const clicks: string[] = []

const page =
  (title: string): RequestListener =>
  (req, res) => {
    if (req.url === '/click') clicks.push(title)
    if (req.url === '/data.js')
      return res.writeHead(200, { 'content-type': 'text/javascript' }).end('globalThis.stolen = "a secret"')
    return res
      .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': 'frame-ancestors *' })
      .end(
        `<!doctype html><link rel="icon" href="data:,"><title>${title}</title><h1>${title}</h1><a ` +
          'href="/click">Open the valve</a>',
      )
  }

async function startOne(name: string): Promise<TestGateway> {
  const application: Server = createServer(page(name))
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  closers.push(() => application.close())
  const uiTarget = new URL(`http://127.0.0.1:${(application.address() as AddressInfo).port}`)
  const gateway = await startGateway(hub, { name, uiTarget })
  closers.push(gateway.stop)
  await approveNext(hub)
  const id = await waitFor(() => gateway.state().gatewayId, { for: 'the gateway to know its id' })
  await applicationsOf(hub.api, id)
  return gateway
}

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  hostile = await startOne('Hostile')
  victim = await startOne('Victim')
})

afterAll(async () => {
  await browser?.close()
  for (const close of closers.reverse()) await close()
  await hub?.stop()
})

/** Both pages in tabs of their own, opened from the hub by its address. */
async function openBoth() {
  const person = await browser.person({ serviceWorkers: 'allow' })
  const hubUrl = `http://${LAN_NAME}:${hub.port}`
  const first = await person.newPage()
  const portal = portalOf(first, { ...hub, url: hubUrl })
  await portal.open('/login')
  await portal.signIn(hub.admin)
  await first.getByRole('heading', { name: 'Gateway Management' }).waitFor()
  async function open(gateway: TestGateway): Promise<Page> {
    const tab = await person.newPage()
    await tab.goto(`${hubUrl}/proxy/gateway/${gateway.state().gatewayId}?application=ui-target`)
    await tab.getByRole('heading', { name: gateway.name }).waitFor()
    return tab
  }
  const pages = { victimPage: await open(victim), hostilePage: await open(hostile) }
  // The portal refetches by itself, and each refused request clears the planted cookies.
  await first.close()
  return { person, hubUrl, ...pages }
}

test('a page cannot frame the page of another gateway, nor read its scripts', async () => {
  const { person, victimPage, hostilePage } = await openBoth()
  const { origin } = new URL(victimPage.url())
  const found = await hostilePage.evaluate(async (theirs) => {
    const load = (element: HTMLScriptElement | HTMLImageElement) =>
      new Promise((resolve) => {
        element.addEventListener('load', () => resolve('loaded'))
        element.addEventListener('error', () => resolve('refused'))
        document.body.append(element)
      })
    const frame = document.createElement('iframe')
    frame.src = `${theirs}/`
    document.body.append(frame)
    await new Promise((resolve) => frame.addEventListener('load', resolve))
    const script = await load(Object.assign(document.createElement('script'), { src: `${theirs}/data.js` }))
    const hidden = await load(
      Object.assign(document.createElement('script'), { src: `${theirs}/data.js`, referrerPolicy: 'no-referrer' }),
    )
    return { script, hidden, stolen: (globalThis as { stolen?: string }).stolen ?? null }
  }, origin)
  expect(found).toEqual({ script: 'refused', hidden: 'refused', stolen: null })
  const framed = hostilePage.frames().find((frame) => frame !== hostilePage.mainFrame())
  expect(framed?.url()).toMatch(/^chrome-error:/)
  expect(await framed?.getByText('Open the valve').count()).toBe(0)

  // Its own page may frame and read it.
  const own = await victimPage.evaluate(async () => {
    const frame = Object.assign(document.createElement('iframe'), { src: '/' })
    document.body.append(frame)
    await new Promise((resolve) => frame.addEventListener('load', resolve))
    return frame.contentDocument?.title
  })
  expect(own).toBe('Victim')
  expect(clicks).toEqual([])
  await person.close()
})

/**
 * Writes cookies that the browser sends to every port of the host; resolves with their length when all are stored.
 * Chromium stores a cookie after its assignment returns, and a read waits for all of them: those stored after the next
 * load was refused would refuse one more.
 */
function plant(page: Page, name: string, count: number): Promise<number> {
  return page.evaluate(
    ([prefix, most]) => {
      for (let i = 0; i < most; i++)
        for (const path of ['/', '/gateways']) document.cookie = `${prefix}${i}=${'x'.repeat(3_500)}; Path=${path}`
      return document.cookie.length
    },
    [name, count] as const,
  )
}

type Planted = { by: Page; name: string; count: number }

/**
 * Opens `url` with planted cookies, which the hub refuses. Another request of the browser, such as one for an icon, may
 * be refused first and clear them: then they are planted again.
 */
async function openRefused(page: Page, url: string, { by, name, count }: Planted): Promise<void> {
  const open = async () => {
    // What an open page of the portal requests would clear them.
    await page.goto('about:blank')
    await plant(by, name, count)
    return (await page.goto(url))?.status()
  }
  await expect.poll(open).toBe(431)
}

test('endless cookies lock a person out of no port for longer than one load', async () => {
  const { person, hubUrl, victimPage, hostilePage } = await openBoth()
  const planted = { by: hostilePage, name: 'planted', count: 80 }
  await openRefused(victimPage, victimPage.url(), planted)
  await victimPage.getByRole('link', { name: 'Load this page again' }).click()
  await victimPage.getByRole('heading', { name: 'Victim' }).waitFor()

  const portal = await person.newPage()
  await openRefused(portal, `${hubUrl}/gateways`, planted)
  await portal.getByRole('link', { name: 'Load this page again' }).click()
  const heading = portal.getByRole('heading', { name: 'Gateway Management' })
  await heading.waitFor()
  expect(await heading.isVisible()).toBe(true)
  await person.close()
})

test('fewer cookies with the names of another gateway, which its application would refuse, do not either', async () => {
  const { person, victimPage, hostilePage } = await openBoth()
  const name = `g${victim.state().gatewayId}-ui-target.planted`
  await openRefused(victimPage, victimPage.url(), { by: hostilePage, name, count: 4 })
  await victimPage.reload()
  const heading = victimPage.getByRole('heading', { name: 'Victim' })
  await heading.waitFor()
  expect(await heading.isVisible()).toBe(true)
  await person.close()
})
