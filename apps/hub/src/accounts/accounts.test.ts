import { createHmac } from 'node:crypto'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { policy } from '../access/policy.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { argon2id } from './passwords.ts'

const PASSWORD = 'a long password'
const YEAR_MS = 365 * 86_400_000
const ENDED = { error: 'session_ended', message: 'Your session has expired. Please log in again.' }
const REQUIRED = { error: 'session_required', message: 'Sign in to continue.' }
const WRONG = { error: 'invalid_credentials', message: 'The username or the password is wrong.' }

describe.each(testEngines)('accounts on %s', (engine) => {
  let hub: TestHub
  let walkerId: string
  beforeAll(async () => {
    hub = await startTestHub(engine)
    // On a slow machine the waits between guesses must not end early.
    hub.clock.freeze()
    walkerId = await hub.addUser('Walker', 'manager', PASSWORD)
  })
  afterAll(() => hub.stop())

  let lastAddress = 0
  /** A new address for each test, so that its failures do not slow down another test. */
  const nextAddress = () => `192.0.2.${++lastAddress}`
  const signIn = (payload: object, remoteAddress = nextAddress()) =>
    hub.app.inject({ method: 'POST', url: '/api/v1/auth/login', payload, remoteAddress })
  const call = (method: 'GET' | 'POST', path: string, token: string) =>
    hub.app.inject({ method, url: `/api/v1/auth/${path}`, headers: { authorization: `Bearer ${token}` } })
  const validate = (token: string) => call('GET', 'validate', token)
  const freshToken = async (username = 'walker') =>
    (await signIn({ username, password: PASSWORD })).json<{ accessToken: string }>().accessToken
  const secret = async () =>
    Buffer.from(
      (await hub.db.selectFrom('secrets').selectAll().where('name', '=', 'token-secret').executeTakeFirstOrThrow())
        .value,
      'base64',
    )
  const claimsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, string | number>

  test('the right password opens a session for its user', async () => {
    const response = await signIn({ username: 'Walker', password: PASSWORD })
    expect(response.statusCode).toBe(200)
    const { accessToken, user } = response.json<{ accessToken: string; user: unknown }>()
    expect(user).toEqual({
      id: walkerId,
      username: 'Walker',
      email: '',
      firstName: '',
      lastName: '',
      role: 'manager',
      mustSetUpTwoFactor: false,
    })
    expect((await validate(accessToken)).json()).toEqual(user)
  })

  test.each(['WALKER', 'ｗａｌｋｅｒ', ' walker '])('%j is the same name', async (username) => {
    expect((await signIn({ username, password: PASSWORD })).statusCode).toBe(200)
  })

  test.each([
    ['a wrong password', { username: 'walker', password: 'wrong' }],
    ['an unknown name', { username: 'nobody', password: PASSWORD }],
  ])('%s is refused in the same words', async (_case, credentials) => {
    const response = await signIn(credentials)
    expect(response.statusCode).toBe(401)
    expect(response.json()).toEqual(WRONG)
  })

  test('a name that looks like an existing one cannot be created', async () => {
    await expect(hub.addUser('WALKER', 'user', PASSWORD)).rejects.toMatchObject({ code: 'username_taken' })
  })

  test('undeclared fields are named and refused', async () => {
    const response = await signIn({ username: 'walker', password: PASSWORD, role: 'admin' })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      error: 'invalid_request',
      fieldErrors: { role: 'This field is not known.' },
    })
  })

  test('missing fields each get a sentence', async () => {
    const response = await signIn({ username: ' ', password: '' })
    expect(response.json()).toMatchObject({
      error: 'invalid_request',
      fieldErrors: { username: 'Enter your username', password: 'Enter your password' },
    })
  })

  test('a password of a megabyte is refused before it is hashed', async () => {
    const response = await signIn({ username: 'walker', password: 'x'.repeat(1_000_000) })
    expect(response.statusCode).toBe(413)
    expect(response.json()).toMatchObject({ error: 'payload_too_large' })
  })

  test('guessing slows one address down, and the owner still signs in from another', async () => {
    const attacker = nextAddress()
    const guess = () => signIn({ username: 'walker', password: 'guess' }, attacker)
    for (let i = 0; i < 6; i++) expect((await guess()).statusCode).toBe(401)
    const slowed = await guess()
    expect(slowed.statusCode).toBe(429)
    expect(slowed.json()).toMatchObject({ error: 'too_many_requests' })
    expect((await signIn({ username: 'walker', password: PASSWORD }, attacker)).statusCode).toBe(429)
    expect((await signIn({ username: 'walker', password: PASSWORD })).statusCode).toBe(200)
    hub.clock.advance(2_000)
    expect((await signIn({ username: 'walker', password: PASSWORD }, attacker)).statusCode).toBe(200)
  })

  test('parallel guesses from one address do not get past the limit', async () => {
    const attacker = nextAddress()
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => signIn({ username: 'walker', password: `guess ${i}` }, attacker)),
    )
    expect(outcomes.filter((response) => response.statusCode === 401).length).toBeLessThanOrEqual(6)
  })

  test('one address that tries many names is slowed down over all of them', async () => {
    const attacker = nextAddress()
    const codes: number[] = []
    for (let i = 0; i < 33; i++)
      codes.push((await signIn({ username: `name ${i}`, password: 'guess' }, attacker)).statusCode)
    expect(codes.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 401))
    expect(codes.at(-1)).toBe(429)
  })

  test('an IPv6 network is one address', async () => {
    const from = (host: string) => signIn({ username: 'walker', password: 'guess' }, `2001:db8:7::${host}`)
    for (let i = 1; i <= 6; i++) expect((await from(String(i))).statusCode).toBe(401)
    expect((await from('ffff')).statusCode).toBe(429)
  })

  test('a deactivated account can neither sign in nor use its session, and the answer says so', async () => {
    const id = await hub.addUser('Sleeper', 'user', PASSWORD)
    const token = await freshToken('sleeper')
    expect((await validate(token)).statusCode).toBe(200)
    await hub.db.updateTable('users').set({ active: 0 }).where('id', '=', id).execute()
    hub.clock.advance(1_000)
    for (const response of [await validate(token), await signIn({ username: 'sleeper', password: PASSWORD })]) {
      expect(response.statusCode).toBe(403)
      expect(response.json()).toMatchObject({ error: 'account_inactive' })
    }
    expect((await signIn({ username: 'sleeper', password: 'wrong' })).json()).toEqual(WRONG)
    expect(await hub.sessions.find(String(claimsOf(token)['jti']))).toBeUndefined()
  })

  test('signing out ends the session at once and notifies listeners', async () => {
    const token = await freshToken()
    expect((await validate(token)).statusCode).toBe(200)
    const ended: string[] = []
    const stopListening = hub.sessions.onEnded((sessionId) => ended.push(sessionId))
    const response = await call('POST', 'logout', token)
    stopListening()
    expect(response.statusCode).toBe(204)
    expect(response.body).toBe('')
    expect(ended).toEqual([claimsOf(token)['jti']])
    expect((await validate(token)).json()).toEqual(ENDED)
    expect((await call('POST', 'renew', token)).json()).toEqual(ENDED)
  })

  test('an ended session is not revived by a request that was already reading it', async () => {
    const token = await freshToken()
    const reads = Array.from({ length: 5 }, () => validate(token))
    await hub.sessions.end(String(claimsOf(token)['jti']))
    await Promise.all(reads)
    expect((await validate(token)).json()).toEqual(ENDED)
  })

  test('a session ends after its time unless it is renewed', async () => {
    const token = await freshToken()
    hub.clock.advance(3_000_000)
    const renewed = (await call('POST', 'renew', token)).json<{ accessToken: string }>().accessToken
    hub.clock.advance(1_000_000)
    expect((await validate(token)).json()).toEqual(ENDED)
    expect((await validate(renewed)).statusCode).toBe(200)
    hub.clock.advance(3_000_000)
    expect((await validate(renewed)).json()).toEqual(ENDED)
  })

  test('only renewal makes a session last longer, not the portal’s background requests', async () => {
    const token = await freshToken()
    const id = String(claimsOf(token)['jti'])
    const endsAt = async () =>
      (await hub.db.selectFrom('sessions').select('expires_at').where('id', '=', id).executeTakeFirst())?.expires_at
    const before = await endsAt()
    const asked = Object.keys(policy).filter((key) => key.startsWith('GET ') && key !== 'GET /v1/hub/events')
    for (let passedMs = 0; passedMs < 3_500_000; passedMs += 700_000) {
      for (const key of asked) {
        const url = `/api${key.slice('GET '.length).replaceAll(/:\w+/g, 'a'.repeat(12))}`
        const { statusCode } = await hub.app.inject({ url, headers: { authorization: `Bearer ${token}` } })
        expect(statusCode, url).not.toBe(401)
      }
      await hub.app.inject({
        method: 'POST',
        url: '/api/v1/gateway/validate-access',
        payload: { deviceToken: 'DT-0123456789AB' },
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await endsAt()).toBe(before)
      hub.clock.advance(700_000)
    }
    hub.clock.advance(200_000)
    expect((await validate(token)).json()).toEqual(ENDED)
  })

  test('a clock that was a year ahead leaves nobody signed in for a year', async () => {
    hub.clock.advance(YEAR_MS)
    const token = await freshToken()
    expect((await validate(token)).statusCode).toBe(200)
    hub.clock.advance(-YEAR_MS)
    expect((await validate(token)).json()).toEqual(ENDED)
    expect((await call('POST', 'renew', token)).json()).toEqual(ENDED)
    expect((await validate(await freshToken())).statusCode).toBe(200)
  })

  test('the configured session time counts', async () => {
    await hub.db.insertInto('settings').values({ name: 'sessionTimeout', value: '60' }).execute()
    const token = await freshToken()
    await hub.db.deleteFrom('settings').where('name', '=', 'sessionTimeout').execute()
    const { iat, exp } = claimsOf(token)
    expect(Number(exp) - Number(iat)).toBe(60)
  })

  describe('forged tokens', () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forge = (header: object, claims: object, key: Buffer) => {
      const signed = `${encode(header)}.${encode(claims)}`
      return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
    }

    test('the same claims signed with the real secret pass, so each refusal below has its own reason', async () => {
      const claims = claimsOf(await freshToken())
      expect((await validate(forge({ alg: 'HS256' }, claims, await secret()))).statusCode).toBe(200)
    })

    test.each<[string, (claims: Record<string, string | number>, key: Buffer) => string]>([
      ['no algorithm', (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
      ['alg none in other letter case', (claims) => `${encode({ alg: 'NoNe' })}.${encode(claims)}.`],
      ["another hub's secret", (claims) => forge({ alg: 'HS256' }, claims, Buffer.alloc(32, 7))],
      ['a swapped algorithm', (claims, key) => forge({ alg: 'HS512' }, claims, key)],
      ['another audience', (claims, key) => forge({ alg: 'HS256' }, { ...claims, aud: 'somebody-else' }, key)],
      ['another issuer', (claims, key) => forge({ alg: 'HS256' }, { ...claims, iss: 'somebody-else' }, key)],
      ['no end', ({ exp: _exp, ...claims }, key) => forge({ alg: 'HS256' }, claims, key)],
      [
        'changed claims',
        (claims, key) =>
          forge({ alg: 'HS256' }, claims, key).replace(/\.[^.]+\./, `.${encode({ ...claims, jti: 'x' })}.`),
      ],
      ['something that is not a token', () => 'abc'],
    ])('%s is refused', async (_case, make) => {
      const response = await validate(make(claimsOf(await freshToken()), await secret()))
      expect(response.statusCode).toBe(401)
      expect(response.json()).toEqual(REQUIRED)
    })

    test('a valid signature over an unknown session is refused', async () => {
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer('hedgerow-hub')
        .setAudience('hedgerow-portal')
        .setSubject(walkerId)
        .setJti('00000000-0000-4000-8000-000000000000')
        .setExpirationTime(new Date(hub.clock.now() + 60_000))
        .sign(await secret())
      expect((await validate(token)).json()).toEqual(ENDED)
    })
  })

  test('a request without a token, or with one outside the Authorization header, is anonymous', async () => {
    const token = await freshToken()
    const asked = await Promise.all([
      hub.app.inject({ url: '/api/v1/auth/validate' }),
      hub.app.inject({ url: '/api/v1/auth/validate', cookies: { hubToken: token } }),
      hub.app.inject({ url: `/api/v1/auth/validate?access_token=${token}` }),
      hub.app.inject({ url: '/api/v1/auth/validate', headers: { authorization: `Basic ${token}` } }),
    ])
    for (const response of asked) {
      expect(response.statusCode).toBe(401)
      expect(response.json()).toEqual(REQUIRED)
    }
  })

  test('sign-ins, refusals and sign-outs are in the audit, without a password', async () => {
    await hub.addUser('Audited', 'user', PASSWORD)
    await signIn({ username: 'audited', password: 'wrong one' }, '198.51.100.1')
    const token = (await signIn({ username: 'audited', password: PASSWORD }, '198.51.100.2')).json<{
      accessToken: string
    }>()
    await call('POST', 'logout', token.accessToken)
    const entries = await hub.db
      .selectFrom('audit')
      .selectAll()
      .where('actor', 'in', ['audited', 'Audited'])
      .orderBy('id')
      .execute()
    expect(entries.map(({ action, result, source_ip }) => [action, result, source_ip])).toEqual([
      ['session.start', 'refused', '198.51.100.1'],
      ['session.start', 'ok', '198.51.100.2'],
      ['session.end', 'ok', '127.0.0.1'],
    ])
    expect(JSON.stringify(entries)).not.toMatch(/wrong one|a long password/)
  })

  test('passwords are stored as argon2id hashes only', async () => {
    const real = await startTestHub(engine, {}, argon2id())
    onTestFinished(() => real.stop())
    const { password_hash: hash } = await real.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', await real.addUser('Walker', 'manager', PASSWORD))
      .executeTakeFirstOrThrow()
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })
})
