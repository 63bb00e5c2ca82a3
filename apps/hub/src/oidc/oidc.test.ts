import * as contract from '@hedgerow/contract'
import { API_BASE, tokenFields, type BodyOf, type SessionUser } from '@hedgerow/contract'
import { generateKeyPair, SignJWT, decodeJwt, base64url } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi, nextAddress, refusal } from '#testing/api.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import {
  CLIENT,
  providerSettings,
  startSignInProvider,
  type Claims,
  type SignInProvider,
} from '#testing/sign-in-provider.ts'
import { freeTcpPort } from '../../../../test/harness/free-ports.ts'
import { createTokenOf } from '../accounts/accounts.ts'
import { runCommand } from '../cli/cli.ts'
import { readConfig } from '../read-config.ts'

const PASSWORD = 'gravel-lantern-42'
const MINUTE_MS = 60_000

async function startHouse(
  engine: (typeof testEngines)[number],
  options: { localSignIn?: boolean; databaseUrl?: string } = {},
) {
  const port = await freeTcpPort()
  const publicUrl = `http://127.0.0.1:${port}`
  const [first, second] = await Promise.all([
    startSignInProvider(publicUrl, 'first'),
    startSignInProvider(publicUrl, 'second'),
  ])
  const providers = [providerSettings('first', first.issuer), providerSettings('second', second.issuer)]
  const hub = await startTestHub(engine, { port, publicUrl, providers, ...options })
  await hub.start()
  const api = createTestApi(hub)
  return { hub, api, first, second, publicUrl }
}

type Signed = { accessToken: string; user: SessionUser }

