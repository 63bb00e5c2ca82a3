import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listCameras } from '@hedgerow/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRenderedCamera, type RenderedCamera } from '../../apps/gateway/testing/rendered-camera.ts'
import { approveNext } from '../harness/approval.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf } from '../harness/portal.ts'
import { waitFor } from '../harness/wait-for.ts'

let browser: BrowserHandle
let hub: Hub
let camera: RenderedCamera
let gateway: TestGateway
let folder: string

beforeAll(async () => {
  camera = await startRenderedCamera({ name: 'orchard', seed: 41, daylight: 'day', durationMs: 10_000, actors: [] })
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
