import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { buffer } from 'node:stream/consumers'
import { DEVICE_API_BASE, GATEWAY_PORT } from '@hedgerow/contract'
import { deviceCalls, type DeviceStatus } from '@hedgerow/contract/device-interface'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkDeclared } from '../../../testing/declared-error.ts'
import { startFixtureHub, type FixtureHub } from '../../../testing/hub.ts'
import { startOnvifCamera } from '../../../testing/onvif-camera.ts'
import { startRelay, type Relay } from '../../../testing/relay.ts'
import { startRenderedCamera } from '../../../testing/rendered-camera.ts'
import { newPassword } from '../../cli/new-password.ts'
import { startGateway, type Gateway } from '../../gateway.ts'
import { policy } from './policy.ts'

let dataDir: string
let hub: FixtureHub
let relay: Relay
let gateway: Gateway
let cookie: string
let password: string

type CallName = keyof typeof deviceCalls
const names = Object.keys(deviceCalls) as CallName[]

const until = (isSo: () => boolean) =>
  vi.waitFor(
    () => {
      if (!isSo()) throw new Error('not yet')
    },
    { timeout: 60_000, interval: 20 },
  )

type TestRequest = {
  body?: unknown
  headers?: Record<string, string>
  /** The request comes through the tunnel, as from the hub's proxy. */
  tunnel?: boolean
  /** The caller's address on loopback. */
  from?: string
}

function send(
  method: string,
  path: string,
  { body, headers = {}, tunnel = false, from = '127.0.0.1' }: TestRequest = {},
) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number
    headers: Record<string, string | string[] | undefined>
    json: Record<string, unknown>
  }>()
  const outgoing = request({
    method,
    path,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(tunnel
      ? { host: 'gateway', createConnection: () => hub.dial(GATEWAY_PORT) }
      : { host: '127.0.0.1', port: gateway.port, localAddress: from, agent: false }),
  })
  outgoing.on('error', reject)
  outgoing.on('response', (answer) => {
    buffer(answer).then((bytes) => {
      const isJson = answer.headers['content-type']?.startsWith('application/json') ?? false
      const json = isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : {}
      checkDeclared(deviceCalls, { base: DEVICE_API_BASE, method, path, code: json['error'] })
      resolve({ status: answer.statusCode!, headers: answer.headers, json })
    }, reject)
  })
  outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

/** Makes a call whose parameters name nothing that exists. */
function call(name: CallName, asked: TestRequest = {}) {
  const { method, path } = deviceCalls[name]
  const filled = path.replaceAll(/:\w+/g, 'nothing')
  return send(method, DEVICE_API_BASE + filled, { ...(method === 'POST' && { body: {} }), ...asked })
}

const ownOrigin = () => ({ origin: `http://127.0.0.1:${gateway.port}` })
const asPage = () => ({ ...ownOrigin(), cookie })
const asHub = (role: string) => ({
  tunnel: true,
  headers: {
    host: 'gw.example',
    origin: 'https://gw.example',
    'x-hub-user': 'Rosa%20L%C3%B6w',
    'x-hub-role': role,
    'x-forwarded-for': '10.1.2.3',
  },
})
const fireSprinkler = (asked: TestRequest) =>
  send('POST', `${DEVICE_API_BASE}/v1/deterrents/sprinkler/fire`, { body: {}, ...asked })

const stopSprinkler = (asked: TestRequest) => send('POST', `${DEVICE_API_BASE}/v1/deterrents/sprinkler/stop`, asked)

const signIn = (password: string, more: TestRequest = {}) =>
  call('signIn', { body: { password }, headers: ownOrigin(), ...more })

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-device-ui-'))
  hub = await startFixtureHub()
  relay = await startRelay()
  const limits = { seconds: 3, coolDownSeconds: 0 }
  const sprinkler = { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, ...limits }
  await writeFile(join(dataDir, 'gateway.yaml'), JSON.stringify({ deterrents: { sprinkler } }), { mode: 0o600 })
  const log = pino({ level: 'silent' })
  gateway = await startGateway({ name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, hubUrl: hub.url, log })
  await until(() => hub.registrations.length === 1)
  hub.decide({ status: 'approved' })
  await until(() => hub.heartbeats.at(-1)?.deterrents[0]?.state === 'ready')
})

beforeAll(async () => {
  password = gateway.newPassword!
  cookie = await cookieOf(password)
})

async function cookieOf(typed: string): Promise<string> {
  return String((await signIn(typed)).headers['set-cookie']).split(';')[0]!
}

afterAll(async () => {
  await gateway?.stop()
  await relay?.stop()
  await hub?.stop()
  await rm(dataDir, { recursive: true, force: true })
})

