/** The page that waits for what was invited, and the sheet of labels, in a browser with real agents. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listGateways } from '@hedgerow/contract'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startRenderedCamera, type RenderedCamera } from '../../apps/gateway/testing/rendered-camera.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { startGateway, type TestGatewayOptions } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { addPerson } from '../harness/hub-database.ts'
import { portalOf } from '../harness/portal.ts'
import { enterAs } from '../harness/session.ts'

const PHONE = { width: 390, height: 844 }
/** A heartbeat tells of a camera, and comes every 30 s. */
const SLOW = { timeout: 120_000 }

let browser: BrowserHandle
let hub: Hub
let camera: RenderedCamera

beforeAll(async () => {
  camera = await startRenderedCamera({ name: 'orchard', seed: 41, daylight: 'day', durationMs: 60_000, actors: [] })
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
})
afterAll(async () => {
  await browser?.close()
  await camera?.stop()
  await hub?.stop()
})

async function open(path: string, options: { viewport?: typeof PHONE } = {}) {
  const person = await browser.person({ reducedMotion: 'reduce', ...options })
  onTestFinished(() => person.close())
  const page = await person.newPage()
  await enterAs(page, hub, hub.admin)
  const portal = portalOf(page, hub)
  await portal.open(path)
  return { page, portal }
}

async function start(options: TestGatewayOptions) {
  const gateway = await startGateway(hub, options)
  onTestFinished(() => gateway.stop())
  return gateway
}

test('on a phone, two devices of one invitation are followed step by step to their first picture', async () => {
  const { page } = await open('/add-gateway', { viewport: PHONE })
  await page.getByLabel(/^Mini PC/).check()
  await page.getByLabel('Gateway Name').fill('Hill farm')
  await page.getByText(/^Tags, owner/).click()
  await page.getByLabel('Devices').fill('2')
  await page.getByLabel('Join without my approval').uncheck()
  await page.getByRole('button', { name: 'Show how' }).click()
  await page.getByText('0 of 2 have joined. The next one has not come yet.').waitFor()
  const command = await page.locator('pre').first().innerText()
  const invitationCode = /GATEWAY_INVITATION_CODE=(\S+)/.exec(command)![1]!

  const eye = { cameras: { orchard: { url: camera.mjpegUrl } }, sources: { eye: { cameras: ['orchard'] } } }
  const henHouse = await start({ name: 'Hen house', invitationCode, file: eye })
  const pump = await start({ name: 'Pump', invitationCode })
  const row = (name: string) =>
    page
      .getByRole('listitem')
      .filter({ has: page.getByText(name, { exact: true }) })
      .first()
  for (const { name, state } of [henHouse, pump]) {
    await row(name).getByText('Compare the fingerprint').waitFor(SLOW)
    await row(name).getByText(state().fingerprint, { exact: true }).waitFor()
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width)
  await page.getByRole('button', { name: 'It is the same: approve Hen house' }).click()
  await row('Hen house').getByText('Connected').waitFor()
  await page.getByRole('img', { name: 'orchard at Hen house' }).waitFor(SLOW)
  await row('Hen house')
    .getByText(/First picture after \d+ s$/)
    .waitFor()
  await row('Pump').getByText('Compare the fingerprint').waitFor()
  // It looks without a model, and the page opens where one is added.
  await row('Hen house').getByRole('link', { name: 'Add the detector' }).waitFor(SLOW)

  await page.getByRole('button', { name: 'It is the same: approve Pump' }).click()
  await row('Pump').getByRole('link', { name: 'Add a camera' }).waitFor(SLOW)
  // The page goes on after a reload, without the code.
  await page.reload()
  await page.getByRole('img', { name: 'orchard at Hen house' }).waitFor(SLOW)
  expect(await page.content()).not.toContain(invitationCode)

  await row('Hen house').getByRole('link', { name: 'Add the detector' }).click()
  await page.getByRole('heading', { name: 'Detector' }).waitFor(SLOW)
  await page.getByText(/names persons, cows/).waitFor()
})

test('a sheet of labels is made from a file, tells every wrong line, and is printed alone', async () => {
  await addPerson(hub, { username: 'rosa', role: 'user' })
  const { page, portal } = await open('/gateway-labels')
  const file = join(hub.dataDir, 'labels.csv')
  await writeFile(file, 'name;site;tags;owner\nGoat shed;Hill farm;goats;rosa\n;Mill;;\nFox den;;;nobody-here\n')
  await page.getByLabel('Or a CSV file').setInputFiles(file)
  await page.getByRole('button', { name: 'Make Labels' }).click()
  await page.getByText('Line 3: name: Enter a name', { exact: true }).waitFor()
  await page.getByText('Line 4: No active user has the name "nobody-here".').waitFor()
  await page.getByLabel('Lines of a spreadsheet').fill('Goat shed,Hill farm,goats,rosa\nFox den,Mill')
  await page.getByRole('button', { name: 'Make Labels' }).click()
  const label = page.getByRole('listitem').filter({ has: page.getByRole('img', { name: 'QR code of Goat shed' }) })
  await label.getByText('Hill farm').waitFor()
  const invitationCode = (await label.locator('code').innerText()).trim()
  expect(invitationCode).toMatch(/^([A-Z2-7]{4}-){4}[A-Z2-7]{4}$/)
  await page.emulateMedia({ media: 'print' })
  expect(await label.isVisible()).toBe(true)
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  expect(await page.getByRole('navigation').first().isVisible()).toBe(false)
  expect(await page.getByText('Print this now').isVisible()).toBe(false)
  await page.emulateMedia({ media: null })

  await start({ name: 'a-host', invitationCode })
  await page.getByRole('link', { name: 'Goat shed' }).waitFor(SLOW)
  expect((await hub.api(listGateways)).find(({ name }) => name === 'Goat shed')).toMatchObject({
    location: 'Hill farm',
    tags: ['goats'],
    owner: 'rosa',
  })
  await portal.navigation('Dashboard').click()
  await portal
    .dialog()
    .getByText(/not printed yet/)
    .waitFor()
  await portal.dialog().getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
})
