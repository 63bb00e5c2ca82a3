import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../apps/gateway/src/gateway.ts'
import { startFixtureHub } from '../../apps/gateway/testing/hub.ts'
import { writeLearned, writeLearnedNames } from '../../apps/gateway/testing/learned-file.ts'
import { startRelay } from '../../apps/gateway/testing/relay.ts'
import { startRenderedCamera } from '../../apps/gateway/testing/rendered-camera.ts'
import { makeRelease, writeVersion } from '../../apps/gateway/testing/signed-release.ts'
import { PICTURE_AGE_HEADER } from '@hedgerow/contract'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { signInToDevice, startDevice } from '../harness/device.ts'
import { textEditor } from '../harness/text-editor.ts'
import { waitFor } from '../harness/wait-for.ts'

/** A person opens the own interface of a gateway without a hub, on a phone in its network. */
let browser: BrowserHandle
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser?.close())

/** For one try of a test, which changes its file. */
async function startOrchard() {
  const orchard = { name: 'orchard', seed: 41, daylight: 'day', durationMs: 60_000 } as const
  const [camera, relay] = await Promise.all([startRenderedCamera({ ...orchard, actors: [] }), startRelay()])
  onTestFinished(() => relay.stop())
  onTestFinished(() => camera.stop())
  const { gateway, file } = await startDevice(
    `# The orchard, by the stream
cameras: { orchard: { url: "${camera.mjpegUrl}" } }
sources: { eye: { cameras: [orchard] } }
deterrents:
  sprinkler: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" }, seconds: 600 }
`,
    {
      prepare(dataDir) {
        writeLearned(dataDir, 'orchard', Date.now())
        writeLearnedNames(dataDir, 'orchard', Date.now())
      },
    },
  )
  await gateway.reportDetections([
    {
      id: 'd1',
      camera: 'orchard',
      label: 'boar',
      severity: 'alert',
      score: 0.9,
      startedAt: new Date().toISOString(),
      firings: [{ id: 'f1', deterrent: 'sprinkler', at: new Date().toISOString(), seconds: 5, outcome: 'fired' }],
    },
  ])
  return { camera, relay, gateway, file }
}

async function dragByFinger(page: Page, what: Locator, { right, down }: { right: number; down: number }) {
  const area = (await what.boundingBox())!
  const from = { x: area.x + area.width / 2, y: area.y + area.height / 2 }
  const devtools = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints })
  await touch('touchStart', [from])
  for (const part of [0.5, 1]) await touch('touchMove', [{ x: from.x + right * part, y: from.y + down * part }])
  await touch('touchEnd', [])
  await devtools.detach()
}

/** A person without a keyboard removes corners of the mask that was added, down to three. */
async function tapsRemoveCorners(page: Page) {
  const corners = page.getByRole('group', { name: 'Corners of mask 1' }).getByRole('button', { name: /^Corner / })
  const remove = page.getByRole('button', { name: /^Remove corner/ })
  expect(await remove.isDisabled()).toBe(true)
  await corners.nth(2).tap()
  await expect.poll(() => remove.textContent()).toBe('Remove corner 3')
  const { width, height } = (await remove.boundingBox())!
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
  const lowerRight = 'Corner 3 of 4, 65 % from the left, 65 % from the top'
  expect(await corners.nth(2).getAttribute('aria-label')).toBe(lowerRight)
  await remove.tap()
  await expect.poll(() => corners.count()).toBe(3)
  expect(await corners.nth(2).getAttribute('aria-label')).toBe('Corner 3 of 3, 35 % from the left, 65 % from the top')
  await page.getByText('A shape has at least three corners.').waitFor()
  expect(await remove.count()).toBe(0)
  await page.getByRole('button', { name: 'Undo', exact: true }).tap()
  await expect.poll(() => corners.count()).toBe(4)
  expect(await corners.nth(2).getAttribute('aria-label')).toBe(lowerRight)
  // With the keyboard: Enter chooses, Tab leads to the button.
  await corners.nth(0).press('Enter')
  await expect.poll(() => remove.textContent()).toBe('Remove corner 1')
  await remove.press('Enter')
  await expect.poll(() => corners.count()).toBe(3)
}

