import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listCameras, PICTURE_AGE_HEADER, editGateway } from '@hedgerow/contract'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { serveDoor } from '../../apps/hub/testing/door.ts'
import { testHeartbeat } from '../../apps/hub/testing/heartbeat.ts'
import { startRenderedCamera, type RenderedCamera } from '../../apps/gateway/testing/rendered-camera.ts'
import { approveNext } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { joinPlayedGateway } from '../harness/played-gateway.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let hub: Hub
let camera: RenderedCamera
let gateway: TestGateway
let folder: string

beforeAll(async () => {
  camera = await startRenderedCamera({ name: 'orchard', seed: 41, daylight: 'day', durationMs: 60_000, actors: [] })
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-cameras-'))
  const configFile = join(folder, 'gateway.yaml')
  await writeFile(
    configFile,
    `cameras: { orchard: { url: "${camera.mjpegUrl}" } }\nsources: { eye: { cameras: [orchard] } }\n`,
  )
  gateway = await startGateway(hub, { name: 'Barn', location: 'Valley', configFile })
  await approveNext(hub)
  await waitFor(async () => (await hub.api(listCameras)).find(({ state }) => state === 'online'), {
    for: 'the camera in a heartbeat',
    timeoutMs: 90_000,
  })
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
  await camera?.stop()
  await hub?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

test('the wall shows current pictures of cameras, and nothing is pulled once nobody looks', async () => {
  const person = await browser.person({ reducedMotion: 'reduce' })
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  const pulls: string[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('/latest') && response.ok()) pulls.push(response.url())
  })
  await portal.open('/cameras')
  await portal.signIn(hub.admin)
  const picture = page.getByRole('img', { name: 'orchard at Barn' })
  await picture.waitFor()
  const size = await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)
  expect(size).toBeGreaterThan(100)
  const first = await picture.getAttribute('src')
  await expect.poll(() => picture.getAttribute('src'), { timeout: 30_000 }).not.toBe(first)

  await page.getByRole('link', { name: /orchard.*Nothing seen yet/ }).click()
  await page.getByRole('heading', { name: 'Threats' }).waitFor()
  expect(new URL(page.url()).searchParams.get('camera')).toBe('orchard')
  const before = pulls.length
  await page.getByRole('link', { name: 'Alert Rules' }).click()
  await page.getByRole('heading', { name: 'Alert Rules' }).waitFor()
  expect(pulls.length).toBe(before)
  await person.close()
})

test('a tile says why its camera gives no picture or a bad one, and how old a picture is', async () => {
  const played = await joinPlayedGateway(hub, (stream) => stream.end())
  onTestFinished(played.stop)
  const jpeg = await readFile(join(import.meta.dirname, '../../scripts/demo-frames/boar.jpg'))
  serveDoor(played.peer).onRequest = (request, response) => {
    const age = request.url?.includes('Lane%2010') ? { [PICTURE_AGE_HEADER]: '42000' } : {}
    response.writeHead(200, { 'content-type': 'image/jpeg', ...age }).end(jpeg)
  }
  const locked = 'Camera Lane 2 gives no pictures: it refuses the user name or the password of its address.'
  const black = 'Camera Lane 1: its picture is black. Is it covered, or its light off?'
  const frozen = 'Camera Lane 3: its picture has not changed since 02:14 CET on 26 Nov.'
  const told = testHeartbeat(Date.now(), {
    cameras: [
      { name: 'Lane 10', state: 'online', fps: 5 },
      { name: 'Lane 2', state: 'offline', fps: 0 },
      { name: 'Lane 1', state: 'online', fps: 5 },
      { name: 'Lane 3', state: 'frozen', fps: 5 },
    ],
    cameraProblems: [
      { camera: 'Lane 2', problem: locked },
      { camera: 'Lane 1', problem: black },
      { camera: 'Lane 3', problem: frozen },
    ],
  })
  await played.post('/api/v1/gateway/heartbeat', told)
  const person = await browser.person({ reducedMotion: 'reduce' })
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open('/cameras')
  await portal.signIn(hub.admin)
  const tile = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })
  await tile('Lane 2').getByText(locked).waitFor()
  await tile('Lane 1').getByRole('img').waitFor()
  await tile('Lane 1').getByText(black).waitFor()
  await tile('Lane 3').getByRole('img').waitFor()
  await tile('Lane 3').getByText(frozen).waitFor()
  await tile('Lane 10')
    .getByText(/^4\ds ago$/)
    .waitFor()
  const names = await page.getByRole('list', { name: 'Cameras' }).locator('strong').allTextContents()
  expect(names.filter((name) => name.startsWith('Lane'))).toEqual(['Lane 1', 'Lane 2', 'Lane 3', 'Lane 10'])
  await person.close()
})

