import * as contract from '@hedgerow/contract'
import type { Session } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestApi, nextAddress, refusal } from '#testing/api.ts'

const PASSWORD = 'gravel-lantern-42'
const NEW_PASSWORD = 'other-words-17'

describe.each(testEngines)('profile on %s', (engine) => {
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

  const signIn = async (username: string, password = PASSWORD, from = nextAddress()) => {
    const answer = await api(contract.login, { body: { username, password }, from })
    return { status: answer.status, token: (answer.body as { accessToken: string }).accessToken }
  }
  const changePassword = (token: string, currentPassword: string, newPassword: string) =>
    api(contract.changePassword, { token, body: { currentPassword, newPassword } })
  const isAlive = async (token: string) => (await api(contract.validateSession, { token })).status === 200
  const sessionsOf = async (token: string) => (await api(contract.listSessions, { token })).body as Session[]

  test('people read and change their names and email address, nothing else', async () => {
    await hub.addUser('self', 'user', PASSWORD)
    const { token } = await signIn('self')
    const changed = { email: 'self@example.org', firstName: 'Sel', lastName: 'F' }
    expect(await api(contract.saveProfile, { token, body: { ...changed, currentPassword: PASSWORD } })).toMatchObject({
      status: 200,
      body: { ...changed, username: 'self', role: 'user', twoFactorEnabled: false, recoveryCodesLeft: 0 },
    })
    expect((await api(contract.readProfile, { token })).body).toMatchObject(changed)
    for (const [field, extra] of Object.entries({
      role: 'admin',
      username: 'boss',
      active: true,
      id: 'x',
      password: 'x',
    }))
      expect(await api(contract.saveProfile, { token, body: { ...changed, [field]: extra } })).toMatchObject({
        status: 400,
        body: { fieldErrors: { [field]: 'This field is not known.' } },
      })
    expect(await api(contract.saveProfile, { token, body: { ...changed, email: 'x' } })).toMatchObject({
      status: 400,
      body: { message: 'Enter an email address such as name@example.org' },
    })
    expect((await api(contract.readProfile, { token })).body).toMatchObject({ ...changed, role: 'user' })
    const actions = await hub.db
      .selectFrom('audit')
      .select('action')
      .where('actor', '=', 'self')
      .orderBy('id')
      .execute()
    expect(actions.map(({ action }) => action)).toEqual(['session.start', 'profile.update'])
  })

  test('a new password ends every other session and returns a token for this one', async () => {
    await hub.addUser('mover', 'user', PASSWORD)
    const [here, elsewhere] = [await signIn('mover'), await signIn('mover')]
    const ended: string[] = []
    const stopListening = hub.sessions.onEnded((id) => ended.push(id))
    const answer = await changePassword(here.token, PASSWORD, NEW_PASSWORD)
    stopListening()
    expect(answer.status).toBe(200)
    const { accessToken } = answer.body as { accessToken: string }
    expect(ended).toHaveLength(2)
    expect([await isAlive(here.token), await isAlive(elsewhere.token), await isAlive(accessToken)]).toEqual([
      false,
      false,
      true,
    ])
    expect((await signIn('mover')).status).toBe(401)
    expect((await signIn('mover', NEW_PASSWORD)).status).toBe(200)
  })

  test.each([
    [
      'a wrong current one',
      'wrong',
      NEW_PASSWORD,
      'password_wrong',
      { currentPassword: 'The current password is wrong.' },
    ],
    [
      'a short new one',
      PASSWORD,
      'seven77',
      'invalid_request',
      { newPassword: 'Password must be at least 8 characters long' },
    ],
    [
      'a common new one',
      PASSWORD,
      'Sommer2025!',
      'password_too_weak',
      { newPassword: 'Too easy to guess: this password is one of those that are tried first. Choose another.' },
    ],
    [
      'one with the own name',
      PASSWORD,
      'xx-constant-77',
      'password_too_weak',
      { newPassword: 'This password holds your own name or email address. Choose another.' },
    ],
  ])('%s changes nothing and says why', async (_case, current, wanted, error, fieldErrors) => {
    await hub.addUser('constant', 'user', PASSWORD).catch(() => undefined)
    const { token } = await signIn('constant')
    expect(await changePassword(token, current, wanted)).toMatchObject({
      status: 400,
      body: { error, message: Object.values(fieldErrors)[0], fieldErrors },
    })
    expect(await isAlive(token)).toBe(true)
    expect((await signIn('constant')).status).toBe(200)
  })

  test('in a stolen session the password cannot be guessed quickly', async () => {
    await hub.addUser('stolen', 'user', PASSWORD)
    const { token } = await signIn('stolen')
    for (let i = 0; i < 6; i++) expect((await changePassword(token, `guess ${i}`, NEW_PASSWORD)).status).toBe(400)
    expect(await changePassword(token, PASSWORD, NEW_PASSWORD)).toMatchObject(refusal(429, 'too_many_requests'))
    expect((await signIn('stolen')).status).toBe(200)
    hub.clock.advance(2_000)
    expect((await changePassword(token, PASSWORD, NEW_PASSWORD)).status).toBe(200)
  })

  test('of two changes at once one wins, and only its password signs in', async () => {
    await hub.addUser('hasty', 'user', PASSWORD)
    const [a, b] = [await signIn('hasty'), await signIn('hasty')]
    const answers = await Promise.all([
      changePassword(a.token, PASSWORD, 'first-choice-55'),
      changePassword(b.token, PASSWORD, 'other-choice-66'),
    ])
    expect(answers.map(({ status }) => status).sort()).not.toEqual([200, 200])
    const works = [(await signIn('hasty', 'first-choice-55')).status, (await signIn('hasty', 'other-choice-66')).status]
    expect(works.sort()).toEqual([200, 401])
  })

  test('people see their own sessions and end any of them, but nobody else’s', async () => {
    await hub.addUser('roamer', 'user', PASSWORD)
    await hub.addUser('other', 'admin', PASSWORD)
    const phone = await signIn('roamer', PASSWORD, '198.51.100.1')
    hub.clock.advance(1_000)
    const desk = await signIn('roamer', PASSWORD, '198.51.100.2')
    const { token: foreign } = await signIn('other')
    const listed = await sessionsOf(desk.token)
    expect(listed.map(({ sourceIp, current }) => [sourceIp, current])).toEqual([
      ['198.51.100.2', true],
      ['198.51.100.1', false],
    ])
    expect(Date.parse(listed[0]!.expiresAt) - Date.parse(listed[0]!.createdAt)).toBe(3_600_000)

    const end = (token: string, id: string) => api(contract.endSession, { token, params: { id } })
    expect(await end(foreign, listed[1]!.id)).toMatchObject(refusal(404, 'session_not_found'))
    expect(await isAlive(phone.token)).toBe(true)
    expect((await end(desk.token, listed[1]!.id)).status).toBe(204)
    expect([await isAlive(phone.token), await isAlive(desk.token)]).toEqual([false, true])
    expect(await end(desk.token, listed[1]!.id)).toMatchObject(refusal(404, 'session_not_found'))
    expect((await end(desk.token, 'not-an-id')).status).toBe(400)
    expect(await sessionsOf(desk.token)).toHaveLength(1)
  })
})
