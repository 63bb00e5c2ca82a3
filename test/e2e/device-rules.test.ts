import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startRelay } from '../../apps/gateway/testing/relay.ts'
import { axeViolations } from '../harness/axe.ts'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { signInToDevice, startDevice } from '../harness/device.ts'

/** A person writes rules as forms, on the own interface of a gateway without a hub. */
let browser: BrowserHandle
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser?.close())

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

async function startFarm() {
  const relay = await startRelay()
  onTestFinished(() => relay.stop())
  const device = `driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" }, coolDownSeconds: 0`
  const text = `# The farm, by the stream
cameras:
  gate: { url: "http://127.0.0.1:9/gate", zones: { rows: [[0, 0], [1, 0], [1, 1]] } }
sources:
  eye: { cameras: [gate], model: demonstration }  # drawn scenes
deterrents:
  valve: { ${device} }
  horn:  { ${device} }

rules:
  # Water first.
  - name: Boar   # they come in October
    labels: [boar]
    fire: [valve] # the big one
  - { name: Fox, labels: [fox], fire: [horn], enabled: false }
# the end
`
  const { gateway, file } = await startDevice(text, { name: 'Farm by the stream' })
  const seen = (id: string, label: string, minutes: number) => ({
    id,
    camera: 'gate',
    label,
    severity: 'alert' as const,
    score: 0.9,
    startedAt: minutesAgo(minutes),
    endedAt: minutesAgo(minutes - 1),
  })
  await gateway.reportDetections([seen('b1', 'boar', 90), seen('f1', 'fox', 60), seen('f2', 'fox', 30)])
  return { gateway, text, read: () => readFile(file, 'utf8') }
}

async function openRules(page: Page, { gateway }: Awaited<ReturnType<typeof startFarm>>) {
  await signInToDevice(page, gateway)
  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByRole('button', { name: 'Add a rule' }).waitFor()
}

