import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { addAlertRule, listIncidents, listNotices } from '@hedgerow/contract'
import { startBrowser } from '../test/harness/browser.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { portalOf } from '../test/harness/portal.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { approveDevices, startDevices } from './demo-arrivals.ts'
import { prepareFleet, WAITING } from './demo-fleet.ts'
import { startSwitches } from './demo-switches.ts'
import { createCamera, type Camera } from './film/camera.ts'
import { drawCaptions, webVttOf, type Caption } from './film/captions.ts'
import { encodeFilm } from './film/encode.ts'
import { ensureWebBuilt } from './web-build.ts'

/**
 * `npm run record-demo`: films the demo for the public site, as it runs: a hub and the gateways of `npm run demo` over
 * real tunnels, their eyes, rules and valve; one person, and the story below. Needs ffmpeg with libvpx-vp9 and libx264
 * on the machine. Its output is committed.
 */
const MEDIA = join(import.meta.dirname, '..', 'apps', 'site', 'public', 'media')
const SIZE_LIMIT_BYTES = 4 * 1_024 * 1_024
/** 1280x720 together with the strip of the captions. The page is enlarged by a seventh, for small players. */
const PICTURE = { viewport: { width: 1_120, height: 560 }, deviceScaleFactor: 8 / 7 }
const STRIP = { width: 1_280, height: 80 }
const PERSON = { HUB_ADMIN_USERNAME: 'rosa', HUB_ADMIN_PASSWORD: 'four foxes in fog' }

const HUB = 'The hub'
const VALVE = 'In the orchard'
const PHONE = 'On a phone'

await using life = new AsyncDisposableStack()
await ensureWebBuilt()
const workFolder = await mkdtemp(join(tmpdir(), 'hedgerow-film-'))
life.defer(() => rm(workFolder, { recursive: true, force: true }))
const hub = await startHub({ env: { ...PERSON, HUB_LOG_LEVEL: 'warn' } })
life.defer(async () => void (await hub.stop()))
const switches = await startSwitches()
life.defer(() => switches.stop())
const fleet = await prepareFleet(switches, life)
const gateways = await startDevices(hub, fleet, life)
const newcomer = gateways.find(({ name }) => name === WAITING)
if (newcomer === undefined) throw new Error('Nobody waits for approval')
await approveDevices(hub, fleet)
// The film has no five minutes for the usual pause between two messages.
const rule = { name: 'Boar', labels: ['boar'], collectSeconds: 0, coolDownSeconds: 0 }
await hub.api(addAlertRule, { body: rule })
// A round of every scene, so that there are pictures of each gateway that sees somebody.
await waitFor(async () => new Set((await hub.api(listIncidents)).map(({ gatewayName }) => gatewayName)).size >= 3, {
  for: 'what the first minute shows',
  timeoutMs: 180_000,
})

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
  await camera.hold(2)
  await camera.moveTo(page.getByLabel('Username'))
  await camera.type(page.getByLabel('Username'), PERSON.HUB_ADMIN_USERNAME)
  await camera.type(page.getByLabel('Password', { exact: true }), PERSON.HUB_ADMIN_PASSWORD)
  await camera.click(button('Sign In'))
  await portal.row('Barn').waitFor()
  await camera.settle()
  await camera.hold(1)

  await camera.click(page.getByRole('link', { name: 'Threats' }))
  const pictures = page.getByRole('list', { name: 'Incidents' })
  await pictures.getByRole('img').nth(2).waitFor()
  await camera.settle()
  say(HUB, 'Threats: what the cameras saw, as pictures, of all gateways.')
  await camera.hold(3)
  const posterAt = camera.seconds() - 1
  await camera.click(pictures.getByRole('button', { name: /boar/ }).first())
  await portal.dialog().getByRole('img').first().waitFor()
  await camera.settle()
  say(HUB, 'Each opens large: what it is, how sure the gateway is, and what was fired at it.')
  await camera.hold(3.4)
  await page.keyboard.press('Escape')
  await portal.dialog().waitFor({ state: 'detached' })
  await camera.settle()

  const valve = await person.newPage()
  await valve.goto(switches.url)
  await waitFor(async () => !(await isValveOn()), { for: 'a shut valve', timeoutMs: 30_000 })
  const told = await newestNotice()
  await camera.lookAt(valve)
  await camera.settle()
  say(VALVE, 'The valve of a sprinkler, at the gateway with the orchard’s camera.')
  await camera.hold(2.4)
  await waitFor(isValveOn, { for: 'the next boar', timeoutMs: 120_000 })
  await valve.getByText('on', { exact: true }).first().waitFor()
  await camera.settle()
  say(VALVE, 'A boar: the gateway’s own rule opens the valve for 8 s. It asks nobody.')
  await camera.hold(3.2)

  await waitFor(async () => (await newestNotice()) !== told, { for: 'the alert', timeoutMs: 60_000 })
  const phone = await person.newPage()
  await phone.setContent(phoneOf(await alertOnPhone()))
  await camera.lookAt(phone)
  await camera.settle()
  say(PHONE, 'The alert is on the phone within seconds, with one tap to say: I go.')
  await camera.hold(3.6)

  await camera.lookAt(page)
  await camera.click(page.getByRole('link', { name: /^Approvals.*1/ }))
  await portal.row(WAITING).waitFor()
  await camera.settle()
  say(HUB, 'A new gateway has proved its keys, and waits for you.')
  await camera.hold(1.6)
  await camera.click(button(`Approve ${WAITING}`))
  const dialog = portal.dialog()
  await dialog.getByText(newcomer!.state().fingerprint).waitFor()
  await camera.settle()
  await camera.moveTo(dialog.getByText(newcomer!.state().fingerprint))
  say(HUB, 'Its fingerprint is the one on its label: approved. It joins the VPN at once.')
  await camera.hold(1.8)
  await camera.click(dialog.getByRole('button', { name: 'Approve' }))
  await page.getByText(/approved successfully/).waitFor()
  await camera.settle()
  await camera.hold(2.2)
  say('Hedgerow', 'Your cameras, your hub, your land. Try it: npm ci && npm run demo')
  await camera.hold(3.4)
  return posterAt
}

