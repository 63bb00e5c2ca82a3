import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startShelly } from '../../apps/gateway/testing/device-servers.ts'
import { startMdnsResponder } from '../../apps/gateway/testing/mdns-responder.ts'
import { multicastLacks } from '../../apps/gateway/testing/onvif-camera.ts'
import { startOpenSprinkler } from '../../apps/gateway/testing/opensprinkler.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { parseDeviceFile } from '../../apps/gateway/src/device-file/parse.ts'
import { signInToDevice, startDevice } from '../harness/device.ts'

/** A person sets up what the gateway can switch, in its own interface, with devices in its network. */
let browser: BrowserHandle
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser?.close())

const SECRET = 'correct-horse-9'
const NEIGHBOUR = '127.0.0.2'
const GROUP = '239.255.42.98'
const FILE = `# Water by the gate
deterrents:
  # the old one
  hose: { driver: tasmota, address: "http://127.0.0.3", seconds: 5 }   # since spring
rules:
  - { name: boar, labels: [boar], fire: [hose] }
`
const PHONE = { viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' } as const
const DESKTOP = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const

async function until<T extends { stop(): Promise<void> }>(started: Promise<T>): Promise<T> {
  const device = await started
  onTestFinished(() => device.stop())
  return device
}

async function startSite() {
  const sprinkler = await until(startOpenSprinkler({ password: SECRET, host: NEIGHBOUR }))
  const shelly = await until(startShelly(SECRET, { host: NEIGHBOUR, outputName: 'Siren' }))
  const responder = await until(
    startMdnsResponder({
      address: NEIGHBOUR,
      group: GROUP,
      announced: [{ instance: 'shelly', service: '_shelly._tcp.local', port: Number(new URL(shelly.address).port) }],
    }),
  )
  const { gateway, file } = await startDevice(FILE, {
    name: 'Gate',
    surroundings: {
      networks: [{ address: '127.0.0.1', netmask: '255.255.255.252' }],
      webPorts: [Number(new URL(sprinkler.address).port)],
      dns: responder.dns,
    },
  })
  return { sprinkler, shelly, gateway, file }
}

async function openScreen(site: Awaited<ReturnType<typeof startSite>>, options: object, path: string): Promise<Page> {
  const page = await (await browser.person(options)).newPage()
  await signInToDevice(page, site.gateway)
  await page.getByRole('heading', { name: 'Now' }).waitFor()
  await page.goto(`http://127.0.0.1:${site.gateway.port}/device/${path}`)
  return page
}

const hold = async (page: Page, name: string) => {
  await page.getByRole('button', { name }).hover()
  await page.mouse.down()
  await page.getByRole('button', { name: 'Keep holding' }).waitFor()
}

test('a kind that is written as text has an example to copy, which the device takes', async () => {
  const { gateway } = await startDevice(FILE, { name: 'Gate' })
  const page = await (await browser.person(PHONE)).newPage()
  await signInToDevice(page, gateway)
  await page.getByRole('link', { name: 'Deterrents' }).click()
  await page.getByRole('link', { name: 'Add a sprinkler' }).click()
  for (const kind of ['http', 'command']) {
    await page.getByLabel('Kind').selectOption(kind)
    const example = page.locator('pre', { hasText: `driver: ${kind}` })
    const { value, errors } = parseDeviceFile(`deterrents:\n${await example.textContent()}`, {
      folder: '.',
      environment: {},
    })
    expect(errors).toBeUndefined()
    expect(Object.keys(value!.deterrents)).toEqual(['valve'])
    await page.getByRole('button', { name: 'Copy the example' }).waitFor()
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeViolations(page)).toEqual([])
  // Nothing was written, so nothing is lost.
  await page.getByText('This kind is written as text').getByRole('link', { name: 'Configuration' }).click()
  await page.getByRole('heading', { name: 'Configuration' }).waitFor()
})

const lacks = await multicastLacks(GROUP)

test.skipIf(lacks)('on a phone: find a sprinkler, connect, test, stop, limit, save and undo', async () => {
  const site = await startSite()
  const { sprinkler, file } = site
  const page = await openScreen(site, PHONE, 'deterrents')
  await page.getByRole('link', { name: 'Add a sprinkler' }).click()
  await page.getByRole('button', { name: 'Search' }).click()
  const found = page.getByRole('list', { name: 'Found devices' })
  await found.getByText('shellyplus1-a8032abe54dc, SNSW-001X16EU').waitFor()
  await page.getByRole('button', { name: `Use OpenSprinkler 2.2.1 at ${sprinkler.address}` }).click()
  expect(await page.getByLabel('Kind').inputValue()).toBe('opensprinkler')

  const secret = page.getByRole('textbox', { name: 'Password' })
  await secret.fill('wrong-horse-8')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByText('The device refused the password.').waitFor()
  await secret.fill(SECRET)
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByLabel('What it switches').selectOption({ label: 'Station 3: Orchard, off now' })
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Orchard')
  expect(sprinkler.running()).toEqual([])

  await page.getByText(/^Fires for 10 s, then waits 30 s\. At most 5 min an hour and 10 min a day\. A person/).waitFor()
  await page.getByLabel('What blocks it').selectOption('none')
  await page.getByLabel('Seconds a day, at most').fill('60')
  await page.getByText('Fires for 10 s, then waits 30 s. At most 60 s a day. People do not block it.').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeViolations(page)).toEqual([])

  await hold(page, 'Hold to test 3 s')
  await page.getByText('It reported that it switched on, for 3 s. Was it the right one?').waitFor()
  await page.mouse.up()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByText('Stopped.').waitFor()
  await expect.poll(() => sprinkler.running()).toEqual([])
  expect(sprinkler.seconds()).toBeNull()
  expect(await readFile(file, 'utf8')).toBe(FILE)

  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. It is active.').waitFor()
  const written = [
    '  Orchard:',
    '    driver: opensprinkler',
    `    address: "${sprinkler.address}"`,
    `    password: ${SECRET}`,
    '    station: 3',
    '    seconds: 10',
    '    coolDownSeconds: 30',
    '    secondsADay: 60',
    '    watchedBy: []',
  ]
  expect(await readFile(file, 'utf8')).toBe(FILE.replace('\nrules:', `\n${written.join('\n')}\nrules:`))
  await page.getByRole('list', { name: 'Deterrents' }).getByText('Orchard').waitFor()

  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The file is as it was before the last save.').waitFor()
  expect(await readFile(file, 'utf8')).toBe(FILE)
})

