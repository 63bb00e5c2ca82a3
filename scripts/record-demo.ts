import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { addAlertRule, ALERT_RULE_DEFAULTS, listIncidents, listNotices } from '@hedgerow/contract'
import { startBrowser } from '../test/harness/browser.ts'
import { startHub } from '../test/harness/hub.ts'
import { portalOf } from '../test/harness/portal.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { approveDevices, startDevices } from './demo-arrivals.ts'
import { prepareDetector } from './demo-detector.ts'
import { prepareFleet, WITH_VALVE } from './demo-fleet.ts'
import { startSwitches, type State } from './demo-switches.ts'
import { giveYesterday } from './film/yesterday.ts'
import { createCamera, type Camera } from './film/camera.ts'
import { drawCaptions, webVttOf, type Caption } from './film/captions.ts'
import { encodeFilm } from './film/encode.ts'
import { createPhone, PHONE } from './film/phone.ts'
import { ensureGatewayUiBuilt, ensureWebBuilt } from './web-build.ts'

/**
 * The first step of `npm run pictures`: films the demo for the public site, as it runs: a hub and the gateways of
 * `npm run demo` over real tunnels, their detector, rules and valve; one person, and the story below. Then it takes the
 * demo's dashboard, in light and dark. Needs ffmpeg with libvpx-vp9 and libx264 on the machine, and the detector. Its
 * output is committed.
 */
const MEDIA = join(import.meta.dirname, '..', 'apps', 'public', 'public', 'media')
/** What the README shows. */
const README_PICTURE = join(import.meta.dirname, '..', 'docs', 'images', 'threats.png')
const SIZE_LIMIT_BYTES = 4 * 1_024 * 1_024
/** 1280x720 together with the strip of the captions. The page is enlarged by a seventh, for small players. */
const PICTURE = { viewport: { width: 1_120, height: 560 }, deviceScaleFactor: 8 / 7 }
const STRIP = { width: 1_280, height: 80 }
const PERSON = { HUB_ADMIN_USERNAME: 'rosa', HUB_ADMIN_PASSWORD: 'four foxes in fog' }

const HUB = 'The hub'
const ORCHARD = 'In the orchard'
const ON_PHONE = 'On a phone'

/** Without the usual pause between two messages, for which the film has no time. */
const RULE = { ...ALERT_RULE_DEFAULTS, name: 'Cattle', labels: ['cow'], collectSeconds: 0, coolDownSeconds: 0 }

/** The cow walks through the orchard once in every round of its scene. */
const ROUND_MS = 60_000
/** The film begins to look this long before the valve opens. */
const BEFORE_VALVE_MS = 5_000
const AFTER_VALVE_MS = 3_200
const ROUND_TIMEOUT_MS = 6 * ROUND_MS
/** A machine that encodes or tests beside it may be slow; the film is not. */
const PATIENCE_MS = 120_000

const detector = await prepareDetector()
if ('why' in detector) {
  console.error(`The pictures show what the demo's detector sees, and it is not there: ${detector.why}`)
  process.exit(1)
}

await using life = new AsyncDisposableStack()
await ensureWebBuilt()
await ensureGatewayUiBuilt()
const workFolder = await mkdtemp(join(tmpdir(), 'hedgerow-film-'))
life.defer(() => rm(workFolder, { recursive: true, force: true }))
const hub = await startHub({ env: { ...PERSON, HUB_LOG_LEVEL: 'warn' } })
life.defer(async () => void (await hub.stop()))
const switches = await startSwitches()
life.defer(() => switches.stop())
const fleet = await prepareFleet(switches, life, detector.folder)
const gateways = await startDevices(hub, fleet, life)
await approveDevices(hub, fleet)
await hub.api(addAlertRule, { body: RULE })
const isShown = async () => {
  const labels = (await hub.api(listIncidents)).map(({ label }) => label)
  return ['cow', 'horse', 'person'].every((one) => labels.filter((label) => label === one).length > 1)
}
await waitFor(isShown, { for: 'the cow, the horse and the person twice', timeoutMs: ROUND_TIMEOUT_MS })

let openedAt = await valveOpening()