test('the wall pulls pictures in view only, none while hidden, and its tiles are as large as one says', async () => {
  const played = await joinPlayedGateway(hub, (stream) => stream.end())
  onTestFinished(played.stop)
  const jpeg = await readFile(join(import.meta.dirname, '../../scripts/demo-frames/boar.jpg'))
  serveDoor(played.peer).onRequest = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpeg)
  const cameras = Array.from({ length: 60 }, (_, n) => ({ name: `Post ${n + 1}`, state: 'online' as const, fps: 5 }))
  await played.post('/api/v1/gateway/heartbeat', testHeartbeat(Date.now(), { cameras }))
  const site = `Field ${played.id}`
  const names = { name: `Posts ${played.id}`, location: site, description: '' }
  await hub.api(editGateway, { params: { id: played.id }, body: names })
  const person = await browser.person({ reducedMotion: 'reduce', viewport: { width: 1_000, height: 700 } })
  const page = await person.newPage()
  // Headless pages are always visible, also behind another one, so this says what a browser says of a hidden one.
  await page.addInitScript(() => {
    let state = 'visible'
    Object.defineProperty(document, 'visibilityState', { get: () => state })
    window.addEventListener('test:visibility', (event) => {
      if (event instanceof CustomEvent) state = String(event.detail)
      document.dispatchEvent(new Event('visibilitychange'))
    })
  })
  const turn = (detail: string) =>
    page.evaluate((now) => void window.dispatchEvent(new CustomEvent('test:visibility', { detail: now })), detail)
  const asked = new Set<string>()
  page.on('request', (request) => {
    const [, gatewayId, camera] = /gateways\/([^/]+)\/cameras\/([^/]+)\/latest$/.exec(request.url()) ?? []
    if (gatewayId === played.id && camera !== undefined) asked.add(decodeURIComponent(camera))
  })
  await page.clock.install()
  await enterAs(page, hub, hub.admin)
  await portalOf(page, hub).open('/cameras')
  await page.getByLabel('Site').selectOption(site)
  const tiles = page.getByRole('list', { name: 'Cameras' }).getByRole('listitem')
  const pictures = page.getByRole('list', { name: 'Cameras' }).getByRole('img')
  /** All that are pulled at all are pulled again in this time. */
  const pulled = async (camera: string) => {
    asked.clear()
    await expect
      .poll(async () => {
        await page.clock.fastForward(6_000)
        return asked.has(camera)
      })
      .toBe(true)
  }
  await pictures.first().waitFor()
  expect(asked).toContain('Post 1')
  expect(asked).not.toContain('Post 60')
  await tiles.last().scrollIntoViewIfNeeded()
  await pictures.last().waitFor()
  await pulled('Post 60')
  await pulled('Post 60')
  expect(asked).not.toContain('Post 1')

  await turn('hidden')
  asked.clear()
  await page.clock.fastForward(30_000)
  await page.evaluate(() => fetch('/livez').then((answer) => answer.text()))
  expect([...asked], 'nobody looks').toEqual([])
  await turn('visible')
  await expect.poll(() => asked.has('Post 60')).toBe(true)

  const abreast = () =>
    tiles.evaluateAll((all) => {
      const [first] = all.map((tile) => tile.getBoundingClientRect().top)
      return all.filter((tile) => tile.getBoundingClientRect().top === first).length
    })
  expect(await abreast()).toBe(3)
  const size = page.getByLabel('Size')
  await size.press('Home')
  await expect.poll(abreast).toBe(5)
  await page.reload()
  await expect.poll(abreast).toBe(5)
  await page.getByRole('navigation').getByRole('link', { name: 'Threats' }).click()
  await page.getByRole('heading', { name: 'Threats' }).waitFor()
  await page.getByRole('link', { name: 'Cameras', exact: true }).click()
  await expect.poll(abreast, { message: 'this browser remembers the size' }).toBe(5)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(abreast).toBe(3)
  await size.fill('300')
  await expect.poll(abreast).toBe(2)
  await size.press('End')
  await expect.poll(abreast).toBe(1)
  await person.close()
})