describe('with the device’s password', () => {
  test('a person signs in, is named in the ledger, and signs out', async () => {
    const { status, headers, json } = await signIn(password)
    expect([status, json]).toEqual([200, { name: 'device password', via: 'device', mayManage: true, confirmed: true }])
    const [set] = headers['set-cookie'] as string[]
    expect(set).toMatch(/^hedgerow-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/)
    const mine = { headers: { ...ownOrigin(), cookie: set!.split(';')[0]! } }
    expect(await call('getSession', mine)).toMatchObject({ status: 200, json: { via: 'device' } })
    expect(await call('disarm', mine)).toMatchObject({ status: 200, json: { armed: false } })
    expect(await call('arm', mine)).toMatchObject({ status: 200, json: { armed: true } })
    // An "off" that is still under way wins over "on", which then fails.
    const fired = async () => expect(await fireSprinkler(mine)).toMatchObject({ status: 200, json: { seconds: 3 } })
    await vi.waitFor(fired, { timeout: 60_000 })
    expect(await stopSprinkler(mine)).toMatchObject({ status: 204 })
    expect(relay.isOn()).toBe(false)
    const by = { kind: 'person', name: 'device password', via: 'device' }
    await until(() => hub.ledger.some(({ kind }) => kind === 'fired'))
    expect(hub.ledger.find(({ kind }) => kind === 'fired')).toMatchObject({ by })
    const out = await call('signOut', mine)
    expect(out).toMatchObject({ status: 204 })
    expect(out.headers['set-cookie']).toEqual([expect.stringMatching(/^hedgerow-\d+=; .*Max-Age=0$/)])
    expect(await call('getSession', mine)).toMatchObject({ status: 401 })
    expect(await call('getSession', { headers: asPage() })).toMatchObject({ status: 200 })
  })

  test('the cookie is bound to https where the browser sees https', async () => {
    const host = 'gate.lan'
    const { headers } = await signIn(password, { headers: { host, origin: `https://${host}` } })
    const [set] = headers['set-cookie'] as string[]
    expect(set).toMatch(/^__Host-hedgerow-\d+=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict/)
    const answer = await call('getSession', { headers: { host, cookie: set!.split(';')[0]! } })
    expect(answer.status).toBe(200)
  })

  test('a wrong one opens nothing, and soon has to wait', async () => {
    const guess = () => signIn('aaaa-bbbb-cccc-dddd', { from: '127.0.0.9' })
    const answers = [await guess()]
    while (answers.at(-1)!.status !== 429 && answers.length < 60) answers.push(await guess())
    expect(answers[0]).toMatchObject({ status: 403, json: { error: 'wrong_password' } })
    const last = answers.at(-1)!
    expect(last).toMatchObject({ status: 429, json: { error: 'too_many_requests' } })
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
    for (const { headers } of answers) expect(headers['set-cookie']).toBeUndefined()
    // Other sources need not wait.
    expect((await signIn(password)).status).toBe(200)
  })

  test.each(['', 'hedgerow=x', 'hedgerow-8080=', `hedgerow-8080=${'A'.repeat(43)}`])(
    'the cookie %j is no session',
    async (planted) => {
      expect(await call('getStatus', { headers: { cookie: planted } })).toMatchObject({ status: 401 })
    },
  )

  test('a new password ends every session', async () => {
    const { text } = await newPassword(dataDir)
    expect(await call('getSession', { headers: asPage() })).toMatchObject({ status: 401 })
    password = /shown once: (\S+)$/.exec(text)![1]!
    cookie = await cookieOf(password)
    expect(await call('getSession', { headers: asPage() })).toMatchObject({ status: 200 })
  })
})