const browser = await startBrowser()
life.defer(() => browser.close())
const person = await browser.person({ ...PICTURE, colorScheme: 'light', reducedMotion: 'reduce' })
person.setDefaultTimeout(PATIENCE_MS)
const camera = await createCamera(person, workFolder)
const captions: Caption[] = []
const say = (place: string, text: string) => captions.push({ fromSeconds: camera.seconds(), place, text })

const posterAtSeconds = await film(person, camera)

await mkdir(MEDIA, { recursive: true })
// Before the encoding, which takes the processor from the detectors.
await giveYesterday(hub, gateways)
for (const colorScheme of ['light', 'dark'] as const) await takeDashboard(colorScheme)

const endSeconds = camera.seconds()
const strip = await drawCaptions(captions, { browser: browser.browser, folder: workFolder, endSeconds, ...STRIP })
const files = { webm: join(MEDIA, 'demo.webm'), mp4: join(MEDIA, 'demo.mp4'), poster: join(MEDIA, 'demo-poster.jpg') }
await encodeFilm({ picture: camera.shots, strip }, { workFolder, ...files, posterAtSeconds })
await writeFile(join(MEDIA, 'demo.vtt'), webVttOf(captions, endSeconds))
const sizes = await Promise.all([files.webm, files.mp4].map(async (file) => (await stat(file)).size))
const bytes = sizes.reduce((sum, size) => sum + size, 0)
console.log(`${endSeconds.toFixed(1)} s; WebM and MP4 together ${(bytes / 1_048_576).toFixed(2)} MiB`)
if (bytes > SIZE_LIMIT_BYTES) throw new Error('Together they have to stay under 4 MiB')

/** Plays the story; returns the second whose picture is the poster. */
async function film(person: BrowserContext, camera: Camera): Promise<number> {
  const page = await person.newPage()
  const portal = portalOf(page, hub)
  await portal.open('/threats')
  await portal.signIn({ username: PERSON.HUB_ADMIN_USERNAME, password: PERSON.HUB_ADMIN_PASSWORD })
  const pictures = page.getByRole('list', { name: 'Incidents' })
  await pictures.getByRole('img').nth(3).waitFor()

  const screen = await signInOnPhone()

  await page.screenshot({ path: README_PICTURE })
  await camera.lookAt(page)
  say(HUB, 'One screen for all sites: what the cameras saw, as pictures.')
  await camera.hold(3.4)
  const posterAt = camera.seconds() - 1

  const land = await showOrchard(person)
  const sinceMs = Date.now() + BEFORE_VALVE_MS - openedAt
  await delay(Math.ceil(sinceMs / ROUND_MS) * ROUND_MS - sinceMs)
  await land.frameLocator('iframe').getByText('off', { exact: true }).first().waitFor()
  await camera.lookAt(land)
  say(ORCHARD, 'A camera, and the valve of a sprinkler. The gateway beside them looks.')
  const alert = await newestAlert()
  const opening = valveOpening().then((at) => {
    openedAt = at
    say(ORCHARD, 'A cow: the gateway’s rule opens the valve for 8 s. It needs no hub for that.')
  })
  const beganAt = Date.now()
  await camera.live(() => openedAt > beganAt && Date.now() > openedAt + AFTER_VALVE_MS)
  await opening

  await waitFor(async () => (await newestAlert()) !== alert, { for: 'the alert', timeoutMs: 60_000 })
  await showPhone(camera, { screen, stage: await person.newPage() })

  await camera.lookAt(page)
  say(HUB, 'In the hub, with its picture: a cow, and “deterrent fired” beside it.')
  await camera.hold(1.2)
  await camera.click(pictures.getByRole('button', { name: /cow/ }).first())
  const deeds = portal.dialog().getByRole('list', { name: 'What was done' })
  await deeds.getByText(/^Sprinkler row 12 8 s/).waitFor()
  await portal.dialog().getByRole('img').first().waitFor()
  await camera.settle()
  await camera.hold(2.8)
  say(HUB, 'One key, r or w, says whether it was right. The gateway learns from that at night.')
  await camera.moveTo(portal.dialog().getByRole('button', { name: /^Correct/ }))
  await camera.hold(0.8)
  await page.keyboard.press('r')
  await camera.settle()
  await page.keyboard.press('Escape')
  await portal.dialog().waitFor({ state: 'detached' })
  await camera.settle()
  await camera.hold(2.2)
  say('Hedgerow', 'Photographs walk in drawn places, the valve is simulated, the rest is real: npm run demo')
  await camera.hold(3.4)
  return posterAt
}

