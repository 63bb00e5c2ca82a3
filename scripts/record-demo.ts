import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { hubStats, listGateways } from '@hedgerow/contract'
import { startBrowser } from '../test/harness/browser.ts'
import type { TestGateway } from '../test/harness/gateway.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { portalOf } from '../test/harness/portal.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { approveDevices, startDevices } from './demo-arrivals.ts'
import { createCamera, type Camera } from './film/camera.ts'
import { drawCaptions, webVttOf, type Caption } from './film/captions.ts'
import { encodeFilm } from './film/encode.ts'
import { fleet, giveHistory, reportCameras } from './film/made-up-day.ts'
import { ensureWebBuilt } from './web-build.ts'

/**
 * `npm run record-demo`: films the demo for the public site. A hub and real gateways over real tunnels, one person, and
 * the story below; needs ffmpeg with libvpx-vp9 and libx264 on the machine. Its output is committed.
 */
const MEDIA = join(import.meta.dirname, '..', 'apps', 'site', 'public', 'media')
const SIZE_LIMIT_BYTES = 4 * 1_024 * 1_024
/** 1280x720 together with the strip of the captions. The page is enlarged by a seventh, for small players. */
const PICTURE = { viewport: { width: 1_120, height: 560 }, deviceScaleFactor: 8 / 7 }
const STRIP = { width: 1_280, height: 80 }
const PERSON = { HUB_ADMIN_USERNAME: 'rosa', HUB_ADMIN_PASSWORD: 'four foxes in fog' }

const HUB = 'The hub'
const DEVICE = 'At the gate'

await using life = new AsyncDisposableStack()
await ensureWebBuilt()
const workFolder = await mkdtemp(join(tmpdir(), 'hedgerow-film-'))
life.defer(() => rm(workFolder, { recursive: true, force: true }))
const hub = await startHub({ env: { ...PERSON, HUB_LOG_LEVEL: 'warn' } })
life.defer(async () => void (await hub.stop()))
const settled = fleet.filter(({ isApproved }) => isApproved)
const gateways = await startDevices(hub, settled, life)
for (const gateway of gateways) await giveHistory(gateway)
await approveDevices(hub, settled)
await waitFor(async () => (await hub.api(hubStats)).threats > 1, { for: 'the day behind them', timeoutMs: 30_000 })

const browser = await startBrowser()
life.defer(() => browser.close())
const person = await browser.person({ ...PICTURE, colorScheme: 'light', reducedMotion: 'reduce' })
const camera = await createCamera(person, workFolder)
const captions: Caption[] = []
const say = (place: string, text: string) => captions.push({ fromSeconds: camera.seconds(), place, text })

const posterAtSeconds = await tell(hub, person, camera)

const endSeconds = camera.seconds()
const strip = await drawCaptions(captions, { browser: browser.browser, folder: workFolder, endSeconds, ...STRIP })
await mkdir(MEDIA, { recursive: true })
const files = { webm: join(MEDIA, 'demo.webm'), mp4: join(MEDIA, 'demo.mp4'), poster: join(MEDIA, 'demo-poster.jpg') }
await encodeFilm({ picture: camera.shots, strip }, { workFolder, ...files, posterAtSeconds })
await writeFile(join(MEDIA, 'demo.vtt'), webVttOf(captions, endSeconds))
const sizes = await Promise.all([files.webm, files.mp4].map(async (file) => (await stat(file)).size))
const bytes = sizes.reduce((sum, size) => sum + size, 0)
console.log(`${endSeconds.toFixed(1)} s; WebM and MP4 together ${(bytes / 1_048_576).toFixed(2)} MiB`)
if (bytes > SIZE_LIMIT_BYTES) throw new Error('Together they have to stay under 4 MiB')

