import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import * as contract from '@hedgerow/contract'
import { calls as everyCall, keyOf } from '@hedgerow/contract/calls'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { testEngines } from '#testing/databases.ts'
import { createApi } from './api.ts'
import { HubError } from '../kernel/hub-error.ts'
import { mount } from './mount.ts'
import { policy } from '../access/policy.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const LOGIN = '/api/v1/auth/login'
const json = { 'content-type': 'application/json' }

describe.each(testEngines)('the API on %s', (engine) => {
  let hub: TestHub
  let port: number
  beforeAll(async () => {
    hub = await startTestHub(engine, { trustedProxies: ['10.0.0.1'] })
    port = (await hub.start()).port
  })
  afterAll(() => hub.stop())

  test.each<[string, string, Record<string, string>, number, string]>([
    ['no JSON', '{"username":', json, 400, 'invalid_json'],
    ['an empty body', '', json, 400, 'invalid_json'],
    ['JSON with a prototype key', '{"username":"a","password":"b","__proto__":{"x":1}}', json, 400, 'invalid_json'],
    ['a body over the limit', `"${'x'.repeat(70_000)}"`, json, 413, 'payload_too_large'],
    [
      'a form',
      'username=a&password=b',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    ['plain text', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['an array', '[]', json, 400, 'invalid_request'],
    ['a compressed body', '{}', { ...json, 'content-encoding': 'gzip' }, 400, 'invalid_request'],
  ])('%s gets its own refusal', async (_case, payload, headers, status, code) => {
    const response = await hub.app.inject({ method: 'POST', url: LOGIN, payload, headers })
    expect(response.statusCode).toBe(status)
    expect(response.json()).toMatchObject({ error: code, message: expect.stringMatching(/\.$/) })
    expect(() => contract.errorBody.parse(response.json())).not.toThrow()
  })

  test('an unknown address under /api is 404 and a wrong method 405, in JSON', async () => {
    const unknown = await hub.app.inject({ url: '/api/v1/nothing' })
    expect(unknown.statusCode).toBe(404)
    expect(unknown.json()).toEqual({ error: 'not_found', message: 'There is nothing at this address.' })
    const wrong = await hub.app.inject({ method: 'DELETE', url: '/api/v1/auth/login?x=1' })
    expect(wrong.statusCode).toBe(405)
    expect(wrong.headers.allow).toBe('POST')
    expect(wrong.json()).toMatchObject({ error: 'method_not_allowed' })
  })

  test.each(['/api/%zz', '/api/v1/auth/%c0%af', '/api//v1', '/api/v1/auth/login/'])(
    '%s is refused in JSON',
    async (url) => {
      const response = await hub.app.inject({ url })
      expect([400, 404]).toContain(response.statusCode)
      expect(() => contract.errorBody.parse(response.json())).not.toThrow()
    },
  )

  test('bytes that are not HTTP get a refusal and the end of the connection', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.end('NONSENSE\r\n\r\n')
    const answer = Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString()
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: 'invalid_request' })
  })

  test('an unsupported upgrade is answered and closed', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    const answer = Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString()
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
  })

  test('a foreign origin gets no CORS permission', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const preflight = await hub.app.inject({ method: 'OPTIONS', url: LOGIN, headers })
    const request = await hub.app.inject({
      method: 'POST',
      url: LOGIN,
      headers,
      payload: { username: 'a', password: 'b' },
    })
    for (const response of [preflight, request]) {
      expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
    expect(preflight.statusCode).toBe(405)
  })

  test('answers are not cached, sniffed, framed or opened from other sites', async () => {
    const { headers } = await hub.app.inject({ url: '/api/v1/auth/validate' })
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(headers).not.toHaveProperty('set-cookie')
  })

  test('X-Forwarded-For counts from a trusted proxy only', async () => {
    const from = (remoteAddress: string) =>
      hub.app.inject({
        method: 'POST',
        url: LOGIN,
        payload: { username: 'forwarded', password: 'b' },
        headers: { 'x-forwarded-for': '127.0.0.1, 203.0.113.50' },
        remoteAddress,
      })
    await from('10.0.0.1')
    await from('10.0.0.2')
    const entries = await hub.db
      .selectFrom('audit')
      .select('source_ip')
      .where('actor', '=', 'forwarded')
      .orderBy('id')
      .execute()
    expect(entries.map((entry) => entry.source_ip)).toEqual(['203.0.113.50', '10.0.0.2'])
  })

  test.each(['/livez', '/readyz'])('%s answers', async (url) => {
    const response = await hub.app.inject({ url })
    expect([response.statusCode, response.json()]).toEqual([200, { status: 'ok' }])
    const head = await hub.app.inject({ method: 'HEAD', url })
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })
})