async function isValveOn(): Promise<boolean> {
  const state = (await (await fetch(`${switches.url}state`)).json()) as { valve: { isOn: boolean } }
  return state.valve.isOn
}

async function newestNotice(): Promise<string> {
  const { notices } = await hub.api(listNotices)
  const [newest] = notices
  return newest === undefined ? '' : JSON.stringify(newest)
}

/** What the same person sees in the browser of a phone. */
async function alertOnPhone(): Promise<Buffer> {
  const another = await browser.person({
    viewport: { width: 390, height: 780 },
    deviceScaleFactor: 2,
    colorScheme: 'dark',
    reducedMotion: 'reduce',
  })
  try {
    const page = await another.newPage()
    const portal = portalOf(page, hub)
    await portal.open('/threats')
    await portal.signIn({ username: PERSON.HUB_ADMIN_USERNAME, password: PERSON.HUB_ADMIN_PASSWORD })
    await page.getByRole('list', { name: 'Incidents' }).getByRole('img').first().waitFor()
    await page.getByRole('button', { name: /^Notices/ }).click()
    await portal.dialog().getByRole('list', { name: 'Notices' }).waitFor()
    await page.evaluate(() => document.fonts.ready.then(() => undefined))
    return await page.screenshot({ scale: 'device' })
  } finally {
    await another.close()
  }
}

/** A phone around its screen. */
const phoneOf = (
  screen: Buffer,
) => `<body style="margin:0;height:100vh;display:grid;place-items:center;background:#0c1210">
  <img alt="" src="data:image/png;base64,${screen.toString('base64')}"
    style="height:520px;border:10px solid #2b3733;border-radius:34px">
</body>`
