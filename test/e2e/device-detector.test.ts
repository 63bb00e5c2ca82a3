import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { modelsFolder } from '../../apps/gateway/src/models/store.ts'
import { putKnownModel } from '../../apps/gateway/testing/known-model.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { signInToDevice, startDevice } from '../harness/device.ts'
import { textEditor } from '../harness/text-editor.ts'

/** npm fetches 17 MB, so `npm test` leaves it out; `.ci/run` does not. */
const isAsked = process.env['TEST_INSTALLS'] === 'on'
if (!isAsked) process.stdout.write('skipped: the detector by a button: npm run test:installs runs it\n')

const FILE = `# Nothing here is mine to change.
cameras:   { orchard: { url: "http://127.0.0.1:9/" } }
sources:
    eye:
        cameras: [ orchard ]   # the only one
`
const AFTER = `${FILE}        model: ssdlite-coco\n`
const FETCH_MS = 120_000

let browser: BrowserHandle
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser?.close())

/** A person who knows the device's password, at its Configuration. */
async function openConfiguration() {
  const { gateway, dataDir, file } = await startDevice(FILE)
  const person = await browser.person()
  onTestFinished(() => person.close())
  const page = await person.newPage()
  await signInToDevice(page, gateway)
  await page.getByRole('link', { name: 'Configuration' }).click()
  await page.getByText('No model looks: this device reports motion').waitFor()
  return { page, dataDir, file, readFile: () => readFile(file, 'utf8') }
}

test('a person sees which model looks, why a detector was not added, and takes one that is there', async () => {
  vi.stubEnv('npm_config_offline', 'true')
  const npmCache = await mkdtemp(join(tmpdir(), 'hedgerow-npm-'))
  onTestFinished(() => rm(npmCache, { recursive: true, force: true }))
  vi.stubEnv('npm_config_cache', npmCache)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { page, dataDir, readFile: read } = await openConfiguration()
  expect(await page.getByRole('link', { name: 'Apache-2.0' }).getAttribute('href')).toMatch(/^https:.*LICENSE-2\.0$/)
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Accept Apache-2.0 and add ssdlite-coco' }).click()
  await page.getByText(/^It was not added: .*npm cannot fetch .*\(model_not_fetched\)$/).waitFor()
  expect(await read()).toBe(FILE)

  await putKnownModel(modelsFolder(dataDir), { name: 'ssdlite-coco' })
  await page.reload()
  const look = page.getByRole('button', { name: 'Look with ssdlite-coco' })
  const editor = textEditor(page)
  await editor.fill(`${FILE}# mine\n`)
  await expect.poll(() => look.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Undo all changes' }).click()
  await look.click()
  await page.getByText('ssdlite-coco looks at the cameras.').waitFor()
  expect(await read()).toBe(AFTER)
  await expect.poll(() => editor.text()).toBe(AFTER)
})

test.skipIf(!isAsked)(
  'one click fetches the detector, and another looks with it',
  async () => {
    const { page, readFile: read } = await openConfiguration()
    await page.getByRole('button', { name: 'Accept Apache-2.0 and add ssdlite-coco' }).click()
    await page.getByRole('button', { name: 'Look with ssdlite-coco' }).click({ timeout: FETCH_MS })
    await page.getByText('ssdlite-coco looks at the cameras.').waitFor()
    expect(await read()).toBe(AFTER)
  },
  2 * FETCH_MS,
)