test('a person signs in on a phone, sees, tests, stops everything, and changes the file', async () => {
  const { camera, relay, gateway, file } = await startOrchard()
  const person = await browser.person({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    reducedMotion: 'reduce',
  })
  const page = await person.newPage()
  await page.goto(`http://127.0.0.1:${gateway.port}/`)
  await page.getByText(gateway.state().deviceToken).waitFor()
  await page.getByRole('link', { name: 'Sign in' }).click()
  const signIn = async (password: string) => {
    await page.getByLabel('Password of this device').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await signIn('wrong')
  await page.getByText('The password is wrong.').waitFor()
  await signIn(gateway.newPassword!.toUpperCase())

  const picture = page.getByRole('img', { name: 'orchard' })
  await picture.waitFor()
  expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(100)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)

  await page
    .getByRole('region', { name: 'Version and updates' })
    .getByText(/^It runs from the sources: /)
    .waitFor()

  await page.getByRole('link', { name: 'orchard' }).click()
  await page.getByRole('img', { name: 'orchard now' }).waitFor()
  expect(await page.getByText(/ ago$/).count()).toBe(0)
  await page.route('**/orchard/latest*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, headers: { ...response.headers(), [PICTURE_AGE_HEADER]: '42000' } })
  })
  await page.getByText(/^[34]\ds ago$/).waitFor()
  // Pictures are asked for all the time: without `wait`, the answer under way would fail after this test.
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByText(/ ago$/).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Add a zone' }).click()
  await page.getByLabel('Name of the zone').fill('rows')
  const corner = (number: number) => page.getByRole('button', { name: new RegExp(`^Corner ${number} of `) })
  await corner(1).press('ArrowLeft')
  await corner(1).press('Shift+ArrowUp')
  await page.getByRole('button', { name: 'Add a corner after corner 4' }).press('Enter')
  await corner(5).press('Delete')
  await page.getByRole('button', { name: 'Corner 4 of 4, 30 % from the left, 60 % from the top' }).waitFor()
  await corner(3).hover()
  await page.mouse.down()
  const area = (await page.getByRole('group', { name: 'Corners of zone rows' }).boundingBox())!
  await page.mouse.move(area.x + area.width * 0.6, area.y + area.height * 0.7)
  await page.mouse.move(area.x + area.width + 40, area.y + area.height * 0.75)
  await page.mouse.up()
  await page.getByRole('button', { name: 'Corner 3 of 4, 100 % from the left, 75 % from the top' }).waitFor()
  const cornerBefore = await corner(2).getAttribute('aria-label')
  await dragByFinger(page, corner(2), { right: 20, down: -10 })
  await expect.poll(() => corner(2).getAttribute('aria-label')).not.toBe(cornerBefore)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect.poll(() => corner(2).getAttribute('aria-label')).toBe(cornerBefore)
  await page.getByRole('button', { name: 'Add a mask' }).click()
  await tapsRemoveCorners(page)
  await page.getByRole('button', { name: 'Delete mask 1' }).click()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const drawn =
    /^# The orchard, by the stream\ncameras: .*", zones: \{ rows: \[\[0\.29, 0\.25\], \[0\.6, 0\.3\], \[1, 0\.7\d*\], \[0\.3, 0\.6\]\] \} \} \}\n/
  await waitFor(async () => drawn.test(await readFile(file, 'utf8')), { for: 'the zone in the file' })
  await page.getByRole('slider', { name: 'Lowest score of a detection' }).press('ArrowRight')
  await page.getByText('In the last 24 hours this would have been').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Save rate and score' }).click()
  await waitFor(async () => (await readFile(file, 'utf8')).includes(', minimumScore: 0.61 }'), { for: 'the score' })

  await page.getByRole('link', { name: 'Now' }).click()
  await page.getByRole('link', { name: 'Add a camera' }).click()
  await page.getByLabel('Name', { exact: true }).fill('lane')
  const address = page.getByLabel('Address', { exact: true })
  await address.fill('http://127.0.0.1:9/')
  await page.getByRole('button', { name: 'Show picture' }).click()
  await page.getByText('This camera gives no pictures: nothing answers at its port.').waitFor()
  await address.fill(camera.snapshotUrl)
  await page.getByRole('button', { name: 'Show picture' }).click()
  await page.getByRole('img', { name: 'The camera now' }).waitFor()
  await page.getByText(/^It works/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'lane' }).waitFor()
  await page.getByRole('img', { name: 'lane now' }).waitFor()

  await page.getByRole('link', { name: 'Detections' }).click()
  await page.getByRole('button', { name: /^boar, 90 %.*deterrent fired$/ }).click()
  await page.getByRole('dialog').getByText('Score').waitFor()
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await page.getByRole('link', { name: 'Deterrents' }).click()
  const hold = page.getByRole('button', { name: 'Hold to test' })
  await hold.hover()
  await page.mouse.down()
  await page.getByText('sprinkler fired for 600 s by device password').waitFor()
  await page.mouse.up()
  await page.getByText(/, off at \d/).waitFor()
  expect(relay.isOn()).toBe(true)
  await page.getByRole('button', { name: 'Stop everything' }).click()
  await page
    .getByText(/^Disarmed by device password until somebody arms it$/)
    .first()
    .waitFor()
  expect(relay.isOn()).toBe(false)
  await page.getByRole('button', { name: 'Arm' }).click()
  await page.getByRole('button', { name: 'Stop everything' }).waitFor()

  await page.getByRole('link', { name: 'Learning' }).click()
  await page.getByRole('img', { name: /9 false alarms/ }).waitFor()
  await page.getByRole('button', { name: 'Go back to version 1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Go back' }).click()
  const deer = page.getByRole('region', { name: 'orchard' })
  await deer.getByRole('listitem').filter({ hasText: 'Version 1' }).getByText('active').waitFor()
  await page.getByRole('button', { name: 'Look and accept' }).click()
  await page.getByRole('dialog').getByRole('img', { name: 'orchard now' }).waitFor()
  await page.getByRole('button', { name: 'Accept', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Look and accept' }).waitFor({ state: 'hidden' })
  expect(await readFile(file, 'utf8')).toMatch(
    /^# The orchard.*\ncameras: .*", zones: .*, masks: \[\[\[0\.7, 0\.1.*\]\]\] \}, lane: /,
  )
  const names = page.getByRole('region', { name: 'Names of your animals' })
  await names.getByRole('button', { name: 'Undo version 1' }).click()
  await names
    .getByRole('listitem')
    .filter({ hasText: /^Version 1/ })
    .getByText('undone')
    .waitFor()
  await names.getByRole('button', { name: 'Undo version 2' }).waitFor()
  await names.getByText('34 corrections.').waitFor()
  await names.getByRole('button', { name: 'Train now' }).click()
  // The file of the test has no review with a name.
  await expect.poll(() => names.getByText('34 corrections.').count()).toBe(0)
  await page.getByRole('link', { name: 'What is hidden on orchard' }).click()
  await page.getByRole('button', { name: /^deer, 71 % hidden by learning/ }).waitFor()

  await page.getByRole('link', { name: 'Configuration' }).click()
  const editor = textEditor(page)
  const before = await readFile(file, 'utf8')
  expect(await editor.text()).toBe(before)
  const rule = (fire: string) => `${before}rules:\n  - { name: Boar, labels: [boar], fire: [${fire}] }\n`
  await editor.fill(rule('siren'))
  await page.getByRole('button', { name: 'Line 7, column 42' }).click()
  expect(await editor.beforeCursor()).toMatch(/fire: \[$/)
  expect(await editor.marked('error')).toEqual(['siren'])
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await editor.fill(rule('sprinkler'))
  const warning = page.getByRole('list', { name: 'Warnings' }).getByRole('listitem').filter({ hasText: 'rule Boar' })
  expect(await warning.textContent()).toMatch(/^Line 7, column 27: The rule Boar gets nothing from the eye/)
  await page.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () => (await readFile(file, 'utf8')) === rule('sprinkler'), { for: 'the file' })
  // The answer has the hash that the next Save needs.
  await expect.poll(() => page.getByRole('button', { name: 'Undo all changes' }).isDisabled()).toBe(true)

  await writeFile(file, before)
  await editor.fill(`${rule('sprinkler')}# mine\n`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^The file was changed meanwhile/).waitFor()
  expect(await readFile(file, 'utf8')).toBe(before)
  await page.getByRole('button', { name: 'Load it again' }).click()
  await expect.poll(() => editor.text()).toBe(before)

  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Password of this device').waitFor()
  await person.close()
})

