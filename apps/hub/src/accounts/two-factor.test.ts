import * as contract from '@hedgerow/contract'
import { generate } from 'otplib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestApi, nextAddress, refusal } from '#testing/api.ts'
import { createTwoFactorSecrets } from './two-factor-secrets.ts'

const PASSWORD = 'gravel-lantern-42'
const STEP_MS = 30_000

describe.each(testEngines)('two-factor on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  beforeAll(async () => {
    hub = await startTestHub(engine)
    // On a slow machine the waits between guesses must not end early.
    hub.clock.freeze()
    await hub.app.ready()
    api = createTestApi(hub)
  })
  afterAll(() => hub.stop())

  const codeAt = (secret: string, offsetMs = 0) =>
    generate({ secret, epoch: Math.floor((hub.clock.now() + offsetMs) / 1_000) })
  const signIn = (username: string, from = nextAddress()) =>
    api(contract.login, { body: { username, password: PASSWORD }, from })
  const answer = (challenge: string, code: string, from: string) =>
    api(contract.loginTwoFactor, { body: { challenge, code }, from })
  const challengeFor = async (username: string, from: string) => {
    hub.clock.advance(1)
    const { body } = await signIn(username, from)
    expect(body).toEqual({ twoFactorRequired: true, challenge: expect.any(String) })
    return (body as { challenge: string }).challenge
  }
  /** Signs in with a code of the secret, one step later each time, since no code works twice. */
  const attempt = async (username: string, code: string, from = nextAddress()) =>
    answer(await challengeFor(username, from), code, from)
  const tokenOf = ({ body }: { body: unknown }) => (body as { accessToken: string }).accessToken

  let users = 0
  /** A user with two-factor; one step passes, so that the setup's code does not block the next one. */
  async function enrolled() {
    const home = nextAddress()
    const username = `factor-${'abcdefghjkmnpqrstuwxyz'[users++]}`
    const id = await hub.addUser(username, 'user', PASSWORD)
    const token = tokenOf(await signIn(username, home))
    const { secret } = (await api(contract.setUpTwoFactor, { token, body: { password: PASSWORD } })).body as {
      secret: string
    }
    const enabled = await api(contract.enableTwoFactor, { token, body: { code: await codeAt(secret) } })
    expect(enabled.status).toBe(200)
    hub.clock.advance(2 * STEP_MS)
    const { recoveryCodes } = enabled.body as { recoveryCodes: string[] }
    return { username, id, token, secret, recoveryCodes, home }
  }

  test('setup takes a secret and a code and returns ten recovery codes', async () => {
    const id = await hub.addUser('careful', 'user', PASSWORD)
    const token = tokenOf(await signIn('careful'))
    expect(await api(contract.enableTwoFactor, { token, body: { code: '123456' } })).toMatchObject(
      refusal(409, 'two_factor_disabled'),
    )
    expect(await api(contract.setUpTwoFactor, { token, body: { password: 'not-the-password' } })).toMatchObject({
      ...refusal(400, 'password_wrong'),
    })
    expect((await api(contract.setUpTwoFactor, { token, body: {} })).status).toBe(400)
    const { secret, otpauthUrl } = (await api(contract.setUpTwoFactor, { token, body: { password: PASSWORD } }))
      .body as Record<string, string>
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(otpauthUrl).toBe(`otpauth://totp/Hedgerow:careful?secret=${secret}&issuer=Hedgerow`)
    expect(
      await api(contract.enableTwoFactor, { token, body: { code: await codeAt(secret!, -5 * STEP_MS) } }),
    ).toMatchObject(refusal(400, 'two_factor_code_wrong'))
    expect((await signIn('careful')).body).toHaveProperty('accessToken')

    const code = await codeAt(secret!)
    const enabled = await api(contract.enableTwoFactor, {
      token,
      body: { code: `${code.slice(0, 3)} ${code.slice(3)}` },
    })
    const { recoveryCodes } = enabled.body as { recoveryCodes: string[] }
    expect(new Set(recoveryCodes).size).toBe(10)
    expect((await api(contract.readProfile, { token })).body).toMatchObject({
      twoFactorEnabled: true,
      recoveryCodesLeft: 10,
    })
    for (const again of [
      await api(contract.setUpTwoFactor, { token, body: { password: PASSWORD } }),
      await api(contract.enableTwoFactor, { token, body: { code } }),
    ])
      expect(again).toMatchObject(refusal(409, 'two_factor_enabled'))

    const row = await hub.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const stored = JSON.stringify([row, await hub.db.selectFrom('recovery_codes').selectAll().execute()])
    for (const plain of [secret!, ...recoveryCodes]) expect(stored).not.toContain(plain)
  })

  test('the right password alone opens nothing; with the code it opens a session', async () => {
    const { username, secret, id } = await enrolled()
    const sessionsBefore = await hub.db.selectFrom('sessions').select('id').where('user_id', '=', id).execute()
    const from = nextAddress()
    const challenge = await challengeFor(username, from)
    expect(await hub.db.selectFrom('sessions').select('id').where('user_id', '=', id).execute()).toEqual(sessionsBefore)
    expect((await api(contract.validateSession, { token: challenge })).status).toBe(401)
    const signedIn = await answer(challenge, await codeAt(secret), from)
    expect(signedIn).toMatchObject({ status: 200, body: { user: { username } } })
    expect((await api(contract.validateSession, { token: tokenOf(signedIn) })).status).toBe(200)
  })

  test('codes of one step before and after are valid, older and newer ones are not', async () => {
    const { username, secret } = await enrolled()
    const outcomes: [number, number][] = []
    for (const steps of [-2, 2, -1, 0, 1]) {
      hub.clock.advance(4 * STEP_MS)
      outcomes.push([steps, (await attempt(username, await codeAt(secret, steps * STEP_MS))).status])
    }
    expect(outcomes).toEqual([
      [-2, 400],
      [2, 400],
      [-1, 200],
      [0, 200],
      [1, 200],
    ])
  })

  test('a used code is refused, also twenty times at once, and so is an older one', async () => {
    const { username, secret, id } = await enrolled()
    const code = await codeAt(secret)
    const addresses = Array.from({ length: 20 }, nextAddress)
    await hub.db
      .insertInto('known_networks')
      .values(addresses.map((network) => ({ user_id: id, network, last_at: hub.clock.now() })))
      .execute()
    const challenges = await Promise.all(addresses.map((from) => challengeFor(username, from)))
    const answers = await Promise.all(challenges.map((challenge, i) => answer(challenge, code, addresses[i]!)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 400)])
    const [a, b, c, d] = addresses
    expect(await attempt(username, code, a)).toMatchObject(refusal(400, 'two_factor_code_wrong'))
    expect((await attempt(username, await codeAt(secret, -STEP_MS), b)).status).toBe(400)
    hub.clock.advance(STEP_MS)
    expect((await attempt(username, code, c)).status).toBe(400)
    expect((await attempt(username, await codeAt(secret), d)).status).toBe(200)
  })

  test('a clock that was a year ahead does not lock the owner out', async () => {
    const { username, secret } = await enrolled()
    const year = 365 * 86_400_000
    hub.clock.advance(year)
    expect((await attempt(username, await codeAt(secret))).status).toBe(200)
    hub.clock.advance(-year)
    const code = await codeAt(secret)
    expect((await attempt(username, code)).status).toBe(200)
    expect((await attempt(username, code)).status).toBe(400)
  })

  test('a challenge works once, for five codes, five minutes and one network', async () => {
    const { username, secret } = await enrolled()
    const ended = refusal(401, 'challenge_ended')
    const from = nextAddress()
    const used = await challengeFor(username, from)
    expect((await answer(used, await codeAt(secret), from)).status).toBe(200)
    hub.clock.advance(STEP_MS)
    expect(await answer(used, await codeAt(secret), from)).toMatchObject(ended)

    expect(await answer(await challengeFor(username, from), await codeAt(secret), nextAddress())).toMatchObject(ended)
    expect(await answer('no-challenge', await codeAt(secret), from)).toMatchObject(ended)

    const tooLate = await challengeFor(username, from)
    hub.clock.advance(5 * 60_000)
    expect(await answer(tooLate, await codeAt(secret), from)).toMatchObject(ended)

    const guesser = nextAddress()
    const guessed = await challengeFor(username, guesser)
    for (let i = 0; i < 5; i++) expect((await answer(guessed, '000000', guesser)).status).toBe(400)
    expect(await answer(guessed, await codeAt(secret), guesser)).toMatchObject(ended)
  })

  test('an attacker with the password is slowed down, and the owner at home is not', async () => {
    const { username, secret, home } = await enrolled()
    const guesser = nextAddress()
    for (let i = 0; i < 5; i++) await attempt(username, '000000', guesser)
    expect((await attempt(username, '000000', guesser)).status).toBe(400)
    expect(await attempt(username, await codeAt(secret), guesser)).toMatchObject(refusal(429, 'too_many_requests'))
    expect((await attempt(username, await codeAt(secret), home)).status).toBe(200)
  })

  test('code guesses from many networks count; the owner signs in at home or with a recovery code', async () => {
    const { username, secret, home, recoveryCodes } = await enrolled()
    const outcomes: number[] = []
    for (let i = 0; i < 40; i++) outcomes.push((await attempt(username, '000000')).status)
    expect(outcomes.filter((status) => status === 400).length).toBe(6)
    expect(outcomes.filter((status) => status === 429).length).toBe(34)
    // They wait even when sent all at once.
    const addresses = Array.from({ length: 10 }, nextAddress)
    const challenges = await Promise.all(addresses.map((from) => challengeFor(username, from)))
    const atOnce = await Promise.all(challenges.map((challenge, i) => answer(challenge, '000000', addresses[i]!)))
    expect(new Set(atOnce.map(({ status }) => status))).toEqual(new Set([429]))
    // The wait grows, and a try that had to wait does not count for the challenge.
    hub.clock.advance(1_000)
    expect((await attempt(username, '000000')).status).toBe(400)
    hub.clock.advance(1_000)
    const patient = nextAddress()
    const challenge = await challengeFor(username, patient)
    for (let i = 0; i < 8; i++) expect((await answer(challenge, await codeAt(secret), patient)).status).toBe(429)

    expect((await attempt(username, recoveryCodes[0]!)).status).toBe(200)
    for (let i = 0; i < 6; i++) await attempt(username, '000000')
    expect((await attempt(username, await codeAt(secret))).status).toBe(429)
    expect((await attempt(username, await codeAt(secret), home)).status).toBe(200)
  })

  test('the guesses are stored in the database, for another hub or a restart', async () => {
    const { username, id } = await enrolled()
    for (let i = 0; i < 6; i++) await attempt(username, '000000')
    const rows = hub.db.selectFrom('code_guesses').selectAll().where('user_id', '=', id)
    expect(await rows.executeTakeFirst()).toMatchObject({ failures: 6 })
    expect((await attempt(username, '000000')).status).toBe(429)
  })

  test('one account has few open challenges, and those of one network do not push out another’s', async () => {
    const { username, id, secret } = await enrolled()
    const from = nextAddress()
    const first = await challengeFor(username, from)
    const crowd = nextAddress()
    for (let i = 0; i < 30; i++) await challengeFor(username, crowd)
    const open = () => hub.db.selectFrom('sign_in_challenges').select('source').where('user_id', '=', id).execute()
    expect((await open()).length).toBe(4)
    expect((await answer(first, await codeAt(secret), from)).status).toBe(200)
    for (let i = 0; i < 30; i++) await challengeFor(username, nextAddress())
    expect((await open()).length).toBe(20)
  })

  test('strangers with the password push out no challenge of a known network, nor one from elsewhere', async () => {
    const { username, secret, home, recoveryCodes } = await enrolled()
    const atHome = await challengeFor(username, home)
    const elsewhere = '203.0.113.7'
    const away = await challengeFor(username, elsewhere)
    for (let i = 0; i < 30; i++) await challengeFor(username, nextAddress())
    expect((await answer(away, recoveryCodes[0]!, elsewhere)).status).toBe(200)
    expect((await answer(atHome, await codeAt(secret), home)).status).toBe(200)
  })

  test('a password change ends the challenge', async () => {
    const { username, id, secret } = await enrolled()
    const from = nextAddress()
    const challenge = await challengeFor(username, from)
    const admin = await hub.signIn('admin')
    expect(
      await api(contract.editUser, {
        token: admin,
        params: { id },
        body: { username, email: 'a@example.org', password: 'other-words-17' },
      }),
    ).toMatchObject({ status: 200 })
    expect(await answer(challenge, await codeAt(secret), from)).toMatchObject(refusal(401, 'challenge_ended'))
  })

  test('each recovery code opens one session, also when it is sent ten times at once', async () => {
    const { username, recoveryCodes } = await enrolled()
    const [first = '', second = ''] = recoveryCodes
    const addresses = Array.from({ length: 10 }, nextAddress)
    const challenges = await Promise.all(addresses.map((from) => challengeFor(username, from)))
    const answers = await Promise.all(
      challenges.map((challenge, i) => answer(challenge, first.toLowerCase().replaceAll('-', ''), addresses[i]!)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 400)])
    const signedIn = await attempt(username, second)
    expect(signedIn.status).toBe(200)
    expect((await api(contract.readProfile, { token: tokenOf(signedIn) })).body).toMatchObject({ recoveryCodesLeft: 8 })
    const actions = await hub.db.selectFrom('audit').select('action').where('actor', '=', username).execute()
    expect(actions.filter(({ action }) => action === 'two-factor.use-recovery-code')).toHaveLength(2)
  })

  test('switching it off takes the password and a code; then the password alone signs in', async () => {
    const { username, token, secret } = await enrolled()
    const disable = (password: string, code: string) =>
      api(contract.disableTwoFactor, { token, body: { password, code } })
    expect(await disable('wrong', await codeAt(secret))).toMatchObject({
      status: 400,
      body: { error: 'password_wrong', fieldErrors: { password: 'The current password is wrong.' } },
    })
    expect(await disable(PASSWORD, '000000')).toMatchObject(refusal(400, 'two_factor_code_wrong'))
    expect((await disable(PASSWORD, await codeAt(secret))).status).toBe(204)
    expect(await disable(PASSWORD, await codeAt(secret))).toMatchObject(refusal(409, 'two_factor_disabled'))
    expect((await signIn(username)).body).toHaveProperty('accessToken')
    expect((await api(contract.readProfile, { token })).body).toMatchObject({
      twoFactorEnabled: false,
      recoveryCodesLeft: 0,
    })
  })

  test('recovery codes are renewed with the password and a code; the old ones stop working', async () => {
    const { username, id, token, secret, recoveryCodes } = await enrolled()
    const renew = (password: string, code: string) =>
      api(contract.renewRecoveryCodes, { token, body: { password, code } })
    expect(await renew('wrong', await codeAt(secret))).toMatchObject(refusal(400, 'password_wrong'))
    expect(await renew(PASSWORD, '000000')).toMatchObject(refusal(400, 'two_factor_code_wrong'))
    const renewed = await renew(PASSWORD, recoveryCodes[0]!)
    expect(renewed.status).toBe(200)
    const fresh = (renewed.body as { recoveryCodes: string[] }).recoveryCodes
    expect(new Set([...fresh, ...recoveryCodes]).size).toBe(20)
    expect(await attempt(username, recoveryCodes[1]!)).toMatchObject(refusal(400, 'two_factor_code_wrong'))
    expect((await attempt(username, fresh[0]!)).body).toHaveProperty('accessToken')
    const actions = await hub.db.selectFrom('audit').select('action').where('actor_id', '=', id).execute()
    expect(actions.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['two-factor.set-up', 'two-factor.enable', 'two-factor.renew-recovery-codes']),
    )
  })

  test('renewing recovery codes needs two-factor', async () => {
    await hub.addUser('single-factor', 'user', PASSWORD)
    const token = tokenOf(await signIn('single-factor'))
    expect(
      await api(contract.renewRecoveryCodes, { token, body: { password: PASSWORD, code: '123456' } }),
    ).toMatchObject(refusal(409, 'two_factor_disabled'))
  })

  test('in a stolen session guessing is slowed down too', async () => {
    const { token, secret } = await enrolled()
    const disable = (code: string) => api(contract.disableTwoFactor, { token, body: { password: PASSWORD, code } })
    for (let i = 0; i < 6; i++) expect((await disable('000000')).status).toBe(400)
    expect(await disable(await codeAt(secret))).toMatchObject(refusal(429, 'too_many_requests'))
  })

  test('when required for everyone, a session without it can only set it up', async () => {
    const id = await hub.addUser('postponer', 'admin', PASSWORD)
    const token = tokenOf(await signIn('postponer'))
    await hub.db.insertInto('settings').values({ name: 'twoFactorRequired', value: 'true' }).execute()
    hub.clock.advance(1_000)
    expect(await api(contract.listGateways, { token })).toMatchObject({
      status: 409,
      body: {
        error: 'two_factor_setup_required',
        message: 'This hub requires two-factor sign-in. Set it up to continue.',
      },
    })
    for (const call of [contract.listUsers, contract.readProfile, contract.listSessions, contract.hubStats])
      expect((await api(call, { token })).status).toBe(409)
    expect(await api(contract.validateSession, { token })).toMatchObject({
      status: 200,
      body: { mustSetUpTwoFactor: true },
    })
    expect((await signIn('postponer')).body).toMatchObject({ user: { mustSetUpTwoFactor: true } })
    const [{ id: sessionId } = { id: '' }] = await hub.db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', id)
      .execute()
    expect(await hub.sessions.find(sessionId)).toBeUndefined()
    const renewed = tokenOf(await api(contract.renewSession, { token }))

    const { secret } = (await api(contract.setUpTwoFactor, { token: renewed, body: { password: PASSWORD } })).body as {
      secret: string
    }
    expect((await api(contract.enableTwoFactor, { token, body: { code: await codeAt(secret) } })).status).toBe(200)
    expect((await api(contract.listGateways, { token })).status).toBe(200)
    expect(await api(contract.validateSession, { token })).toMatchObject({ body: { mustSetUpTwoFactor: false } })
    expect(await hub.sessions.find(sessionId)).toMatchObject({ username: 'postponer' })
    await hub.db.deleteFrom('settings').execute()
  })
})

test('a sealed secret opens only for its user and its hub', () => {
  const secrets = createTwoFactorSecrets(Buffer.alloc(32, 1).toString('base64'))
  const sealed = secrets.seal('SECRET', 'user-a')
  expect(secrets.open(sealed, 'user-a')).toBe('SECRET')
  expect(secrets.seal('SECRET', 'user-a')).not.toBe(sealed)
  expect(() => secrets.open(sealed, 'user-b')).toThrow(/unable to authenticate/)
  expect(() => createTwoFactorSecrets(Buffer.alloc(32, 2).toString('base64')).open(sealed, 'user-a')).toThrow(
    /unable to authenticate/,
  )
})
