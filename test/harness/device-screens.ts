import type { Page } from 'playwright-core'
import { DEVICE_API_BASE, DEVICE_UI_BASE } from '@hedgerow/contract'
import type { TestGateway } from './gateway.ts'
import type { Screen } from './screen.ts'

const cookies = new WeakMap<TestGateway, Promise<string>>()

/** Signs in once for all screens. */
function cookieOf(gateway: TestGateway): Promise<string> {
  const known = cookies.get(gateway)
  if (known) return known
  const { origin } = new URL(gateway.pageUrl)
  const cookie = fetch(`${origin}${DEVICE_API_BASE}/v1/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ password: gateway.newPassword }),
  }).then((answer) => answer.headers.getSetCookie()[0]!.split(';')[0]!)
  cookies.set(gateway, cookie)
  return cookie
}

/** A screen of the device's own interface, as seen by somebody who knows the password. */
const device = (
  name: string,
  path: string,
  steps: (page: Page) => Promise<unknown>,
  which: 'waiting' | 'orchard' = 'waiting',
): Screen => ({
  name,
  async show(page, { [which]: gateway }) {
    const [cookie = '', value = ''] = (await cookieOf(gateway)).split('=')
    await page.context().addCookies([{ name: cookie, value, url: gateway.pageUrl, sameSite: 'Strict' }])
    await page.goto(`${new URL(gateway.pageUrl).origin}${DEVICE_UI_BASE}/${path}`)
    await page.locator('main h1').waitFor()
    await steps(page)
  },
})

/** The screens of the device's own interface, after the public page. */
export const deviceScreens: Screen[] = [
  {
    name: 'device-sign-in',
    async show(page, { waiting }) {
      await page.goto(`${new URL(waiting.pageUrl).origin}${DEVICE_UI_BASE}/sign-in`)
      await page.getByLabel('Password of this device').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('The password is wrong.').waitFor()
    },
  },
  device('device-now', '', (page) => page.getByText('has to approve this device').waitFor()),
  device('device-detections', 'detections', (page) =>
    page.getByRole('list', { name: 'Detections' }).getByRole('button').first().waitFor(),
  ),
  device('device-detection-open', 'detections', async (page) => {
    await page.getByRole('list', { name: 'Detections' }).getByRole('button').first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Play clip' }).click()
    await page.getByText('There is no clip of this detection.').waitFor()
  }),
  device('device-camera', 'cameras/bank', async (page) => {
    await page.getByRole('button', { name: 'zone path' }).click()
    await page.getByLabel('Name of the zone').waitFor()
  }),
  device('device-add-camera', 'add-camera', (page) => page.getByRole('button', { name: 'Search' }).waitFor()),
  device('device-deterrents', 'deterrents', (page) =>
    page.getByRole('button', { name: 'Hold to test' }).first().waitFor(),
  ),
  device('device-add-deterrent', 'add-deterrent', async (page) => {
    await page.getByLabel('Kind').selectOption('opensprinkler')
    await page.getByText(/^Fires for 10 s, then waits 30 s\./).waitFor()
  }),
  device('device-edit-deterrent', 'deterrents', async (page) => {
    await page
      .getByRole('link', { name: /^Edit / })
      .first()
      .click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
  }),
  device('device-rules', 'rules', (page) => page.getByText(/: fires Sprinkler\.$/).waitFor()),
  device('device-rule-form', 'rules', async (page) => {
    await page
      .getByRole('button', { name: /^Edit / })
      .first()
      .click()
    await page
      .getByText(/^It would (?:not )?have fired /)
      .last()
      .waitFor()
    await page.getByRole('dialog').getByText('It fires also while a person is there').click()
  }),
  device('device-learning', 'learning', (page) => page.getByRole('heading', { name: 'Learning' }).waitFor()),
  device(
    'device-learned-names',
    'learning',
    (page) => page.getByRole('button', { name: 'Undo version 1' }).waitFor(),
    'orchard',
  ),
  device(
    'device-camera-covered',
    'cameras/pond',
    async (page) => {
      // The gateway waits a minute before it believes it.
      await page.getByText('Before and after').waitFor({ timeout: 120_000 })
      await page.getByRole('img', { name: 'pond now' }).waitFor()
    },
    'orchard',
  ),
  device('device-sources', 'configuration/sources', (page) => page.getByLabel('User of Frigate').waitFor()),
  device('device-configuration', 'configuration', async (page) => {
    await page.getByRole('textbox', { name: 'gateway.yaml' }).fill('rules:\n  - { name: A }\n')
    await page.getByRole('button', { name: 'Line 2, column 5' }).first().waitFor()
  }),
]