async function takeDashboard(colorScheme: 'light' | 'dark'): Promise<void> {
  const viewer = await browser.person({ colorScheme, viewport: { width: 1_280, height: 800 }, reducedMotion: 'reduce' })
  const screen = await viewer.newPage()
  const portal = portalOf(screen, hub)
  await portal.open('/dashboard')
  await portal.signIn(hub.admin)
  await screen.locator('canvas').waitFor()
  await screen.getByText(/potential threats detected today/).waitFor()
  const firstSteps = screen.getByRole('region', { name: 'First steps' })
  await firstSteps.getByRole('button', { name: 'Hide' }).click()
  await firstSteps.waitFor({ state: 'detached' })
  await screen.evaluate(() => document.fonts.ready.then(() => undefined))
  const session = await viewer.newCDPSession(screen)
  const { data } = (await session.send('Page.captureScreenshot', { format: 'webp', quality: 86 })) as { data: string }
  await writeFile(join(MEDIA, `dashboard-${colorScheme}.webp`), Buffer.from(data, 'base64'))
}

/** The picture of the orchard's camera, live, beside the page of the valve. */
async function showOrchard(person: BrowserContext): Promise<Page> {
  const { pictureUrl } = fleet.find(({ name }) => name === WITH_VALVE)!
  const page = await person.newPage()
  await page.setContent(`<!doctype html><style>
    body { margin: 0; height: 100vh; display: grid; grid-template-columns: 3fr 2fr; gap: 24px; align-items: center;
      box-sizing: border-box; padding: 0 24px; background: #0c1210 }
    img { width: 100%; border-radius: 6px }
    iframe { width: 100%; height: 420px; border: 0; background: #fff; border-radius: 6px }
  </style><img src="${pictureUrl}" alt=""><iframe src="${switches.url}"></iframe>`)
  return page
}

/** The same person in the browser of a phone. */
async function signInOnPhone(): Promise<Page> {
  const owner = await browser.person(PHONE)
  owner.setDefaultTimeout(PATIENCE_MS)
  const screen = await owner.newPage()
  const portal = portalOf(screen, hub)
  await portal.open('/threats')
  await portal.signIn({ username: PERSON.HUB_ADMIN_USERNAME, password: PERSON.HUB_ADMIN_PASSWORD })
  await screen.getByRole('list', { name: 'Incidents' }).getByRole('img').first().waitFor()
  return screen
}

/** The alert on the phone: acknowledged, then opened. */
async function showPhone(camera: Camera, { screen, stage }: { screen: Page; stage: Page }): Promise<void> {
  const portal = portalOf(screen, hub)
  await screen.getByRole('button', { name: /^Notices/ }).click()
  const newest = portal
    .dialog()
    .getByRole('listitem')
    .filter({ hasText: `· ${RULE.name}` })
    .first()
  await newest.waitFor()
  const phone = await createPhone(camera, { screen, stage })
  say(ON_PHONE, 'The alert is there within seconds: by push, mail, Telegram, ntfy, or in the hub.')
  await phone.show()
  await camera.hold(2)
  await phone.tap(newest.getByRole('button', { name: /^Acknowledge/ }), newest.getByText(/Acknowledged by/))
  say(ON_PHONE, 'One tap tells the others: somebody goes.')
  await camera.hold(1.4)
  await phone.tap(newest.getByRole('link'), portal.dialog().getByRole('img').first())
  await camera.hold(2)
}

/** Waits until the valve is open; returns since when, in ms since the epoch. */
async function valveOpening(): Promise<number> {
  const state = async () => {
    const { valve } = (await (await fetch(`${switches.url}state`)).json()) as State
    return valve.isOn ? Date.parse(valve.changedAt!) : undefined
  }
  return waitFor(state, { for: 'an open valve', timeoutMs: ROUND_TIMEOUT_MS })
}

async function newestAlert(): Promise<string | undefined> {
  const { notices } = await hub.api(listNotices)
  return notices.find(({ ruleName }) => ruleName === RULE.name)?.id
}