describe('on the local network nobody', () => {
  const guarded = names.filter((name) => policy[name] !== 'anybody')

  test.each(guarded)('calls %s without a session, whatever role their headers claim', async (name) => {
    for (const claim of [{}, { 'x-hub-user': 'admin', 'x-hub-role': 'admin' }, { X_Hub_User: 'admin' }])
      expect(await call(name, { headers: { ...ownOrigin(), ...claim } })).toMatchObject({
        status: 401,
        json: { error: 'not_signed_in' },
      })
  })

  test.each<[string, Record<string, string>, number]>([
    ['of another site', { origin: 'https://evil.example' }, 403],
    ['that hides where it comes from', { origin: 'null' }, 403],
    ['of another port of this device', { origin: 'http://127.0.0.1:5000' }, 403],
    ['of another site, as the browser says', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of another name of this site', { 'sec-fetch-site': 'same-site' }, 403],
    ['whose name was pointed at the device', { host: 'rebound.example', origin: 'http://rebound.example' }, 421],
  ])('calls it from a page %s, even with the cookie', async (_what, headers, status) => {
    for (const name of names)
      expect([name, (await call(name, { headers: { ...asPage(), ...headers } })).status]).toEqual([name, status])
    expect(relay.isOn()).toBe(false)
  })

  test('changes anything without saying which page asks', async () => {
    for (const name of names.filter((one) => deviceCalls[one].method !== 'GET'))
      expect([name, (await call(name, { headers: { cookie } })).status]).toEqual([name, 403])
  })

  test('frames the pages or reads them from elsewhere', async () => {
    for (const path of ['/device/', '/device/sign-in', `${DEVICE_API_BASE}/v1/status`]) {
      const { headers } = await send('GET', path, { headers: { cookie } })
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
      expect(headers['cross-origin-resource-policy']).toBe('same-origin')
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
  })
})

describe('through the hub', () => {
  test.each(['user', 'manager', 'admin', 'a-role-of-tomorrow'])(
    'a person with the role %s may what the hub allows',
    async (role) => {
      const mayManage = role === 'manager' || role === 'admin'
      expect((await call('getSession', asHub(role))).json).toEqual({
        name: 'Rosa Löw',
        via: 'hub',
        mayManage,
        confirmed: false,
      })
      for (const name of names.filter((one) => policy[one] === 'managers')) {
        const { json } = await call(name, asHub(role))
        expect([name, json['error'] === 'role_required']).toEqual([name, !mayManage])
      }
      expect(await call('disarm', asHub(role))).toMatchObject({ json: { armed: false } })
      await call('arm', { headers: asPage() })
      expect(await stopSprinkler(asHub(role))).toMatchObject({ status: 204 })
      // An "off" that is still under way wins over "on", which then fails.
      await expect.poll(async () => (await fireSprinkler(asHub(role))).status).toBe(mayManage ? 200 : 403)
      expect(relay.isOn()).toBe(mayManage)
      await stopSprinkler(asHub(role))
    },
  )

  test('only the hub’s headers count, not a cookie', async () => {
    const headers = { host: 'gw.example', cookie }
    expect(await call('getStatus', { tunnel: true, headers })).toMatchObject({ status: 401 })
  })

  test('the status has the parts of the device and no device token', async () => {
    const { json } = await call('getStatus', asHub('user'))
    const { name, gatewayId, armed, deterrents, conditions } = json as DeviceStatus
    expect({ name, gatewayId, armed }).toEqual({ name: 'Orchard', gatewayId: gateway.state().gatewayId, armed: true })
    expect(deterrents).toMatchObject([{ name: 'sprinkler', state: 'ready' }])
    expect(conditions.map(({ step }) => step)).toContain('tunnelUp')
    expect(JSON.stringify(json)).not.toContain(gateway.state().deviceToken)
  })
})

describe('the file of the device', () => {
  const path = () => join(dataDir, 'gateway.yaml')
  type File = { text: string; hash: string }
  const read = async (asked: TestRequest) => (await call('readFile', asked)).json as File
  const save = (body: object, asked: TestRequest) => call('saveFile', { ...asked, body })
  const mine = () => ({ headers: asPage() })

  test('is saved unchanged, with its comments, and is in force at once', async () => {
    const { text, hash } = await read(mine())
    expect(text).toBe(readFileSync(path(), 'utf8'))
    const rules = '[{ name: Boar, labels: [boar], fire: [sprinkler], seconds: 2 }]'
    const changed = `# by hand\n${text.replace(/\}$/, `, "rules": ${rules}}`)}`
    chmodSync(path(), 0o640)
    const saved = await save({ text: changed, hash }, mine())
    expect(saved).toMatchObject({ status: 200, json: { hash: expect.not.stringMatching(hash) as string } })
    expect(readFileSync(path(), 'utf8')).toBe(changed)
    expect(statSync(path()).mode & 0o777).toBe(0o640)
    const told = await call('readRules', mine())
    expect(told.json).toEqual([
      { name: 'Boar', enabled: true, sentence: 'Boar on any camera: fires sprinkler for 2 s.', fired: 0, reason: null },
    ])
    await gateway.reportDetections([
      {
        id: 'b1',
        camera: 'orchard',
        label: 'boar',
        severity: 'alert',
        score: 0.9,
        startedAt: new Date().toISOString(),
      },
    ])
    expect((await call('listDetections', asHub('user'))).json).toMatchObject([{ id: 'b1', label: 'boar' }])
  })

  test('is not replaced when somebody else changed it meanwhile', async () => {
    const { text, hash } = await read(mine())
    const theirs = `${text}\n# theirs\n`
    writeFileSync(path(), theirs)
    expect(await save({ text: `${text}\n# mine\n`, hash }, mine())).toMatchObject({
      status: 409,
      json: { error: 'file_changed' },
    })
    expect(readFileSync(path(), 'utf8')).toBe(theirs)
    // Two concurrent saves: one succeeds.
    const again = await read(mine())
    const both = await Promise.all(
      ['# a', '# b'].map((line) => save({ text: `${theirs}${line}\n`, hash: again.hash }, mine())),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })

  test('with errors is not saved, and each error has its place', async () => {
    const { text, hash } = await read(mine())
    const bad = 'rules:\n  - { name: A, labels: [boar], fire: [nothing] }\n'
    const checked = (await call('checkFile', { ...mine(), body: { text: bad } })).json as {
      errors: { message: string }[]
    }
    expect(checked.errors).toMatchObject([{ line: 2, column: 39 }])
    const refused = await save({ text: bad, hash }, mine())
    expect(refused).toMatchObject({ status: 400, json: { error: 'file_invalid', errors: checked.errors } })
    expect(readFileSync(path(), 'utf8')).toBe(text)
  })

  test('is read by managers through the hub, and changed only with the device’s password', async () => {
    expect((await call('readFile', asHub('user'))).status).toBe(403)
    expect((await call('checkFile', { ...asHub('user'), body: { text: '' } })).status).toBe(403)
    const { text, hash } = await read(asHub('manager'))
    const changed = { text: `${text}# from afar\n`, hash }
    expect(await save(changed, asHub('admin'))).toMatchObject({ status: 403, json: { error: 'password_required' } })
    expect(await save({ ...changed, password: 'wrong' }, asHub('admin'))).toMatchObject({
      status: 403,
      json: { error: 'wrong_password' },
    })
    expect(readFileSync(path(), 'utf8')).toBe(text)
    expect((await save({ ...changed, password }, asHub('manager'))).status).toBe(200)
    expect(readFileSync(path(), 'utf8')).toBe(changed.text)
    await expect
      .poll(() => hub.ledger.map(({ kind, by, from }) => ({ kind, name: by?.name, from })), { timeout: 20_000 })
      .toContainEqual({ kind: 'file-saved', name: 'Rosa Löw', from: '10.1.2.3' })
    const wrong = hub.ledger.filter(({ kind }) => kind === 'password-refused')
    // Of all wrong ones in ten minutes, the first has an entry.
    expect(wrong).toHaveLength(1)
    expect(JSON.stringify(hub.ledger)).not.toMatch(/"wrong"|aaaa-bbbb|from afar/)
  })

  test('takes the password once in a visit through the hub, and from no other page, person or session', async () => {
    const { text } = await read(mine())
    const asks = (more: Record<string, string> = {}, tunnel = true) => {
      const { headers } = asHub('manager')
      return { tunnel, headers: { ...headers, 'x-hub-session': 's1', ...more } }
    }
    const change = async (line: string, asked: TestRequest, more: object = {}) => {
      const { hash } = await read(mine())
      return save({ text: `${text}# ${line}\n`, hash, ...more }, asked)
    }
    const session = async (asked: TestRequest) => (await call('getSession', asked)).json['confirmed']
    expect((await change('0', asks(), { password: 'wrong' })).headers['set-cookie']).toBeUndefined()
    const given = await change('1', asks(), { password })
    expect(given.status).toBe(200)
    const visit = { cookie: String(given.headers['set-cookie']).split(';')[0]! }
    expect(await session(asks(visit))).toBe(true)
    expect((await change('2', asks(visit))).status).toBe(200)
    expect((await call('findCameras', { ...asks(visit), body: { at: '127.0.0.1:1' } })).status).not.toBe(403)

    const attacks: [string, TestRequest][] = [
      ['password_required', asks()],
      ['password_required', asks({ ...visit, 'x-hub-user': 'Mallory' })],
      ['password_required', asks({ ...visit, 'x-hub-session': 's2' })],
      ['role_required', asks({ ...visit, 'x-hub-role': 'user' })],
      ['cross_site', asks({ ...visit, origin: 'https://evil.example' })],
      ['cross_site', asks({ ...visit, origin: 'null' })],
      ['cross_site', asks({ ...visit, 'sec-fetch-site': 'same-site' })],
      ['not_signed_in', asks({ ...visit, ...ownOrigin(), host: `127.0.0.1:${gateway.port}` }, false)],
    ]
    for (const [error, asked] of attacks)
      expect([error, (await change('attack', asked)).json['error']]).toEqual([error, error])
    expect((await change('3', asks(visit), { password: 'wrong' })).json['error']).toBe('wrong_password')
    expect((await read(mine())).text).toBe(`${text}# 2\n`)
    expect((await change('4', asks(visit))).status).toBe(200)
  })

  test('is checked for managers of the hub without any of its secrets', async () => {
    await writeFile(join(dataDir, 'extra-secret'), 'hunter2-of-the-device')
    const checked = async (text: string, asked: TestRequest) =>
      (await call('checkFile', { ...asked, body: { text } })).json as {
        errors: { message: string }[]
        warnings: { message: string }[]
      }
    for (const name of ['keys.json', 'extra-secret', '/etc/passwd'])
      for (const text of [
        `? !file ${name}\n: 1\n`,
        `rules: [{ name: !file ${name}, labels: [boar], fire: [!file ${name}] }]`,
        `sources: { eye: { cameras: [!file ${name}] } }`,
        `? [!file ${name}]\n: 1\n`,
        `site: { timeZone: !file ${name} }`,
        `a: &a !file ${name}\n? *a\n: 1\n`,
      ])
        for (const asked of [asHub('manager'), asHub('admin'), mine()]) {
          const told = JSON.stringify(await checked(text, asked))
          expect(told).not.toMatch(/hunter2|root:|privateKey|BEGIN|seed/i)
        }
    const missing = 'sources: { api: { token: !file no-such-file } }\nsite: { latitude: 99, longitude: 1 }'
    expect(await checked(missing, asHub('manager'))).toMatchObject({
      errors: [{ message: 'site.latitude: This must be at most 90.' }],
      warnings: [{ message: expect.stringContaining('takes the password of the device') }],
    })
    expect(await checked(missing, mine())).toMatchObject({
      errors: [{ message: 'The file that !file names cannot be read.' }],
    })
  })

  test('is checked in a thread of its own: whatever the text, the thread that stops water is free', async () => {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    const many = (one: (index: number) => string, size: number, between: string) => {
      const all: string[] = []
      for (let length = 0; length < size; length += all.at(-1)!.length + between.length) all.push(one(all.length))
      return all.join(between)
    }
    const texts = [189_000, 999_000].flatMap((size) => [
      many((index) => `k${index}: 1`, size, '\n').slice(0, size),
      `{${many((index) => `k${index}: 1`, size - 2, ', ').slice(0, size - 2)}}`,
      '['.repeat(size),
      `"${'\\x'.repeat(size / 2 - 1)}"`,
      '- '.repeat(size / 2),
      `a: [&a 1, ${'*a, '.repeat(size / 4 - 5)}]`,
      "'\n".repeat(size / 2),
      ','.repeat(size),
    ])
    // What a text of 250 KB takes is more than the others, which are refused for their size.
    texts.push(`"${'\\x'.repeat(125_000)}"`, "'\n".repeat(125_000), `[${','.repeat(59_000)}]`)
    await call('checkFile', { ...mine(), body: { text: '' } })
    delay.enable()
    let longestMs = 0
    for (const text of texts) {
      const askedAt = performance.now()
      const check = call('checkFile', { ...asHub('manager'), body: { text } })
      expect(await call('disarm', mine())).toMatchObject({ status: 200, json: { armed: false } })
      expect((await check).json['errors']).not.toHaveLength(0)
      longestMs = Math.max(longestMs, performance.now() - askedAt)
    }
    delay.disable()
    expect(await call('arm', mine())).toMatchObject({ status: 200 })
    expect(delay.max / 1e6).toBeLessThan(longestMs / 2)
  }, 120_000)

  test('is checked for a few people at once, and no more', async () => {
    const text = `"${'\\x'.repeat(125_000)}"`
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => call('checkFile', { ...asHub('manager'), body: { text } })),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses[0]).toBe(200)
    expect(statuses.at(-1)).toBe(429)
    expect((await call('checkFile', { ...mine(), body: { text: '' } })).json).toEqual({ errors: [], warnings: [] })
  })

  test('names no pipe or device as a secret, which would keep the agent reading', async () => {
    const text = 'sources: { api: { token: !file /dev/zero } }'
    expect((await call('checkFile', { ...mine(), body: { text } })).json).toMatchObject({
      errors: [{ message: '!file must name a regular file of at most 64 KiB.' }],
    })
  })

  test('of one camera is changed alone, by the same people, and is in force at once', async () => {
    const { hash } = await read(mine())
    const text = '# by the stream\ncameras:\n  gate: { url: "http://127.0.0.1:9/" } # dark\n  barn: {}\n'
    expect((await save({ text, hash }, mine())).status).toBe(200)
    const path = `${DEVICE_API_BASE}/v1/cameras/gate`
    const known = (await send('GET', path, asHub('user'))).json
    const eye = { objectMasks: [], scores: {}, sizes: {}, regions: 2 }
    const settings = { framesPerSecond: 5, minimumScore: null, zones: {}, masks: [], ...eye }
    expect(known).toEqual({ hash: expect.any(String) as string, ...settings })
    const triangle = [
      [0, 0],
      [1, 0],
      [1, 0.5],
    ]
    const body = { change: { zones: { road: triangle }, masks: [triangle] }, hash: known['hash'] }
    const change = (asked: TestRequest, more: object = {}) =>
      send('PATCH', path, { ...asked, body: { ...body, ...more } })
    expect(await change(asHub('user'))).toMatchObject({ status: 403, json: { error: 'role_required' } })
    expect(await change(asHub('admin'))).toMatchObject({ status: 403, json: { error: 'password_required' } })
    expect(await change(mine(), { hash: 'old' })).toMatchObject({ status: 409, json: { error: 'file_changed' } })
    expect(await change(asHub('manager'), { password })).toMatchObject({ json: { masks: [triangle] } })
    expect((await read(mine())).text).toBe(
      text.replace(
        ' } # dark',
        ', zones: { road: [[0, 0], [1, 0], [1, 0.5]] }, masks: [[[0, 0], [1, 0], [1, 0.5]]] } # dark',
      ),
    )
    const { hash: changedHash } = (await send('GET', path, mine())).json
    const wanted = {
      objectMasks: [triangle],
      scores: { person: 0.4 },
      sizes: { animal: { minimumArea: 0.01 } },
      regions: 1,
    }
    expect(await change(mine(), { change: wanted, hash: changedHash })).toMatchObject({ status: 200, json: wanted })
    const turned = { sizes: { animal: { minimumArea: 0.5, maximumArea: 0.1 } } }
    const { hash: lastHash } = (await send('GET', path, mine())).json
    expect(await change(mine(), { change: turned, hash: lastHash })).toMatchObject({ json: { error: 'file_invalid' } })
    for (const name of ['barn', 'nothing', '__proto__', 'constructor'])
      expect(await send('GET', `${DEVICE_API_BASE}/v1/cameras/${name}`, mine())).toMatchObject({
        status: 404,
        json: { error: 'camera_not_found' },
      })
  })
})

