import { editHubSettings } from '@hedgerow/contract'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { reusePage, type ReusedPage } from '../harness/reused-page.ts'
import { addPerson } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { portalOf, type Portal } from '../harness/portal.ts'

const PASSWORD = 'four foxes in fog'
const SOON = { timeout: 20_000 }

let browser: BrowserHandle
let hub: Hub
let reused: ReusedPage
let page: Page
let portal: Portal

beforeAll(async () => {
  ;[browser, hub] = await Promise.all([startBrowser(), startHub()])
  reused = await reusePage(browser, [hub.url])
})

afterAll(async () => {
  await browser?.close()
  await hub?.stop()
})

beforeEach(async () => {
  page = await reused.next()
  portal = portalOf(page, hub)
})

const path = () => new URL(page.url()).pathname
const field = (label: string) => page.getByLabel(new RegExp(`^${label}( \\*)?$`))
const button = (name: string) => page.getByRole('button', { name, exact: true })
const alert = () => page.getByRole('alert')

/** The text beside a field, as assistive technology reads it. */
async function besideField(label: string): Promise<string> {
  const ids = (await field(label).getAttribute('aria-describedby')) ?? ''
  const texts = ids
    .split(' ')
    .filter(Boolean)
    .map((id) => page.locator(`[id="${id}"]`).innerText())
  return (await Promise.all(texts)).join(' | ')
}

async function register(values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await field(label).fill(value)
  await button('Create Account').click()
}

const ROSA = {
  'Invite code': 'ABCD-EFGH-JKMN-PQRS',
  'First name': 'Rosa',
  'Last name': 'Lind',
  Username: 'rosa',
  Email: 'rosa@farm.example',
  Password: PASSWORD,
  'Confirm password': PASSWORD,
}

const answerWith = (status: number, body: string, contentType: string) => (route: Route) =>
  route.fulfill({ status, body, contentType })
const BAD_GATEWAY = answerWith(502, '<html><h1>502 Bad Gateway</h1></html>', 'text/html')

describe('fields for password managers', () => {
  const fieldsOfForms = () =>
    page
      .locator('form')
      .evaluateAll((forms) =>
        forms.map((form) =>
          [...form.querySelectorAll('input')].map(({ name, type, autocomplete }) => `${name} ${type} ${autocomplete}`),
        ),
      )

  test('are in one form to sign in, which Enter sends', async () => {
    const keeper = await addPerson(hub, { username: 'keeper', role: 'user' })
    await portal.open('/login')
    await field('Username').waitFor()
    expect(await fieldsOfForms()).toEqual([['username text username', 'password password current-password']])
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('username')
    await page.keyboard.type(keeper.username)
    await page.keyboard.press('Tab')
    await page.keyboard.type(keeper.password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/gateways')
  })

  test('are in one form to create an account', async () => {
    await portal.open('/register')
    await field('Username').waitFor()
    expect(await fieldsOfForms()).toEqual([
      [
        'inviteCode text off',
        'firstName text given-name',
        'lastName text family-name',
        'username text username',
        'email email email',
        'password password new-password',
        'confirmPassword password new-password',
      ],
    ])
  })
})

describe('a password', () => {
  test('can be shown and hidden again by keyboard', async () => {
    await portal.open('/login')
    await field('Password').fill(PASSWORD)
    await page.keyboard.press('Tab')
    const eye = button('Show password')
    expect(await eye.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Space')
    await expect.poll(() => field('Password').getAttribute('type'), SOON).toBe('text')
    expect(await eye.getAttribute('aria-pressed')).toBe('true')
    await page.keyboard.press('Enter')
    await expect.poll(() => field('Password').getAttribute('type'), SOON).toBe('password')
    expect(await field('Password').inputValue()).toBe(PASSWORD)
    expect(path()).toBe('/login')
  })

  test.each([
    ['/login', 'Password'],
    ['/register', 'Confirm password'],
  ])('on %s shows a note while Caps Lock is on', async (address, label) => {
    await portal.open(address)
    await field(label).focus()
    const press = (modifierCapsLock: boolean) =>
      field(label).evaluate(
        (input, on) =>
          input.dispatchEvent(new KeyboardEvent('keydown', { key: 'A', modifierCapsLock: on, bubbles: true })),
        modifierCapsLock,
      )
    const note = page.getByText('Caps Lock is on.')
    await press(true)
    await note.waitFor()
    await press(false)
    await note.waitFor({ state: 'detached' })
    await press(true)
    await note.waitFor()
    await field(label).blur()
    await note.waitFor({ state: 'detached' })
    expect(path()).toBe(address)
  })
})

describe('a sign-in that fails', () => {
  test('names the empty fields', async () => {
    await portal.open('/login')
    await button('Sign In').click()
    await expect.poll(() => besideField('Username'), SOON).toBe('Enter your username')
    expect(await besideField('Password')).toBe('Enter your password')
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), SOON).toBe('username')
  })

  test('shows the hub’s own words, and returns focus to the password', async () => {
    await portal.open('/login')
    await portal.signIn({ username: 'rosa', password: 'wrong' })
    await alert().getByText('The username or the password is wrong.', { exact: true }).waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')), SOON).toBe('password')
    expect(await field('Username').inputValue()).toBe('rosa')
  })

  test('for a forgotten password shows what to do', async () => {
    await portal.open('/login')
    await page.getByText('Forgot it?').click()
    await page.getByText('npm run hub -- reset-password NAME').waitFor()
    expect(path()).toBe('/login')
  })

  test('shows its own words when the hub sends none, with the reason', async () => {
    await portal.open('/login')
    const failed = alert().getByText('Login failed. Please try again.', { exact: true })
    await page.route('**/api/v1/auth/login', BAD_GATEWAY)
    await portal.signIn({ username: 'rosa', password: PASSWORD })
    await failed.waitFor()
    await alert().getByText('The hub answered with status 502.').waitFor()
    await page.unroute('**/api/v1/auth/login')
    await page.route('**/api/v1/auth/login', (route) => route.abort())
    await button('Sign In').click()
    await alert().getByText('The hub does not answer.').waitFor()
    await failed.waitFor()
    expect(path()).toBe('/login')
  })
})