describe('every call', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
    await hub.app.ready()
  })
  afterAll(() => hub.stop())

  const calls = Object.values(everyCall)

  test('of the contract is in the policy, and the policy has no other line', () => {
    expect(Object.keys(policy).sort()).toEqual(calls.map(keyOf).sort())
  })

  test.each(calls.map((call) => [keyOf(call), call] as const))('%s is mounted on the public API', (_key, call) => {
    expect(hub.app.hasRoute({ method: call.method, url: `/api${call.path}` })).toBe(true)
  })

  /** A new session for each attempt, because some calls end their own. */
  async function attempt(call: contract.Call, userId: string): Promise<[number, string | undefined]> {
    const token = await hub.sessions.start({ id: userId }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    const url = `/api${call.path}`.replace(':id', 'aaaaaaaaaaaa').replace(':registrationId', 'a'.repeat(20))
    // A stream does not end, so only its head is read.
    const response = await hub.app.inject({
      method: call.method,
      url,
      headers: { authorization: `Bearer ${token}` },
      payloadAsStream: true,
    })
    if (response.statusCode < 300) {
      response.stream().destroy()
      return [response.statusCode, undefined]
    }
    return [response.statusCode, (JSON.parse(await text(response.stream())) as { error?: string }).error]
  }

  test('for people who must set up two-factor is refused, unless it takes any session', async () => {
    await hub.db.insertInto('settings').values({ name: 'twoFactorRequired', value: 'true' }).execute()
    const admin = await hub.addUser('policy-admin', 'admin', 'gravel-lantern-42')
    const openTo: string[] = []
    const statuses = new Set<number>()
    for (const call of calls) {
      if (typeof policy[keyOf(call)] === 'string') continue
      const [status, error] = await attempt(call, admin)
      if (error === 'two_factor_setup_required') statuses.add(status)
      else openTo.push(keyOf(call))
    }
    expect([...statuses]).toEqual([409])
    await hub.db.deleteFrom('settings').execute()
    expect(openTo.sort()).toEqual([
      'GET /v1/auth/validate',
      'POST /v1/auth/logout',
      'POST /v1/auth/providers/logout',
      'POST /v1/auth/renew',
      'POST /v1/auth/two-factor/enable',
      'POST /v1/auth/two-factor/setup',
    ])
  })
})

describe('mounting', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
  })
  afterAll(() => hub.stop())

  test('a call without a line in the policy stops the start', () => {
    const unknown = contract.call({ method: 'GET', path: '/v1/unheard-of', response: z.object({}) })
    expect(() => mount(hub.app, unknown, () => ({}))).toThrow('GET /v1/unheard-of has no line in the policy')
  })

  test('a person’s call is not mounted on the tunnel’s API', () => {
    const tunnel = createApi({ surface: 'tunnel', log: pino({ level: 'silent' }), sourceAddress: () => '' })
    expect(() => mount(tunnel, contract.listGateways, () => [])).toThrow("does not belong on the tunnel's API")
  })
})

test('a refusal has the status and the sentence of its code', () => {
  const refusal = new HubError('gateway_limit_reached')
  expect([refusal.status, refusal.message]).toEqual([
    409,
    'The hub is full. Raise the maximum number of gateways under Settings, or delete a gateway.',
  ])
})

test('a hub whose database is gone is alive and not ready', async () => {
  const hub = await startTestHub('sqlite')
  await hub.app.ready()
  await hub.db.destroy()
  const [live, ready] = await Promise.all(['/livez', '/readyz'].map((url) => hub.app.inject({ url })))
  await hub.stop()
  expect(live?.statusCode).toBe(200)
  expect(ready?.statusCode).toBeGreaterThanOrEqual(500)
})