const isSaving = (request: { method(): string }) => ['PUT', 'PATCH'].includes(request.method())

/** The answer to Save comes when the person has done more. */
async function saveAndMeanwhile(page: Page, name: string, address: string, meanwhile: () => Promise<void>) {
  const save = page.getByRole('button', { name, exact: true })
  const release = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    const isSave = isSaving(route.request())
    const response = await route.fetch()
    if (isSave) await release.promise
    await route.fulfill({ response })
  })
  const answered = page.waitForResponse((response) => isSaving(response.request()))
  await save.click()
  await meanwhile()
  expect(await save.getAttribute('data-loading')).toBe('true')
  release.resolve()
  expect((await answered).status()).toBe(200)
  await expect.poll(() => save.getAttribute('data-loading')).toBe(null)
  await page.unrouteAll({ behavior: 'wait' })
}

test('what a person types or draws while Save is under way stays, and can be saved next', async () => {
  const { gateway, file } = await startOrchard()
  const person = await browser.person()
  const page = await person.newPage()
  await signInToDevice(page, gateway)

  await page.getByRole('link', { name: 'Configuration' }).click()
  const editor = textEditor(page)
  const first = `${await editor.text()}# one\n`
  const second = `${first}# two\n`
  await editor.fill(first)
  await saveAndMeanwhile(page, 'Save', '**/api/v1/file', () => editor.fill(second))
  await page.getByText('Saved. It is active.').waitFor()
  expect(await readFile(file, 'utf8')).toBe(first)
  expect(await editor.text()).toBe(second)
  await page.getByRole('link', { name: 'Now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () => (await readFile(file, 'utf8')) === second, { for: 'the second text' })
  await expect.poll(() => page.getByRole('button', { name: 'Undo all changes' }).isDisabled()).toBe(true)

  await page.getByRole('link', { name: 'Now' }).click()
  await page.getByRole('link', { name: 'orchard' }).click()
  const drawn = page.getByRole('list', { name: 'Zones and masks' }).getByRole('listitem')
  await page.getByRole('button', { name: 'Add a zone' }).click()
  await saveAndMeanwhile(page, 'Save', '**/api/v1/cameras/orchard', async () => {
    await page.getByRole('button', { name: 'Add a mask' }).click()
  })
  expect(await drawn.count()).toBe(2)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await waitFor(async () => /zones: .*masks: /.test(await readFile(file, 'utf8')), { for: 'the mask in the file' })
  // The page knows the file's new state once the answer is there.
  await expect.poll(() => page.getByRole('button', { name: 'Undo all changes' }).isDisabled()).toBe(true)

  const score = page.getByRole('slider', { name: 'Lowest score of a detection' })
  await score.press('ArrowRight')
  await saveAndMeanwhile(page, 'Save rate and score', '**/api/v1/cameras/orchard', () => score.press('ArrowRight'))
  expect(await readFile(file, 'utf8')).toContain('minimumScore: 0.61')
  expect(await score.inputValue()).toBe('62')
  await person.close()
})

test('whoever leaves a camera while Save is under way reads its file again when they are back', async () => {
  const { gateway, file } = await startOrchard()
  const person = await browser.person()
  onTestFinished(() => person.close())
  const page = await person.newPage()
  await signInToDevice(page, gateway)
  await page.getByRole('link', { name: 'orchard' }).click()
  const [isSaved, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const address = '**/api/v1/cameras/orchard'
  await page.route(address, async (route) => {
    const isSave = isSaving(route.request())
    const response = await route.fetch()
    if (isSave) isSaved.resolve()
    if (isSave) await release.promise
    await route.fulfill({ response })
  })
  const score = page.getByRole('slider', { name: 'Lowest score of a detection' })
  const save = page.getByRole('button', { name: 'Save rate and score' })
  await score.press('ArrowRight')
  await save.click()
  await isSaved.promise
  await page.getByRole('link', { name: 'Now' }).click()
  await page.getByRole('link', { name: 'orchard' }).waitFor()
  // Somebody else changes the file before the answer is here.
  await writeFile(file, `${await readFile(file, 'utf8')}# mine\n`)
  const answered = page.waitForResponse((response) => isSaving(response.request()))
  release.resolve()
  await (await answered).finished()
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByRole('link', { name: 'orchard' }).click()
  await score.press('ArrowRight')
  await save.click()
  await expect.poll(() => readFile(file, 'utf8')).toMatch(/minimumScore: 0\.62 [^]*# mine\n$/)
})

test('the version and its updates are shown while they change', async () => {
  const release = makeRelease(5)
  const [hub, root] = await Promise.all([startFixtureHub(), mkdtemp(join(tmpdir(), 'hedgerow-updating-'))])
  const data = join(root, 'data')
  await Promise.all([mkdir(join(root, 'updates')), mkdir(data)])
  writeVersion(join(root, 'current'), { number: 3 })
  await writeFile(join(root, 'root.pub'), `${release.rootKey}\n`)
  // Two minutes that are half a day away.
  const at = new Date(Date.now() + 43_200_000).toISOString().slice(11, 14)
  const hours = `${at}10-${at}11`
  await writeFile(join(data, 'gateway.yaml'), `site: { timeZone: UTC }\nupdates: { hours: "${hours}" }\n`)
  const updating = await startGateway({
    name: 'Barn',
    dataDir: data,
    host: '127.0.0.1',
    port: 0,
    hubUrl: hub.url,
    log: pino({ level: 'silent' }),
    installation: { root, slot: '' },
  })
  const person = await browser.person({ viewport: { width: 390, height: 844 } })
  try {
    const page = await person.newPage()
    await signInToDevice(page, updating)
    const panel = page.getByRole('region', { name: 'Version and updates' })
    await panel.getByText('The hub has not said yet which version it wants.').waitFor()
    hub.wanted = { number: 5, attempt: 1, byHand: false }
    hub.decide({ status: 'approved' })
    await panel.getByText(`The hub offers release 5. It waits: For its hours, ${hours}.`).waitFor()
    await panel.getByText('the automatic updates of the hub').waitFor()
    hub.wanted = { number: 5, attempt: 2, byHand: true }
    await panel
      .getByText(/^Release 5 failed, and this version runs on\. The hub does not hand out keys\.json/)
      .waitFor()
    hub.wanted = undefined
    await panel.getByText('The hub asks for no other version.').waitFor()
    await panel.getByText(/: release 5 failed\. The hub does not hand out keys\.json/).waitFor()
    expect(await axeViolations(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  } finally {
    await person.close()
    await updating.stop()
    await hub.stop()
    await rm(root, { recursive: true, force: true })
  }
})