/** Moves by Tab alone until the element has focus. */
async function tabTo(page: Page, what: Locator) {
  for (let presses = 0; presses < 150; presses++) {
    if (await what.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('Tab never reaches it.')
}

test('on a phone a rule is added, switched off, deleted and undone; the rest of the file keeps its bytes', async () => {
  const farm = await startFarm()
  const person = await browser.person({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    reducedMotion: 'reduce',
  })
  const page = await person.newPage()
  await openRules(page, farm)
  const list = page.getByRole('list', { name: 'Rules' })
  await list.getByText('It would have fired once in the last 24 hours.').waitFor()

  await page.getByRole('button', { name: 'Add a rule' }).tap()
  const form = page.getByRole('dialog', { name: 'Add a rule' })
  const what = form.getByRole('group', { name: 'When it sees' })
  expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await what.getByLabel('any animal').tap()
  await form.getByRole('group', { name: 'Then it fires' }).getByLabel('horn').tap()
  await form.getByText('Animal on any camera: fires horn.').waitFor()
  await form.getByText('It would have fired 3 times in the last 24 hours.').waitFor()
  await form.getByText('At which detections').tap()
  await expect
    .poll(() => form.getByRole('list', { name: 'It would have fired at' }).getByRole('listitem').count())
    .toBe(3)
  await what.getByLabel('any animal').tap()
  await what.getByLabel('fox', { exact: true }).tap()
  await form.getByRole('group', { name: 'In the zones' }).getByLabel('rows').tap()
  await form.getByLabel('Seconds').fill('7')
  await form.getByText('Fox on any camera, in rows: fires horn for 7 s.').waitFor()
  await form.getByText('It would not have fired in the last 24 hours.').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeViolations(page)).toEqual([])
  await form.getByLabel('Name').fill('Fox in the rows')
  await form.getByRole('button', { name: 'Save' }).tap()
  await form.waitFor({ state: 'hidden' })
  await list.getByText('Fox in the rows', { exact: true }).waitFor()
  const added = '  - name: "Fox in the rows"\n    labels: [fox]\n    zones: [rows]\n    fire: [horn]\n    seconds: 7\n'
  const withRule = farm.text.replace('# the end', `${added}# the end`)
  expect(await farm.read()).toBe(withRule)

  await list.getByLabel('Boar is on').tap()
  await list.getByText('Switched off. Boar on any camera: fires valve.').waitFor()
  expect(await farm.read()).toBe(withRule.replace('# the big one\n', '# the big one\n    enabled: false\n'))

  await page.getByRole('button', { name: 'Delete Boar' }).tap()
  await page.getByRole('dialog', { name: 'Delete the rule Boar' }).getByRole('button', { name: 'Delete' }).tap()
  await expect.poll(() => list.getByText('Boar', { exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Undo', exact: true }).tap()
  await list.getByText('Switched off. Boar on any camera: fires valve.').waitFor()
  expect(await farm.read()).toBe(withRule.replace('# the big one\n', '# the big one\n    enabled: false\n'))
  expect(await page.getByRole('button', { name: 'Undo', exact: true }).count()).toBe(0)
})

test('with the keyboard alone a rule is changed, and compared with what it did before', async () => {
  const farm = await startFarm()
  const person = await browser.person({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  await openRules(page, farm)
  await tabTo(page, page.getByRole('button', { name: 'Edit Boar' }))
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'Rule Boar' })
  await form.waitFor()
  await tabTo(page, form.getByRole('group', { name: 'When it sees' }).getByLabel('fox', { exact: true }))
  await page.keyboard.press('Space')
  await form.getByText('It would have fired 3 times in the last 24 hours. As it is now: once.').waitFor()
  await tabTo(page, form.getByLabel('At these times'))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await form.getByLabel('From').waitFor()
  await tabTo(page, form.getByRole('group', { name: 'On these days' }).getByLabel('Sun'))
  await page.keyboard.press('Space')
  await form.getByText(/from 22:00 to 06:00, on Monday, .* and Saturday: fires valve/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await tabTo(page, form.getByRole('button', { name: 'Save' }))
  await page.keyboard.press('Enter')
  await form.waitFor({ state: 'hidden' })
  expect(await farm.read()).toBe(
    farm.text
      .replace('[boar]\n', '[boar, fox]\n')
      .replace(
        '# the big one\n',
        '# the big one\n    hours: "22:00-06:00"\n    days: [monday, tuesday, wednesday, thursday, friday, saturday]\n',
      ),
  )
})

test('an error is told beside its field, and nothing is saved; so is a file that changed meanwhile', async () => {
  const farm = await startFarm()
  const person = await browser.person({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  await openRules(page, farm)
  await page.getByRole('button', { name: 'Edit Boar' }).click()
  const form = page.getByRole('dialog', { name: 'Rule Boar' })
  const where = form.getByRole('group', { name: 'In the zones' })
  await where.getByLabel('rows').check()
  await form.getByText(/, in rows: fires valve\.$/).waitFor()

  // Meanwhile somebody deletes the zone.
  const path = new URL(`http://127.0.0.1:${farm.gateway.port}/device/api/v1/settings`)
  const elsewhere = await page.evaluate(async (address) => {
    const { hash } = (await (await fetch(address)).json()) as { hash: string }
    const answer = await fetch(address, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ edits: [{ path: ['cameras', 'gate', 'zones'] }], hash }),
    })
    return answer.status
  }, path.href)
  expect(elsewhere).toBe(200)
  const theirs = await farm.read()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('The file was changed meanwhile.').first().waitFor()
  await form.getByRole('button', { name: 'Load it again' }).click()
  const sentence = where.getByText(/^There is no zone rows/)
  await sentence.waitFor()
  expect(await where.getAttribute('aria-describedby')).toBe(await sentence.getAttribute('id'))
  await form.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => where.getByLabel('rows').evaluate((box) => box === document.activeElement)).toBe(true)
  expect(await form.getByText(/There is no zone rows/).count()).toBe(1)
  expect(await farm.read()).toBe(theirs)
  await where.getByLabel('rows').click()
  await form.getByText('Boar on any camera: fires valve.').waitFor()
  await sentence.waitFor({ state: 'hidden' })
})

test('a save that is under way when a rule is opened is no conflict; no preview is refused after one', async () => {
  const farm = await startFarm()
  const person = await browser.person({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  const refused: string[] = []
  page.on('response', (answer) => void (answer.status() === 409 && refused.push(answer.url())))
  await openRules(page, farm)
  // The file is slow to be read again after the save.
  const { promise: opened, resolve: read } = Promise.withResolvers<void>()
  await page.route('**/device/api/v1/settings', async (route) => {
    if (route.request().method() === 'GET') await opened
    await route.continue()
  })
  const place = page.getByRole('region', { name: 'Place and time zone' })
  await place.getByLabel('Latitude').fill('47.5')
  await place.getByLabel('Longitude').fill('8.7')
  await place.getByRole('button', { name: 'Save' }).click()
  await expect.poll(farm.read).toContain('latitude')
  await page.getByRole('button', { name: 'Add a rule' }).click()
  const form = page.getByRole('dialog', { name: 'Add a rule' })
  await form.getByRole('group', { name: 'When it sees' }).getByLabel('fox', { exact: true }).check()
  await form.getByRole('group', { name: 'Then it fires' }).getByLabel('horn').check()
  await form.getByText('Working it out …').waitFor()
  read()
  await form.getByText('Fox on any camera: fires horn.').waitFor()
  await form.getByLabel('Name').fill('Fox at once')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'hidden' })
  expect(await farm.read()).toContain('Fox at once')

  await page.getByRole('button', { name: 'Edit Fox at once' }).click()
  const other = page.getByRole('dialog', { name: 'Rule Fox at once' })
  await other.getByLabel('Seconds').fill('7')
  await other.getByText('Fox on any camera: fires horn for 7 s.').waitFor()
  await other.getByRole('button', { name: 'Save' }).click()
  await other.waitFor({ state: 'hidden' })
  expect(refused).toEqual([])
})

test('at night: the place is given in the form of the rule', async () => {
  const farm = await startFarm()
  const person = await browser.person({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  await openRules(page, farm)
  await page.getByRole('button', { name: 'Add a rule' }).click()
  const form = page.getByRole('dialog', { name: 'Add a rule' })
  await form.getByRole('group', { name: 'When it sees' }).getByLabel('boar', { exact: true }).check()
  await form.getByRole('group', { name: 'Then it fires' }).getByLabel('horn').check()
  await form.getByLabel('At these times').selectOption('night')
  const place = form.getByRole('group', { name: 'Place of this gateway' })
  await place.getByLabel('Latitude').fill('47.5')
  await place.getByLabel('Longitude').fill('8.7')
  await form.getByText(/^Boar on any camera, from sunset to sunrise: fires horn\.$/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'hidden' })
  const text = await farm.read()
  expect(text).toContain('hours: sunset-sunrise')
  expect(text).toContain('site:\n  latitude: 47.5\n  longitude: 8.7\n')
})

test('a label that no detector has is told where it is added, before a deterrent is chosen', async () => {
  const farm = await startFarm()
  const person = await browser.person({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  await openRules(page, farm)
  await page.getByRole('button', { name: 'Add a rule' }).click()
  const form = page.getByRole('dialog', { name: 'Add a rule' })
  await form.getByLabel('Another label').fill('wolverine')
  await form.getByRole('button', { name: 'Add label' }).click()
  const what = form.getByRole('group', { name: 'When it sees' })
  await what.getByText('No detector of this gateway says wolverine.').waitFor()
  await form.getByRole('link', { name: 'model of the detector' }).waitFor()
  expect(await form.getByText('This must').count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
  await form.getByRole('group', { name: 'Then it fires' }).getByLabel('horn').check()
  await form.getByText('What it means appears when the errors are corrected: see “When it sees” above.').waitFor()
  await what.getByLabel('wolverine').click()
  await what.getByLabel('boar', { exact: true }).check()
  await form.getByText('Boar on any camera: fires horn.').waitFor()
  expect(await form.getByText('No detector of this gateway').count()).toBe(0)
})

test('place, second look and learning are small forms: an empty field takes its value out again', async () => {
  const farm = await startFarm()
  const person = await browser.person({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  await openRules(page, farm)
  const place = page.getByRole('region', { name: 'Place and time zone' })
  await place.getByLabel('Latitude').fill('47.5')
  await place.getByRole('button', { name: 'Save' }).click()
  await place.getByText('Give latitude and longitude, or neither.').waitFor()
  await place.getByLabel('Longitude').fill('8.7')
  await place.getByLabel('Time zone').fill('Europe/Zurick')
  await place.getByRole('button', { name: 'Save' }).click()
  await place.getByText(/^This is not the name of a time zone.* The nearest is Europe\/Zurich\.$/).waitFor()
  expect(await farm.read()).toBe(farm.text)
  await place.getByLabel('Time zone').fill('Europe/Zurich')
  await place.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. It is active.').waitFor()
  const [head, end] = farm.text.split('# the end')
  const site = 'site:\n  latitude: 47.5\n  longitude: 8.7\n  timeZone: "Europe/Zurich"\n'
  expect(await farm.read()).toBe(`${head}${site}# the end${end}`)

  const look = page.getByRole('region', { name: 'Second look' })
  await look.getByLabel('Labels').fill('boar, fox')
  await look.getByRole('button', { name: 'Save' }).click()
  await look.getByText('Say who looks: one of `model`, `endpoint` and `hub`.').waitFor()
  await look.getByLabel('Address of an own endpoint').fill('http://127.0.0.1:9')
  await look.getByLabel('Model at the endpoint').fill('llava')
  await look.getByRole('button', { name: 'Save' }).click()
  await expect.poll(farm.read).toContain('endpoint:\n    url: "http://127.0.0.1:9"\n    model: llava\n')
  for (const field of ['Labels', 'Address of an own endpoint', 'Model at the endpoint'])
    await look.getByLabel(field).fill('')
  await look.getByRole('button', { name: 'Save' }).click()
  await expect.poll(farm.read).not.toContain('secondLook')

  await page.getByRole('link', { name: 'Learning' }).click()
  const learning = page.getByRole('region', { name: 'How it learns' })
  await learning.getByLabel('Learning from reviews').selectOption('false')
  await learning.getByRole('button', { name: 'Save' }).click()
  await expect.poll(farm.read).toContain('learning:\n  enabled: false\n')
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect.poll(farm.read).not.toContain('learning')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})

test('sources are small forms: a secret that is left empty stays, and the rest keeps its bytes', async () => {
  const farm = await startFarm()
  const person = await browser.person({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await person.newPage()
  await openRules(page, farm)
  const name = page.getByRole('banner').getByTitle('Farm by the stream')
  expect(await name.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true)
  await page.getByRole('link', { name: 'Configuration' }).click()
  await page.getByRole('link', { name: 'Sources as forms' }).click()
  const frigate = page.getByRole('region', { name: 'Frigate', exact: true })
  await frigate.getByLabel('Address of Frigate').fill('http://127.0.0.1:9')
  await frigate.getByLabel('User of Frigate').fill('eye')
  await frigate.getByRole('button', { name: 'Save' }).click()
  await frigate.getByText('`user` and `password` belong together.').waitFor()
  expect(await farm.read()).toBe(farm.text)
  await frigate.getByRole('textbox', { name: 'Password of this user' }).fill('a plain one')
  await frigate.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. It is active.').waitFor()
  const saved = await farm.read()
  expect(saved).toContain('    user: eye\n    password: "a plain one"\n')
  await expect.poll(() => frigate.getByRole('textbox', { name: 'Password of this user' }).inputValue()).toBe('')
  const eye = page.getByRole('region', { name: 'The gateway’s own eye' })
  await eye.getByLabel('Lowest score of single labels').fill('boar: 0.7, fox')
  await eye.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => eye.getByLabel('Lowest score of single labels').getAttribute('aria-invalid')).toBe('true')
  await eye.getByLabel('Lowest score of single labels').fill('boar: 0.7')
  await eye.getByLabel('Days to keep recordings').fill('7')
  await eye.getByRole('button', { name: 'Save' }).click()
  await expect.poll(farm.read).toContain('scores: { boar: 0.7 }, recording: { days: 7 } }  # drawn scenes')
  expect(await farm.read()).toContain('password: "a plain one"')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeViolations(page)).toEqual([])
})