test('on a desktop, by keyboard: a Shelly by its address, its limits changed, and deleted', async () => {
  const site = await startSite()
  const { shelly, file } = site
  const page = await openScreen(site, DESKTOP, 'add-deterrent')
  await page.getByLabel('Kind').focus()
  await page.keyboard.type('Shelly')
  await page.getByLabel('Address').focus()
  await page.keyboard.type('127.0.0.2')
  await page.keyboard.press('Enter')
  await page.getByText('This must be an http:// or https:// address.').waitFor()
  await page.getByLabel('Address').fill(shelly.address)
  await page.getByRole('textbox', { name: 'Password' }).fill(SECRET)
  await page.keyboard.press('Enter')
  await page.getByLabel('What it switches').focus()
  await page.keyboard.type('Output 0: Siren, off now')
  await page.getByLabel('Name', { exact: true }).fill('hose')
  await page.getByText('gateway.yaml has a deterrent of this name already.').waitFor()
  const press = page.getByRole('button', { name: 'Hold to test 3 s' })
  expect(await press.isDisabled()).toBe(true)
  await page.getByLabel('Name', { exact: true }).fill('siren')
  await press.focus()
  await page.keyboard.down('Space')
  await page.getByText('It reported that it switched on, for 3 s. Was it the right one?').waitFor()
  await page.keyboard.up('Space')
  await page.getByLabel('Seconds of a firing').fill('0')
  await page.getByRole('button', { name: 'Save' }).press('Enter')
  await expect.poll(() => page.getByLabel('Seconds of a firing').getAttribute('aria-invalid')).toBe('true')
  expect(await readFile(file, 'utf8')).toBe(FILE)
  await page.getByLabel('Seconds of a firing').fill('4')
  await page.getByRole('button', { name: 'Save' }).press('Enter')
  await page.getByText('Saved. It is active.').waitFor()

  await page.getByRole('link', { name: 'Edit siren' }).press('Enter')
  expect(await page.getByLabel('Kind').isDisabled()).toBe(true)
  await page.getByLabel('Seconds to wait after a firing').fill('90')
  await page.getByLabel('Quiet hours').fill('at night')
  await page.getByRole('button', { name: 'Save' }).press('Enter')
  await expect.poll(() => page.getByLabel('Quiet hours').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Quiet hours').fill('22:00-06:00')
  await page.getByText(/^Nothing and nobody fires it 22:00-06:00\. Fires for 4 s/).waitFor()
  await page.getByRole('button', { name: 'Save' }).press('Enter')
  await page.getByText('Saved. It is active.').waitFor()
  expect(await readFile(file, 'utf8')).toContain('    seconds: 4\n    coolDownSeconds: 90\n')
  expect(await readFile(file, 'utf8')).toContain('    quietHours: "22:00-06:00"\n')

  await page.getByRole('button', { name: 'Delete hose' }).press('Enter')
  await page.getByRole('dialog', { name: 'hose is in use' }).getByText('The rule boar fires it.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).press('Enter')
  await page.getByRole('button', { name: 'Delete siren' }).press('Enter')
  await page.getByRole('dialog', { name: 'Delete siren' }).getByRole('button', { name: 'Delete' }).press('Enter')
  await page
    .getByRole('list', { name: 'Deterrents' })
    .getByText('siren', { exact: true })
    .waitFor({ state: 'detached' })
  expect(await readFile(file, 'utf8')).toBe(FILE)
})
