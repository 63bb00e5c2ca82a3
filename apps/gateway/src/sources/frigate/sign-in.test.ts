import { afterEach, describe, expect, test } from 'vitest'
import { startFrigateSource, type TestSource } from '../../../testing/frigate-source.ts'
import { startFrigate, type TestFrigate } from '../../../../../test/harness/frigate.ts'
import type { FrigateAccess } from '../../../../../test/harness/frigate-sign-in.ts'

const life: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

const PASSWORD = 'correct horse battery'
const USERS = { users: { gateway: { password: PASSWORD, role: 'viewer' } } }
const PROXY = {
  isEnabled: false,
  proxySecret: 'between us two',
  userHeader: 'x-forwarded-user',
  roleHeader: 'x-forwarded-groups',
}

type Settings = Record<string, unknown> | ((frigate: TestFrigate) => Record<string, unknown>)

async function start(access: Partial<FrigateAccess>, settings: Settings) {
  const frigate = await startFrigate({ access })
  life.push(() => frigate.stop())
  const given = typeof settings === 'function' ? settings(frigate) : settings
  const source = await startFrigateSource({ url: frigate.secureUrl, ...given })
  life.push(() => source.stop())
  return { frigate, source }
}

async function seesABoar({ frigate, source }: { frigate: TestFrigate; source: TestSource }): Promise<void> {
  await expect.poll(() => frigate.viewers() === 1 && source.state().cameras.length === 2).toBe(true)
  const review = frigate.see()
  await expect.poll(() => source.detections().find(({ id }) => id === review.id)?.thumbnail).toBeDefined()
  frigate.end(review)
}

const problemsOf = (source: TestSource) => source.state().problems.join('\n')
const signIns = (frigate: TestFrigate) => frigate.requests.filter(({ path }) => path === '/api/login').length

describe('the port with sign-in', () => {
  test('lets the agent in as a viewer with user and password, by one sign-in', async () => {
    const { frigate, source } = await start(USERS, { user: 'gateway', password: PASSWORD })
    await seesABoar({ frigate, source })
    expect(source.state().problems).toEqual([])
    expect(signIns(frigate)).toBe(1)
    const [caller] = frigate.requests.filter(({ path }) => path === '/api/stats').map((request) => request.caller)
    expect(caller).toEqual({ user: 'gateway', role: 'viewer' })
  })

  test('that lost its sessions gets a new sign-in', async () => {
    const { frigate, source } = await start(USERS, { user: 'gateway', password: PASSWORD })
    await seesABoar({ frigate, source })
    frigate.endSessions()
    const review = frigate.see({ camera: 'yard' })
    await expect.poll(() => source.detections().find(({ id }) => id === review.id)?.thumbnail).toBeDefined()
    frigate.endSessions()
    frigate.cut()
    await seesABoar({ frigate, source })
    expect(source.state().problems).toEqual([])
  })

  test('refuses a wrong password: a problem in words, and no second try at once', async () => {
    const { frigate, source } = await start(USERS, { user: 'gateway', password: 'wrong' })
    await expect
      .poll(() => problemsOf(source))
      .toBe('Frigate answered 401 to the sign-in: user or password in gateway.yaml is wrong.')
    const connections = () => frigate.requests.filter(({ path }) => path === '/ws').length
    expect(connections()).toBe(0)
    expect(signIns(frigate)).toBe(1)
    expect(JSON.stringify(source.state())).not.toContain('wrong"')
  })

  test('asks for sign-in: a problem that says what to configure', async () => {
    const { source } = await start(USERS, {})
    await expect
      .poll(() => problemsOf(source))
      .toBe('Frigate answered 401: it asks for sign-in. Give user and password, or proxySecret, in gateway.yaml.')
  })

  test('whose user lacks the role is a problem that says so', async () => {
    const { frigate, source } = await start(USERS, { user: 'gateway', password: PASSWORD })
    await seesABoar({ frigate, source })
    frigate.behaviour.answer = {
      path: /^\/api\/stats/,
      with: (_request, response) => void response.writeHead(403).end(),
    }
    await source.restart()
    await expect
      .poll(() => problemsOf(source))
      .toContain('Frigate answered 403: its user for this gateway may not read that.')
  })
})

describe('a Frigate behind the agent as its proxy', () => {
  test('accepts the secret, and the agent as a viewer', async () => {
    const { frigate, source } = await start(PROXY, { proxySecret: PROXY.proxySecret })
    await seesABoar({ frigate, source })
    const callers = frigate.requests.map(({ caller }) => caller)
    expect(new Set(callers.map((caller) => caller?.role))).toEqual(new Set(['viewer']))
    expect(new Set(callers.map((caller) => caller?.user))).toEqual(new Set(['hedgerow-gateway']))
  })

  test('reads the headers of its own header map', async () => {
    const names = { userHeader: 'remote-person', roleHeader: 'remote-part' }
    const { frigate, source } = await start({ ...PROXY, ...names }, { proxySecret: PROXY.proxySecret, ...names })
    await seesABoar({ frigate, source })
    expect(source.state().problems).toEqual([])
  })

  test('with another secret is a problem in words', async () => {
    const { source } = await start(PROXY, { proxySecret: 'another' })
    await expect
      .poll(() => problemsOf(source))
      .toBe('Frigate answered 401: proxySecret in gateway.yaml is not its proxy.auth_secret.')
  })
})

/** An address of this machine that is not loopback. */
const elsewhere = (frigate: TestFrigate) => frigate.secureUrl.replace('127.0.0.1', '0.0.0.0')
const credentials = { user: 'gateway', password: PASSWORD }

describe('a certificate that no known CA signed', () => {
  test('on another machine is refused, and the problem says what to configure; then it is accepted', async () => {
    const { frigate, source } = await start(USERS, (own) => ({ ...credentials, url: elsewhere(own) }))
    await expect.poll(() => problemsOf(source)).toContain('certificateFingerprint')
    const [fingerprint] = /[0-9A-F]{64}/.exec(problemsOf(source)) ?? []
    expect(fingerprint).toBe(frigate.certificateFingerprint.replaceAll(':', ''))
    expect(frigate.requests).toEqual([])
    await source.restart({ ...credentials, url: elsewhere(frigate), certificateFingerprint: fingerprint })
    await seesABoar({ frigate, source })
  })

  test('is not accepted when the file names another one, also on this device', async () => {
    const { frigate, source } = await start(USERS, { ...credentials, certificateFingerprint: 'AB'.repeat(32) })
    await expect
      .poll(() => problemsOf(source))
      .toContain("Frigate's certificate is not the one of certificateFingerprint")
    expect(frigate.requests).toEqual([])
  })
})

test('plain HTTP to the port with TLS is a problem that says so', async () => {
  const { frigate, source } = await start(USERS, (own) => ({ url: own.url }))
  // The answer of nginx in front of Frigate.
  frigate.behaviour.answer = { path: /./, with: (_request, response) => void response.writeHead(400).end() }
  await source.restart()
  await expect.poll(() => problemsOf(source)).toBe('Frigate answered 400: its port may speak https only.')
})