describe('a camera that a person adds', () => {
  const mine = () => ({ headers: asPage() })
  const begin = (url: string, asked: TestRequest = mine(), more: object = {}) =>
    call('tryCamera', { ...asked, body: { url, ...more } })
  const look = async (url: string) => {
    const { id } = (await begin(url)).json
    const path = `${DEVICE_API_BASE}/v1/trials/${String(id)}`
    return {
      path,
      told: async () => (await send('GET', path, mine())).json as { isOnline: boolean; problems: string[] },
    }
  }

  test('is shown live before anything is written, and its pictures end when nobody looks', async () => {
    const camera = await startRenderedCamera({ name: 'lane', seed: 3, daylight: 'day', durationMs: 5_000, actors: [] })
    onTestFinished(camera.stop)
    const { path, told } = await look(camera.mjpegUrl)
    await vi.waitFor(async () => expect((await told()).isOnline).toBe(true), { timeout: 60_000 })
    const picture = await send('GET', `${path}/latest`, mine())
    expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/jpeg'])
    expect(await send('GET', path, asHub('user'))).toMatchObject({ status: 403 })
    // The first of three concurrent trials is over.
    await look(camera.mjpegUrl)
    await look(camera.mjpegUrl)
    expect(await send('GET', path, mine())).toMatchObject({ status: 404, json: { error: 'trial_not_found' } })
  })

  test('that does not work is reported in words; redirects are not followed', async () => {
    const redirecting = createServer((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${gateway.port}/device/api/v1/status` }).end(),
    )
    redirecting.listen(0, '127.0.0.1')
    await once(redirecting, 'listening')
    onTestFinished(() => void redirecting.close())
    const { port } = redirecting.address() as AddressInfo
    const { told } = await look(`http://127.0.0.1:${port}/`)
    await vi.waitFor(
      async () =>
        expect((await told()).problems).toEqual([
          'This camera gives no pictures: it redirects to another address, which is not followed.',
        ]),
      { timeout: 60_000 },
    )
    for (const [url, words] of [
      ['file:///etc/passwd', /^This must be an address that begins with http/],
      ['rtsp://viewer:${NOT_SET_HERE}@198.18.0.1/', /^The environment variable NOT_SET_HERE is not set/],
    ] as const)
      expect(await begin(url)).toMatchObject({
        status: 400,
        json: { fieldErrors: { url: expect.stringMatching(words) as string } },
      })
  })

  test('is tried and searched through the hub only with the device’s password', async () => {
    const refused = { status: 403, json: { error: 'password_required' } }
    expect(await begin('http://127.0.0.1:9/', asHub('admin'))).toMatchObject(refused)
    expect(await begin('http://127.0.0.1:9/', asHub('admin'), { password })).toMatchObject({ status: 200 })
    expect(await call('findCameras', { ...asHub('admin'), body: { at: '127.0.0.1:9' } })).toMatchObject(refused)
  })

  test('is found with its streams, the best one marked', async () => {
    const camera = await startOnvifCamera({ user: 'viewer', password: 'p@ss', group: '239.255.255.250' })
    onTestFinished(camera.stop)
    const body = { at: camera.host, user: 'viewer', cameraPassword: 'p@ss' }
    const { json } = await call('findCameras', { ...mine(), body })
    expect(json).toMatchObject([
      {
        host: camera.host,
        problem: null,
        streams: [{ isBest: false }, { isBest: true, url: 'rtsp://127.0.0.1:554/sub?a=1&b=2' }, { isBest: false }],
      },
    ])
    expect(await call('findCameras', { ...mine(), body: { at: 'no address' } })).toMatchObject({
      status: 400,
      json: { fieldErrors: { at: 'This is no address.' } },
    })
  })

  test('is written once with its name, and the eye looks at it', async () => {
    const { hash, text } = (await call('readFile', mine())).json as { hash: string; text: string }
    const body = { name: 'lane', url: 'http://127.0.0.1:9/lane.mjpeg', hash }
    expect(await call('addCamera', { ...mine(), body: { ...body, name: '../x' } })).toMatchObject({ status: 400 })
    const added = await call('addCamera', { ...mine(), body })
    expect(added).toMatchObject({ status: 200, json: { zones: {}, masks: [], minimumScore: 0.6 } })
    const after = (await call('readFile', mine())).json as { text: string }
    for (const line of text.split('\n').filter((each) => each.includes('#'))) expect(after.text).toContain(line)
    expect(after.text).toContain('lane:\n    url: "http://127.0.0.1:9/lane.mjpeg"')
    await until(() => hub.heartbeats.at(-1)?.cameras.some(({ name }) => name === 'lane') ?? false)
    expect((await call('getStatus', mine())).json).toMatchObject({ detectors: [], model: 'none' })
    const again = { ...body, hash: added.json['hash'] }
    expect(await call('addCamera', { ...mine(), body: again })).toMatchObject({ json: { error: 'camera_exists' } })
    const tuned = await send('PATCH', `${DEVICE_API_BASE}/v1/cameras/lane`, {
      ...mine(),
      body: { change: { framesPerSecond: 2, minimumScore: 0.45 }, hash: again.hash },
    })
    expect(tuned.json).toMatchObject({ framesPerSecond: 2, minimumScore: 0.45, zones: {} })
    expect((await call('listCandidates', asHub('user'))).json).toEqual([])
    const status = async () => (await call('getStatus', mine())).json as DeviceStatus
    const written = async () => (await status()).cameras.find((camera) => camera.name === 'lane')?.overlays
    await expect.poll(written, { timeout: 60_000 }).toEqual([])
    const overlays = (name: string) => `${DEVICE_API_BASE}/v1/cameras/${name}/overlays`
    expect(await send('DELETE', overlays('lane'), asHub('user'))).toMatchObject({ status: 403 })
    expect((await send('DELETE', overlays('lane'), mine())).status).toBe(204)
    expect(await send('DELETE', overlays('none'), mine())).toMatchObject({ json: { error: 'camera_not_found' } })
  })

  test('has its own problems in the status, whatever its name begins with', async () => {
    const add = async (name: string, path: string) => {
      const { hash } = (await call('readFile', mine())).json
      const body = { name, url: `http://127.0.0.1:9/${path}`, hash }
      expect(await call('addCamera', { ...mine(), body })).toMatchObject({ status: 200 })
    }
    await add('camera 198-18-0-7', 'seven')
    await add('camera 198-18-0-71', 'seventy-one')
    const words = (name: string) => `Camera ${name} gives no pictures: nothing answers at its port.`
    await vi.waitFor(
      async () => {
        const { cameras, problems } = (await call('getStatus', mine())).json as DeviceStatus
        for (const name of ['198-18-0-7', '198-18-0-71']) {
          expect(cameras.find((camera) => camera.name === `camera ${name}`)?.problems).toEqual([words(name)])
          expect(problems).toContain(words(name))
        }
      },
      { timeout: 60_000 },
    )
  })
})

describe('settings of the file', () => {
  const mine = () => ({ headers: asPage() })
  const path = () => join(dataDir, 'gateway.yaml')
  const TEXT = `# by hand
deterrents:
  # the big one
  sprinkler: ON_AND_OFF
sources: { api: { token: !file farm-token } }
cameras: { orchard: {} }
rules:
  - name: Boar # in October
    labels: [boar]
    fire: [sprinkler]   # not the horn
  - { name: Fox, labels: [fox], fire: [sprinkler], enabled: false }
# the end
`
  const settings = async () => (await call('readSettings', mine())).json as { hash: string; settings: object }
  const change = async (edits: object[], asked: TestRequest, more: object = {}) =>
    call('changeSettings', { ...asked, body: { edits, hash: (await settings()).hash, ...more } })

  beforeAll(async () => {
    writeFileSync(join(dataDir, 'farm-token'), 'sixteen-signs-at-least')
    const text = TEXT.replace(
      'ON_AND_OFF',
      JSON.stringify({ driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, coolDownSeconds: 0 }),
    )
    const { hash } = (await call('readFile', mine())).json
    await call('saveFile', { ...mine(), body: { text, hash } })
  })

  test('are read as they are written, by managers, with the names that sources have', async () => {
    expect(await call('readSettings', asHub('user'))).toMatchObject({ status: 403, json: { error: 'role_required' } })
    expect((await call('readSettings', asHub('manager'))).json).toMatchObject({
      settings: {
        sources: { api: { token: '!file farm-token' } },
        rules: [
          { name: 'Boar', labels: ['boar'] },
          { name: 'Fox', enabled: false },
        ],
      },
      names: { labels: expect.arrayContaining(['boar']) as string[], cameras: expect.any(Array) as object[] },
    })
  })

  test('are changed one by one, with the device’s password through the hub; an undo puts the text back', async () => {
    const before = readFileSync(path(), 'utf8')
    const edits = [
      { path: ['rules', 1, 'enabled'], value: true },
      { path: ['rules', 0, 'labels', 1], value: 'deer' },
    ]
    expect(await change(edits, asHub('admin'))).toMatchObject({ status: 403, json: { error: 'password_required' } })
    expect(await change(edits, mine(), { hash: 'old' })).toMatchObject({ status: 409, json: { error: 'file_changed' } })
    const saved = await change(edits, asHub('manager'), { password })
    expect(saved.status).toBe(200)
    expect(readFileSync(path(), 'utf8')).toBe(
      before.replace('enabled: false', 'enabled: true').replace('[boar]', '[boar, deer]'),
    )
    expect((await call('readRules', mine())).json).toMatchObject([{ name: 'Boar' }, { name: 'Fox', enabled: true }])
    const undone = await call('saveFile', { ...mine(), body: { text: before, hash: saved.json['hash'] } })
    expect(undone.status).toBe(200)
    expect(readFileSync(path(), 'utf8')).toBe(before)
  })

  test('with errors are not saved, and each field has its sentence', async () => {
    const before = readFileSync(path(), 'utf8')
    const edits = [
      { path: ['rules', 0, 'fire', 0], value: 'horn' },
      { path: ['rules', 0, 'minimumScore'], value: 7 },
    ]
    expect(await change([edits[0]!], mine())).toMatchObject({
      status: 400,
      json: {
        error: 'file_invalid',
        fieldErrors: { 'rules.0.fire.0': 'There is no deterrent horn; there is sprinkler.' },
      },
    })
    const words = [{ path: ['rules', 0, 'seconds'], value: 60 }, { path: ['rules', 1, 'fire'] }]
    for (const [edit, field, sentence] of [
      [words[0]!, 'rules.0.seconds', 'sprinkler fires for at most 10 s.'],
      [words[1]!, 'rules.1.fire', 'Fill in this field.'],
    ] as const)
      expect(await change([edit], mine())).toMatchObject({ json: { fieldErrors: { [field]: sentence } } })
    const { hash } = await settings()
    expect((await call('previewSettings', { ...mine(), body: { edits: [edits[1]], hash } })).json).toMatchObject({
      errors: [{ path: ['rules', 0, 'minimumScore'], message: 'This must be at most 1.' }],
      rehearsal: null,
    })
    expect(readFileSync(path(), 'utf8')).toBe(before)
  })

  test('are rehearsed before they are saved, against the last 24 hours', async () => {
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    const seen = (id: string, label: string, minutes: number) => ({
      id,
      camera: 'orchard',
      label,
      severity: 'alert' as const,
      score: 0.9,
      startedAt: at(minutes),
      endedAt: at(minutes - 1),
    })
    await gateway.reportDetections([seen('f1', 'fox', 50), seen('f2', 'fox', 40), seen('b2', 'boar', 30)])
    const edits = [
      { path: ['rules', 1, 'enabled'], value: true },
      { path: ['rules', 0, 'labels'], value: ['deer'] },
    ]
    const before = readFileSync(path(), 'utf8')
    const { hash } = await settings()
    const preview = (asked: TestRequest) => call('previewSettings', { ...asked, body: { edits, hash } })
    expect(await preview(asHub('user'))).toMatchObject({ status: 403 })
    for (const asked of [mine(), asHub('manager')]) {
      const { rehearsal } = (await preview(asked)).json as { rehearsal: { rules: object[]; detections: object[] } }
      expect(rehearsal.rules).toMatchObject([
        { name: 'Boar', fired: 0, firedBefore: expect.any(Number) as number, reason: null },
        { name: 'Fox', fired: 2, firedBefore: 0, sentence: 'Fox on any camera: fires sprinkler.' },
      ])
      expect(rehearsal.detections).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ id: 'f2', rules: ['Fox'], rulesBefore: [] }),
          expect.objectContaining({ id: 'b2', rules: [], rulesBefore: ['Boar'] }),
        ]),
      )
    }
    const unsure = { edits: [{ path: ['rules', 0, 'minimumScore'], value: 0.99 }], hash }
    expect((await call('previewSettings', { ...mine(), body: unsure })).json).toMatchObject({
      rehearsal: {
        rules: [{ fired: 0, reason: 'the score 0.9 is below 0.99' }, { reason: 'the rule is not enabled' }],
      },
    })
    const outdated = await call('previewSettings', { ...mine(), body: { edits, hash: 'old' } })
    expect(outdated).toMatchObject({ status: 409, json: { error: 'file_changed' } })
    expect(readFileSync(path(), 'utf8')).toBe(before)
  })
})