/** Plays the story; returns the second of the picture that becomes the poster. */
async function tell(hub: Hub, person: BrowserContext, camera: Camera): Promise<number> {
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  const button = (name: string | RegExp) => page.getByRole('button', { name })

  await portal.open('/login')
  await page.getByLabel('Username').waitFor()
  await camera.lookAt(page)
  say(HUB, 'One hub for every camera gateway on your land.')
  await camera.hold(2.2)
  await camera.moveTo(page.getByLabel('Username'))
  await camera.type(page.getByLabel('Username'), PERSON.HUB_ADMIN_USERNAME)
  await camera.type(page.getByLabel('Password', { exact: true }), PERSON.HUB_ADMIN_PASSWORD)
  await camera.click(button('Sign In'))
  await portal.row('Barn').waitFor()
  await camera.settle()
  say(HUB, 'Two gateways are on duty, in the orchard and at the barn.')
  await camera.hold(3)

  const newcomer = await arrive(hub)
  const approvals = page.getByRole('link', { name: /^Approvals.*1/ })
  await approvals.waitFor()
  say(HUB, 'A third one was just switched on. It has proved its keys, and waits for you.')
  await camera.settle()
  await camera.hold(2)
  await camera.click(approvals)
  await portal.row(newcomer.name).waitFor()
  await camera.settle()
  await camera.hold(1.4)
  await camera.click(button(`Approve ${newcomer.name}`))
  const dialog = portal.dialog()
  await dialog.getByText(newcomer.state().fingerprint).waitFor()
  await camera.settle()
  say(HUB, 'Is it really ours? Its fingerprint tells.')
  await camera.moveTo(dialog.getByText(newcomer.state().fingerprint))
  await camera.hold(2)

  const device = await person.newPage()
  await device.goto(newcomer.pageUrl)
  const shown = device.getByText(newcomer.state().fingerprint)
  await shown.evaluate((element) => element.scrollIntoView({ block: 'center' }))
  await camera.lookAt(device)
  say(DEVICE, 'The device shows the same one on its own page.')
  await camera.settle()
  await camera.moveTo(shown)
  await camera.hold(2.6)

  await camera.lookAt(page)
  say(HUB, 'They are the same: approved. It joins the VPN at once, nothing restarts.')
  await camera.hold(0.6)
  await camera.click(dialog.getByRole('button', { name: 'Approve' }))
  await page.getByText(/approved successfully/).waitFor()
  await camera.settle()
  await camera.hold(2.4)
  await camera.click(page.getByRole('link', { name: 'Gateways' }))
  const row = portal.row(newcomer.name)
  await row.getByText('Online').waitFor({ timeout: 30_000 })
  await camera.settle()
  await camera.hold(1.2)

  const { gatewayId, deviceToken } = newcomer.state()
  await camera.click(row.getByRole('button', { name: /^Connect/ }))
  await page.waitForURL(`http://gw-${gatewayId}.localhost:${hub.port}/`, { timeout: 30_000 })
  await page.getByText(deviceToken).first().waitFor()
  await camera.lookAt(page)
  say(HUB, 'Connect opens the gateway’s own page from anywhere, through its tunnel.')
  await camera.settle()
  await camera.hold(1.6)
  await camera.scroll(330)
  await camera.hold(1.6)

  await portal.open('/dashboard')
  await page.locator('canvas').waitFor()
  await camera.lookAt(page)
  await camera.settle()
  say(HUB, 'The dashboard shows the day in one look.')
  await camera.hold(3)
  const before = (await hub.api(hubStats)).threats
  await newcomer.localApi.reportDetections([
    {
      id: randomUUID(),
      camera: 'footbridge',
      label: 'boar',
      severity: 'alert',
      score: 0.94,
      startedAt: new Date().toISOString(),
    },
  ])
  await page.getByText(`${before + 1} potential threats detected today`).waitFor({ timeout: 30_000 })
  say(HUB, 'A boar on the footbridge: seen by the new gateway, told within a moment.')
  await camera.settle()
  await camera.hold(2.4)
  const posterAt = camera.seconds() - 1
  await camera.scroll(420)
  await camera.hold(3.2)
  say('Hedgerow', 'Your cameras, your hub, your land. Try it: npm ci && npm run demo')
  await camera.hold(3.4)
  return posterAt
}

/** Switches on the device that still has to be approved. */
async function arrive(hub: Hub): Promise<TestGateway> {
  const [newcomer] = await startDevices(
    hub,
    fleet.filter(({ isApproved }) => !isApproved),
    life,
  )
  if (newcomer === undefined) throw new Error('No device of the fleet waits for approval')
  await reportCameras(newcomer)
  const known = (await hub.api(listGateways)).map(({ name }) => name)
  if (known.includes(newcomer.name)) throw new Error(`${newcomer.name} has already joined`)
  return newcomer
}