describe.each(testEngines)('signing in at a provider on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let first: SignInProvider
  let second: SignInProvider
  beforeAll(async () => {
    ;({ hub, api, first, second } = await startHouse(engine))
  })
  afterAll(async () => {
    await hub?.stop()
    await Promise.all([first?.stop(), second?.stop()])
  })
  afterEach(() => {
    first.spoil = {}
    second.spoil = {}
  })

  const begin = async (provider = 'first') => {
    const { status, body } = await api(contract.beginProviderSignIn, { params: { provider } })
    expect([status, body]).toEqual([200, { url: expect.any(String), ticket: expect.any(String) }])
    return body as { url: string; ticket: string }
  }
  const complete = (body: BodyOf<typeof contract.completeProviderSignIn>, provider = 'first') =>
    api(contract.completeProviderSignIn, { params: { provider }, body })
  const signIn = async (name: string, claims: Claims, cookies?: Map<string, string>) => {
    first.people.set(name, { preferred_username: name, ...claims })
    const { url, ticket } = await begin()
    return complete({ ticket, answer: await first.visit(url, name, cookies) })
  }
  const signedIn = ({ status, body }: { status: number; body: unknown }) => {
    expect([status, body]).toEqual([200, { accessToken: expect.any(String), user: expect.any(Object) }])
    return body as Signed
  }
  const validate = (token: string) => api(contract.validateSession, { token })
  const logIn = async (username: string) =>
    signedIn(await api(contract.login, { body: { username, password: PASSWORD } })).accessToken

  test('is offered by name', async () => {
    expect((await api(contract.signInWays)).body).toEqual({
      passwords: true,
      address: expect.stringContaining('http://127.0.0.1:'),
      providers: [
        { id: 'first', name: 'The first house' },
        { id: 'second', name: 'The second house' },
      ],
    })
  })

  test('makes an account with the role of the groups, and follows them at each sign-in', async () => {
    const rosa = { name: 'Rosa Lind', email: 'rosa@farm.example', email_verified: true }
    const { accessToken, user } = signedIn(await signIn('rosa', { ...rosa, groups: ['guards', 'others'] }))
    expect(user).toMatchObject({
      username: 'rosa',
      email: 'rosa@farm.example',
      firstName: 'Rosa',
      lastName: 'Lind',
      role: 'manager',
      provider: 'The first house',
    })
    expect((await validate(accessToken)).body).toEqual(user)
    const again = signedIn(await signIn('rosa', { ...rosa, groups: ['guards'] }))
    expect(again.user.id).toBe(user.id)
    const less = signedIn(await signIn('rosa', { ...rosa, groups: ['family'] }))
    expect(less.user).toMatchObject({ id: user.id, role: 'user' })
    expect(await validate(accessToken)).toMatchObject(refusal(401, 'session_ended'))

    const audit = await hub.db.selectFrom('audit').select(['action', 'reason']).where('actor', '=', 'rosa').execute()
    expect(audit.slice(0, 3)).toEqual([
      { action: 'user.register', reason: null },
      { action: 'provider.link', reason: null },
      { action: 'session.start', reason: 'with The first house' },
    ])
    const changed = await hub.db.selectFrom('audit').select('actor').where('action', '=', 'user.change-role').execute()
    expect(changed).toEqual([{ actor: 'hub' }])
  })

  test('gives no access without a group that has a role, and no password to guess', async () => {
    expect(await signIn('stranger', { groups: ['others'] })).toMatchObject(refusal(403, 'provider_gives_no_role'))
    const before = signedIn(await signIn('guard', { groups: ['guards'] }))
    for (const password of ['', ' ', 'guard'])
      expect((await api(contract.login, { body: { username: 'guard', password } })).status).not.toBe(200)
    expect(await signIn('guard', { groups: [] })).toMatchObject(refusal(403, 'provider_gives_no_role'))
    expect(await validate(before.accessToken)).toMatchObject(refusal(401, 'session_ended'))
  })

  describe('an account that exists', () => {
    test.each([
      ['address', { email: 'MONA@farm.example', email_verified: true }, 'mona'],
      ['name', { preferred_username: 'Nora' }, 'nora'],
    ])('is linked by its password, not by its %s', async (kind, claims, username) => {
      const id = await hub.addUser(username, 'admin', PASSWORD)
      await hub.db
        .updateTable('users')
        .set({ email: `${username}@farm.example` })
        .where('id', '=', id)
        .execute()
      const attempt = () => signIn(`person-${kind}`, { ...claims, groups: ['masters'] })
      const { status, body } = await attempt()
      expect([status, body]).toEqual([200, { link: expect.any(String) }])
      const { link } = body as { link: string }

      expect(await api(contract.linkProvider, { body: { link } })).toMatchObject(refusal(401, 'session_required'))
      const token = await logIn(username)
      expect((await api(contract.linkProvider, { token, body: { link } })).status).toBe(204)
      expect(signedIn(await attempt()).user).toMatchObject({ id, username })
      const links = await api(contract.listProviderLinks, { token })
      expect(links.body).toMatchObject([{ provider: 'The first house' }])

      const [{ id: linkId }] = links.body as [{ id: string }]
      const other = (await attempt()).body as Signed
      expect((await api(contract.unlinkProvider, { token, params: { id: linkId } })).status).toBe(204)
      expect(await validate(other.accessToken)).toMatchObject(refusal(401, 'session_ended'))
      expect((await attempt()).body).toEqual({ link: expect.any(String) })
    })

    test('is not linked by an old session or one of a provider, nor with an account that another has', async () => {
      await hub.addUser('otto', 'user', PASSWORD)
      const { body } = await signIn('otto', { groups: ['family'] })
      const { link } = body as { link: string }
      const token = await logIn('otto')
      const ofProvider = signedIn(await signIn('paula', { groups: ['family'] })).accessToken
      expect(await api(contract.linkProvider, { token: ofProvider, body: { link } })).toMatchObject(
        refusal(409, 'password_too_long_ago'),
      )
      hub.clock.advance(6 * MINUTE_MS)
      expect(await api(contract.linkProvider, { token, body: { link } })).toMatchObject(
        refusal(409, 'password_too_long_ago'),
      )
      const fresh = await logIn('otto')
      expect((await api(contract.linkProvider, { token: fresh, body: { link } })).status).toBe(204)
      await hub.addUser('oskar', 'user', PASSWORD)
      expect(await api(contract.linkProvider, { token: await logIn('oskar'), body: { link } })).toMatchObject(
        refusal(409, 'provider_account_taken'),
      )
      hub.clock.advance(-6 * MINUTE_MS)
    })

    test('is not reached by an account of the same id at another provider', async () => {
      const { user } = signedIn(await signIn('twin', { groups: ['family'] }))
      second.people.set('twin', { preferred_username: 'twin-of-the-second', groups: ['family'] })
      const { url, ticket } = await begin('second')
      const other = signedIn(await complete({ ticket, answer: await second.visit(url, 'twin') }, 'second'))
      expect(other.user.id).not.toBe(user.id)
    })

    test('keeps the last way in', async () => {
      const { accessToken: token } = signedIn(await signIn('only', { groups: ['family'] }))
      const [{ id }] = (await api(contract.listProviderLinks, { token })).body as [{ id: string }]
      expect(await api(contract.unlinkProvider, { token, params: { id } })).toMatchObject(refusal(409, 'only_way_in'))
      expect((await validate(token)).status).toBe(200)
    })

    test('that is inactive stays out, and the last admin keeps the role', async () => {
      const { user } = signedIn(await signIn('gone', { groups: ['family'] }))
      await hub.db.updateTable('users').set({ active: 0 }).where('id', '=', user.id).execute()
      expect(await signIn('gone', { groups: ['family'] })).toMatchObject(refusal(403, 'account_inactive'))
      const { user: last } = signedIn(await signIn('last', { groups: ['masters'] }))
      await hub.db.updateTable('users').set({ active: 0 }).where('id', '!=', last.id).execute()
      expect(await signIn('last', { groups: ['family'] })).toMatchObject(refusal(409, 'last_admin'))
      await hub.db.updateTable('users').set({ active: 1 }).execute()
    })
  })

  describe('refuses', () => {
    const answerOf = async (name = 'attacked') => {
      first.people.set(name, { preferred_username: name, groups: ['family'] })
      const { url, ticket } = await begin()
      return { ticket, answer: await first.visit(url, name) }
    }

    test('a replayed answer, another tab’s, and one with another state', async () => {
      const own = await answerOf()
      const other = await begin()
      expect(await complete({ ...own, ticket: other.ticket })).toMatchObject(refusal(400, 'provider_answer_refused'))
      signedIn(await complete(own))
      expect(await complete(own)).toMatchObject(refusal(400, 'provider_sign_in_ended'))
      expect(await complete({ ...own, ticket: 'bm90aGluZw==' })).toMatchObject(refusal(400, 'provider_sign_in_ended'))
      const { ticket, answer } = await answerOf()
      const changed = new URLSearchParams(answer)
      changed.set('state', 'another')
      expect(await complete({ ticket, answer: `?${changed}` })).toMatchObject(refusal(400, 'provider_answer_refused'))
    })

    test('an answer after ten minutes', async () => {
      const late = await answerOf()
      hub.clock.advance(10 * MINUTE_MS)
      expect(await complete(late)).toMatchObject(refusal(400, 'provider_sign_in_ended'))
      hub.clock.advance(-10 * MINUTE_MS)
    })

    test('a mix-up of providers', async () => {
      const own = await answerOf()
      expect(await complete(own, 'second')).toMatchObject(refusal(400, 'provider_sign_in_ended'))
      const { url, ticket } = await begin('second')
      second.people.set('attacked', { groups: ['masters'] })
      const answer = await second.visit(url, 'attacked')
      const mixed = await begin('first')
      expect(await complete({ ticket: mixed.ticket, answer })).toMatchObject(refusal(400, 'provider_answer_refused'))
      const swapped = new URLSearchParams(answer)
      swapped.set('iss', first.issuer)
      expect(await complete({ ticket, answer: `?${swapped}` }, 'second')).toMatchObject(
        refusal(400, 'provider_answer_refused'),
      )
      expect(await api(contract.beginProviderSignIn, { params: { provider: 'third' } })).toMatchObject(
        refusal(404, 'provider_not_found'),
      )
    })

    test.each([
      ['expired', 5],
      ['from the future', -5],
    ])('a token that is %s', async (_, minutes) => {
      hub.clock.advance(minutes * MINUTE_MS)
      expect(await complete(await answerOf())).toMatchObject(refusal(400, 'provider_answer_refused'))
      hub.clock.advance(-minutes * MINUTE_MS)
    })

    const algorithms = { id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] }
    const header = (alg: string) => base64url.encode(JSON.stringify({ alg }))
    const signed = (payload: Claims, key: CryptoKey | Uint8Array, alg = 'RS256') =>
      new SignJWT(payload).setProtectedHeader({ alg }).sign(key)
    const secret = new TextEncoder().encode(CLIENT.secret)

    /** The provider answers with such a token instead of its own. */
    const withToken = async (forge: (payload: Claims) => Promise<string> | string) => {
      // The description is read again after an hour.
      hub.clock.advance(61 * MINUTE_MS)
      const now = Math.floor(hub.clock.now() / 1_000)
      first.spoil = {
        description: (answer) => ({ ...answer, ...algorithms }),
        token: async (answer) => ({
          ...answer,
          id_token: await forge({ ...decodeJwt(String(answer['id_token'])), iat: now, exp: now + 60 }),
        }),
      }
      return complete(await answerOf()).finally(() => hub.clock.advance(-61 * MINUTE_MS))
    }

    test('nothing of a token with its own key', async () => {
      expect((await withToken((payload) => signed(payload, first.key))).status).toBe(200)
    })

    test.each<[string, (payload: Claims) => Promise<string> | string]>([
      ['no signature', (payload) => `${header('none')}.${base64url.encode(JSON.stringify(payload))}.`],
      ['the client’s secret', (payload) => signed(payload, secret, 'HS256')],
      ['another key', async (payload) => signed(payload, (await generateKeyPair('RS256')).privateKey)],
      ['another issuer', (payload) => signed({ ...payload, iss: 'https://elsewhere.example' }, first.key)],
      ['another hub', (payload) => signed({ ...payload, aud: 'another-hub' }, first.key)],
      ['another sign-in', (payload) => signed({ ...payload, nonce: 'another' }, first.key)],
      ['another person than its page about them', (payload) => signed({ ...payload, sub: 'rosa' }, first.key)],
    ])('a token with %s', async (_, forge) => {
      expect(await withToken(forge)).toMatchObject(refusal(400, 'provider_answer_refused'))
    })

    test('pages of other sites, and forms where the provider sends none', async () => {
      const send = (url: string, headers: Record<string, string>, payload: string) =>
        hub.app.inject({ method: 'POST', url: API_BASE + url, remoteAddress: nextAddress(), headers, payload })
      const json = { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' }
      const body = JSON.stringify(await answerOf())
      expect((await send('/v1/auth/providers/first/complete', json, body)).json()).toMatchObject({
        error: 'origin_not_allowed',
      })
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      expect((await send('/v1/auth/login', form, 'username=a&password=b')).statusCode).toBe(415)
      expect((await send('/v1/auth/providers/first/complete', form, 'ticket=a&answer=b')).statusCode).toBe(415)
    })

    test('a crowd of wrong answers from one network', async () => {
      const from = nextAddress()
      const body = { ticket: 'bm90aGluZw==', answer: '?' }
      const attempt = () => api(contract.completeProviderSignIn, { params: { provider: 'first' }, body, from })
      for (let i = 0; i < 31; i++) expect((await attempt()).status).toBe(400)
      expect(await attempt()).toMatchObject(refusal(429, 'too_many_requests'))
    })
  })

  describe('signing out', () => {
    test('also ends the session at the provider, by its page', async () => {
      const { accessToken: token } = signedIn(await signIn('leaver', { groups: ['family'] }))
      const { status, body } = await api(contract.logoutAtProvider, { token })
      expect(status).toBe(200)
      const url = new URL((body as { url: string }).url)
      expect(url.href.startsWith(`${first.issuer}/session/end?`)).toBe(true)
      expect(decodeJwt(url.searchParams.get('id_token_hint') ?? '').sub).toBe('leaver')
      expect(url.searchParams.get('post_logout_redirect_uri')).toMatch(/\/login$/)
      expect(await validate(token)).toMatchObject(refusal(401, 'session_ended'))
      await hub.addUser('local', 'user', PASSWORD)
      expect((await api(contract.logoutAtProvider, { token: await logIn('local') })).body).toEqual({ url: null })
    })

    test('at the provider ends the sessions here that it opened, and no other', async () => {
      const cookies = new Map<string, string>()
      const ended = signedIn(await signIn('visitor', { groups: ['family'] }, cookies)).accessToken
      const elsewhere = signedIn(await signIn('visitor', { groups: ['family'] })).accessToken
      const other = signedIn(await signIn('neighbour', { groups: ['family'] })).accessToken
      const { id_token: hint } = await hub.db
        .selectFrom('sessions')
        .select('id_token')
        .where('id', '=', String(decodeJwt(ended).jti))
        .executeTakeFirstOrThrow()
      await first.leave(`${first.issuer}/session/end?id_token_hint=${hint}`, cookies)
      await expect.poll(async () => (await validate(ended)).status).toBe(401)
      expect((await validate(elsewhere)).status).toBe(200)
      expect((await validate(other)).status).toBe(200)
      const audit = hub.db.selectFrom('audit').select('action').where('actor', '=', 'visitor').orderBy('id', 'desc')
      expect(await audit.executeTakeFirst()).toEqual({ action: 'session.end' })
    })

    test('is not ordered by a forged token, or by an ID token', async () => {
      const { accessToken } = signedIn(await signIn('kept', { groups: ['family'] }))
      const row = await hub.db
        .selectFrom('sessions')
        .select('id_token')
        .where('id', '=', String(decodeJwt(accessToken).jti))
        .executeTakeFirstOrThrow()
      const { privateKey } = await generateKeyPair('RS256')
      const forged = await first.logoutToken('kept', privateKey)
      for (const token of [forged, String(row.id_token), 'nothing']) {
        const response = await hub.app.inject({
          method: 'POST',
          url: `${API_BASE}/v1/auth/providers/first/back-channel-logout`,
          remoteAddress: nextAddress(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          payload: new URLSearchParams({ logout_token: token }).toString(),
        })
        expect([response.statusCode, response.json()]).toMatchObject([400, { error: 'logout_token_invalid' }])
      }
      expect((await validate(accessToken)).status).toBe(200)
    })

    test('is ordered for all sessions of a person, but not by an old token', async () => {
      const { accessToken } = signedIn(await signIn('ordered', { groups: ['family'] }))
      const order = async () => {
        const { statusCode } = await hub.app.inject({
          method: 'POST',
          url: `${API_BASE}/v1/auth/providers/first/back-channel-logout`,
          remoteAddress: nextAddress(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          payload: new URLSearchParams({ logout_token: token }).toString(),
        })
        return statusCode
      }
      const token = await first.logoutToken('ordered')
      hub.clock.advance(5 * MINUTE_MS)
      expect(await order()).toBe(400)
      hub.clock.advance(-5 * MINUTE_MS)
      expect(await order()).toBe(204)
      expect(await validate(accessToken)).toMatchObject(refusal(401, 'session_ended'))
      const { accessToken: later } = signedIn(await signIn('ordered', { groups: ['family'] }))
      expect(await order()).toBe(400)
      expect((await validate(later)).status).toBe(200)
    })
  })
})

describe.each(testEngines)('a provider that is away, on %s', (engine) => {
  test('keeps nobody out who is signed in, or has a password', async () => {
    const { hub, api, first, second } = await startHouse(engine)
    try {
      first.people.set('rosa', { preferred_username: 'rosa', groups: ['guards'] })
      const params = { provider: 'first' }
      const { url, ticket } = (await api(contract.beginProviderSignIn, { params })).body as Record<string, string>
      const answer = await first.visit(url!, 'rosa')
      const opened = await api(contract.completeProviderSignIn, { params, body: { ticket, answer } })
      const { accessToken: token } = opened.body as Signed
      const under = (await api(contract.beginProviderSignIn, { params })).body as Record<string, string>
      const going = { ticket: under['ticket'], answer: await first.visit(under['url']!, 'rosa') }
      await first.stop()

      expect((await api(contract.readProfile, { token })).status).toBe(200)
      expect(await api(contract.completeProviderSignIn, { params, body: going })).toMatchObject(
        refusal(502, 'provider_unavailable'),
      )
      await hub.addUser('mona', 'user', PASSWORD)
      expect((await api(contract.login, { body: { username: 'mona', password: PASSWORD } })).status).toBe(200)
      hub.clock.advance(61 * MINUTE_MS)
      expect(await api(contract.beginProviderSignIn, { params })).toMatchObject(refusal(502, 'provider_unavailable'))
    } finally {
      await hub.stop()
      await second.stop()
    }
  })

  test('or names another issuer, begins no sign-in', async () => {
    const provider = await startSignInProvider('http://127.0.0.1:1')
    const providers = [providerSettings('first', provider.issuer.replace('127.0.0.1', 'localhost'))]
    const hub = await startTestHub(engine, { publicUrl: 'http://127.0.0.1:1', providers })
    try {
      await hub.app.ready()
      const begun = await createTestApi(hub)(contract.beginProviderSignIn, { params: { provider: 'first' } })
      expect(begun).toMatchObject(refusal(502, 'provider_unavailable'))
    } finally {
      await hub.stop()
      await provider.stop()
    }
  })

  test('is not missed where the hub requires two-factor, which the provider is trusted with', async () => {
    const { hub, api, first, second } = await startHouse(engine)
    try {
      await hub.db.insertInto('settings').values({ name: 'twoFactorRequired', value: 'true' }).execute()
      first.people.set('quick', { preferred_username: 'quick', groups: ['family'] })
      const params = { provider: 'first' }
      const { url, ticket } = (await api(contract.beginProviderSignIn, { params })).body as Record<string, string>
      const answer = await first.visit(url!, 'quick')
      const { body } = await api(contract.completeProviderSignIn, { params, body: { ticket, answer } })
      const { accessToken: token, user } = body as Signed
      expect(user.mustSetUpTwoFactor).toBe(false)
      expect((await api(contract.readProfile, { token })).status).toBe(200)
      const author = { at: hub.clock.now(), actor: { name: 'hub' } }
      const program = await createTokenOf(hub.db, 'quick', tokenFields.parse({ name: 'backup' }), author)
      expect((await api(contract.listGateways, { token: program.token })).status).toBe(200)
      const id = await hub.addUser('mona', 'user', PASSWORD)
      const local = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
      expect(await api(contract.readProfile, { token: local })).toMatchObject(refusal(409, 'two_factor_setup_required'))
    } finally {
      await hub.stop()
      await Promise.all([first.stop(), second.stop()])
    }
  })

  test('takes passwords only of whom the command line allowed, when local sign-in is off', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const { hub, api, first, second } = await startHouse(engine, { localSignIn: false, databaseUrl: url })
    try {
      await hub.addUser('ada', 'admin', PASSWORD)
      const logIn = (password = PASSWORD) => api(contract.login, { body: { username: 'ada', password } })
      expect((await api(contract.signInWays)).body).toMatchObject({ passwords: false })
      expect((await api(contract.registrationInfo)).body).toMatchObject({ openRegistration: false })
      for (const password of [PASSWORD, 'a guess of it'])
        expect(await logIn(password)).toMatchObject(refusal(403, 'local_sign_in_off'))
      const off = refusal(403, 'local_sign_in_off')
      expect(await api(contract.requestPasswordReset, { body: { who: 'ada' } })).toMatchObject(off)
      const found = { body: { token: 'x'.repeat(43), newPassword: PASSWORD } }
      expect(await api(contract.completePasswordReset, found)).toMatchObject(off)
      const lines: string[] = []
      const config = readConfig({ HUB_DATABASE_URL: url })
      const print = (text: string) => lines.push(text)
      await runCommand(['allow-password', 'ada'], { config, passwords: hub.passwords, print })
      expect(lines).toEqual(['"ada" (admin) may sign in with their password for an hour, at /login.'])
      expect(await logIn('a guess of it')).toMatchObject(refusal(401, 'invalid_credentials'))
      expect((await logIn()).status).toBe(200)
      hub.clock.advance(60 * MINUTE_MS)
      expect(await logIn()).toMatchObject(refusal(403, 'local_sign_in_off'))
    } finally {
      await hub.stop()
      await remove()
      await Promise.all([first.stop(), second.stop()])
    }
  })
})