test('everybody may read what was learned; managers may undo it', async () => {
  expect((await call('readLearning', asHub('user'))).json).toMatchObject({ state: 'waiting', cameras: [] })
  const body = { camera: 'orchard', label: 'deer' }
  expect(await call('undoLearning', { ...asHub('user'), body })).toMatchObject({ status: 403 })
  expect(await call('undoLearning', { ...asHub('manager'), body })).toMatchObject({ json: { undone: false } })
  expect(await call('undoNames', { ...asHub('user'), body: { number: 1 } })).toMatchObject({ status: 403 })
  expect(await call('undoNames', { ...asHub('manager'), body: { number: 1 } })).toMatchObject({
    json: { undone: false },
  })
  const mask = { camera: 'orchard', id: 'nothing' }
  expect(await call('dismissMask', { ...asHub('manager'), body: mask })).toMatchObject({
    json: { error: 'proposal_not_found' },
  })
})

test('managers may train at once', async () => {
  expect(await call('learnNow', asHub('user'))).toMatchObject({ status: 403 })
  const lastRunAt = async () => Date.parse(String((await call('readLearning', asHub('user'))).json['lastRunAt']))
  const before = Date.now()
  expect(await call('learnNow', asHub('manager'))).toMatchObject({ status: 204 })
  await expect.poll(lastRunAt).toBeGreaterThanOrEqual(before)
})