describe('a registration', () => {
  test.each([
    [{ 'Confirm password': 'four foxes in dog' }, 'Confirm password', 'Passwords do not match'],
    [
      { Password: 'shorty7', 'Confirm password': 'shorty7' },
      'Password',
      'At least 8 characters. | Password must be at least 8 characters long',
    ],
    [{ Username: 'ro' }, 'Username', 'Username must be at least 3 characters long'],
    [{ 'Invite code': '   ' }, 'Invite code', 'Invite code is required'],
    [{}, 'Invite code', 'This invite code is invalid, used up or expired.'],
  ])('with %o says beside %s: %s', async (change, label, words) => {
    await portal.open('/register')
    await register({ ...ROSA, ...change })
    await expect
      .poll(async () => (await besideField(label)).split(' | ').toSorted(), SOON)
      .toEqual(words.split(' | ').toSorted())
    expect(await field('First name').inputValue()).toBe('Rosa')
  })

  test('that is refused shows the hub’s reason, or its own without one', async () => {
    await portal.open('/register')
    const answers: [Parameters<Page['route']>[1], string][] = [
      [BAD_GATEWAY, 'Registration failed'],
      [(route) => route.abort(), 'Registration failed'],
      [
        answerWith(
          400,
          JSON.stringify({ errors: [{ defaultMessage: 'One' }, { message: 'two' }] }),
          'application/json',
        ),
        'One, two',
      ],
      [answerWith(400, 'Not today.', 'text/plain'), 'Not today.'],
      [answerWith(503, JSON.stringify({ error: 'Busy' }), 'application/json'), 'Busy'],
    ]
    for (const [answer, words] of answers) {
      await page.route('**/api/v1/auth/register', answer)
      await register(ROSA)
      await alert().getByText(words, { exact: true }).waitFor()
      await page.unroute('**/api/v1/auth/register')
    }
    expect(path()).toBe('/register')
  })

  test('that is refused because of another account says so', async () => {
    await addPerson(hub, { username: 'taken', role: 'user' })
    await hub.api(editHubSettings, { body: { inviteCodeRequired: false } })
    await portal.open('/register')
    const { 'Invite code': _, ...open } = ROSA
    await register({ ...open, Username: 'taken' })
    await expect
      .poll(() => besideField('Username'), SOON)
      .toBe('This username is taken, or looks like one that is taken.')
    expect(path()).toBe('/register')
    await hub.api(editHubSettings, { body: { inviteCodeRequired: true } })
  })

  test('that succeeds says so, and 2 seconds later opens the sign-in', async () => {
    await hub.api(editHubSettings, { body: { inviteCodeRequired: false } })
    onTestFinished(() => page.close())
    await page.clock.install()
    // The form is there before its question is answered, and the leap would exceed the question's time limit.
    const answered = page.waitForResponse('**/api/v1/auth/registration-info')
    await portal.open('/register')
    await (await answered).finished()
    await field('Username').waitFor()
    await page.clock.pauseAt(Date.now() + 3_600_000)
    const { 'Invite code': _, ...open } = ROSA
    await register(open)
    await page.getByText('Registration successful! You can now log in.', { exact: true }).waitFor()
    await page.clock.runFor(1_900)
    expect(path()).toBe('/register')
    await page.clock.runFor(200)
    await page.waitForURL('**/login')
    await page.clock.resume()
    await portal.signIn({ username: 'rosa', password: PASSWORD })
    await page.waitForURL('**/gateways')
    await portal.open('/register')
    await page.waitForURL('**/dashboard')
    await hub.api(editHubSettings, { body: { inviteCodeRequired: true } })
  })
})

describe('the film of the demo', () => {
  test('has a picture without controls until it is played, by keyboard, from anywhere', async () => {
    const fetched: string[] = []
    page.on('response', (response) => fetched.push(`${new URL(response.url()).pathname} ${response.status()}`))
    await portal.open('/')
    const video = page.getByLabel('Demo of the hub')
    await page.getByRole('img', { name: /^The hub’s Threats/ }).scrollIntoViewIfNeeded()
    await page.waitForLoadState('networkidle')
    expect(await video.isVisible()).toBe(false)
    expect(fetched.filter((one) => /\/media\/demo\.(webm|mp4)/.test(one))).toEqual([])
    await page.getByRole('link', { name: 'Play the film' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => fetched, SOON).toContain('/media/demo.webm 206')
    const now = () => video.evaluate((element) => (element as HTMLVideoElement).currentTime)
    await expect.poll(now, SOON).toBeGreaterThan(0)
    await page.keyboard.press('Space')
    await expect.poll(() => video.evaluate((element) => (element as HTMLVideoElement).paused), SOON).toBe(true)
    await video.evaluate((element) => {
      ;(element as HTMLVideoElement).currentTime = 25
    })
    await expect.poll(() => video.evaluate((element) => (element as HTMLVideoElement).seeking), SOON).toBe(false)
    expect(await now()).toBe(25)
    const cues = await video.evaluate(async (element) => {
      const { track } = element.querySelector('track')!
      track.mode = 'hidden'
      while (!track.cues?.length) await new Promise((resolve) => setTimeout(resolve, 50))
      return [...track.cues].map((cue) => (cue as VTTCue).text)
    })
    expect(cues.length).toBeGreaterThan(6)
  })
})
