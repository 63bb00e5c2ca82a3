import * as contract from '@hedgerow/contract'
import type { UserInvitation } from '@hedgerow/contract'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { HUB } from '../facts/facts.ts'
import { createUserInvitation } from './accounts.ts'
import { createTestApi, nextAddress, refusal } from '#testing/api.ts'

const PASSWORD = 'gravel-lantern-42'
const HOUR_MS = 3_600_000

describe.each(testEngines)('registration on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let admin: string
  beforeAll(async () => {
    hub = await startTestHub(engine)
    // On a slow machine the waits between guesses must not end early.
    hub.clock.freeze()
    await hub.app.ready()
    api = createTestApi(hub)
    admin = await hub.signIn('admin')
  })
  afterEach(() => hub.db.deleteFrom('settings').execute())
  afterAll(() => hub.stop())

  const set = async (name: string, value: boolean) => {
    await hub.db
      .insertInto('settings')
      .values({ name, value: String(value) })
      .execute()
  }
  const person = (username: string, more: object = {}) => ({
    username,
    email: `${username}@example.org`,
    firstName: 'Ada',
    lastName: 'Byron',
    password: PASSWORD,
    ...more,
  })
  const register = (body: object, from = nextAddress()) => api(contract.registerAccount, { body, from })
  const invite = async (wanted: object = {}) => {
    const answer = await api(contract.createUserInvitation, { token: admin, body: wanted })
    expect(answer.status).toBe(200)
    return answer.body as { invitation: UserInvitation; code: string }
  }
  const find = async (id: string) =>
    ((await api(contract.listUserInvitations, { token: admin })).body as UserInvitation[]).find((one) => one.id === id)
  const revoke = (id: string) => api(contract.revokeUserInvitation, { token: admin, params: { id } })
  const userExists = async (username: string) =>
    (await hub.db.selectFrom('users').select('id').where('username', '=', username).execute()).length > 0

  test('everybody may read the requirements of registration', async () => {
    expect((await api(contract.registrationInfo)).body).toEqual({ inviteCodeRequired: true, openRegistration: true })
    await set('inviteCodeRequired', false)
    await set('openRegistration', false)
    expect((await api(contract.registrationInfo)).body).toEqual({ inviteCodeRequired: false, openRegistration: false })
  })

  test('an invited person gets the role of the invitation and signs in', async () => {
    const { invitation, code } = await invite({ role: 'manager', label: 'For the orchard' })
    expect(invitation).toMatchObject({
      label: 'For the orchard',
      role: 'manager',
      status: 'active',
      uses: 0,
      maxUses: 1,
    })
    expect(code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)
    expect(await register(person('invited', { inviteCode: ` ${code.toLowerCase().replaceAll('-', ' ')} ` }))).toEqual(
      expect.objectContaining({ status: 200, body: { username: 'invited', role: 'manager' } }),
    )
    expect(await api(contract.login, { body: { username: 'invited', password: PASSWORD } })).toMatchObject({
      status: 200,
      body: { user: { username: 'invited', email: 'invited@example.org', firstName: 'Ada', role: 'manager' } },
    })
    expect(await find(invitation.id)).toMatchObject({ uses: 1, status: 'used_up', createdBy: 'the-admin' })
    const activity = (await api(contract.recentActivity, { token: admin })).body
    const message = 'User "invited" registered as manager'
    expect(activity).toContainEqual(expect.objectContaining({ message }))
  })

  test('the code is stored as a hash and never listed', async () => {
    const { code } = await invite()
    const stored = JSON.stringify(await hub.db.selectFrom('user_invitations').selectAll().execute())
    const listed = JSON.stringify((await api(contract.listUserInvitations, { token: admin })).body)
    for (const text of [stored, listed]) expect(text.replaceAll('-', '')).not.toContain(code.replaceAll('-', ''))
  })

  test('when a code is required, nobody registers without one, and the message says so', async () => {
    for (const inviteCode of [undefined, '', '   ']) {
      expect(await register(person('codeless', { inviteCode }))).toMatchObject({
        status: 400,
        body: {
          error: 'invalid_request',
          message: 'Invite code is required',
          fieldErrors: { inviteCode: 'Invite code is required' },
        },
      })
    }
  })

  test('unknown, revoked, expired and used-up codes are refused alike', async () => {
    const revoked = await invite()
    expect((await revoke(revoked.invitation.id)).status).toBe(204)
    expect(await revoke(revoked.invitation.id)).toMatchObject(refusal(404, 'user_invitation_not_found'))
    const expired = await invite({ expiresInHours: 1 })
    const used = await invite()
    expect((await register(person('the-first', { inviteCode: used.code }))).status).toBe(200)
    hub.clock.advance(HOUR_MS + 1_000)
    admin = await hub.sessions.start(
      {
        id: (
          await hub.db.selectFrom('users').select('id').where('username', '=', 'the-admin').executeTakeFirstOrThrow()
        ).id,
      },
      { sourceIp: '', userAgent: '' },
    )
    for (const inviteCode of ['AAAA-BBBB-CCCC-DDDD', revoked.code, expired.code, used.code]) {
      expect(await register(person('the-second', { inviteCode }))).toMatchObject({
        status: 400,
        body: { error: 'invite_code_invalid', message: 'This invite code is invalid, used up or expired.' },
      })
    }
    expect([(await find(revoked.invitation.id))?.status, (await find(expired.invitation.id))?.status]).toEqual([
      'revoked',
      'expired',
    ])
    expect(await userExists('the-second')).toBe(false)
  })

  test('fifty people with one code of one use: exactly one account', async () => {
    const { invitation, code } = await invite()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        register(person(`crowd-${String.fromCharCode(97 + (i % 26))}${i}x`, { inviteCode: code })),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 400)])
    expect(await find(invitation.id)).toMatchObject({ uses: 1, status: 'used_up' })
    const { count } = await hub.db
      .selectFrom('users')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('username', 'like', 'crowd-%')
      .executeTakeFirstOrThrow()
    expect(Number(count)).toBe(1)
  })

  test('a failed registration does not use up the code', async () => {
    const { invitation, code } = await invite()
    expect(await register(person('the-admin', { inviteCode: code }))).toMatchObject({
      status: 409,
      body: { error: 'username_taken', message: 'This username is taken, or looks like one that is taken.' },
    })
    expect(await register(person('weakling', { inviteCode: code, password: 'password' }))).toMatchObject(
      refusal(400, 'password_too_weak'),
    )
    expect(await find(invitation.id)).toMatchObject({ uses: 0, status: 'active' })
  })

  test('without required codes anybody becomes a user, and a given code still counts', async () => {
    await set('inviteCodeRequired', false)
    expect(await register(person('walk-in'))).toMatchObject({ status: 200, body: { role: 'user' } })
    const { code } = await invite({ role: 'admin' })
    expect(await register(person('walk-in-two', { inviteCode: code }))).toMatchObject({ body: { role: 'admin' } })
    expect(await register(person('walk-in-three', { inviteCode: 'wrong' }))).toMatchObject(
      refusal(400, 'invite_code_invalid'),
    )
  })

  test('closed registration says so, even with a valid code', async () => {
    const { code } = await invite()
    await set('openRegistration', false)
    expect(await register(person('late', { inviteCode: code }))).toMatchObject({
      status: 403,
      body: {
        error: 'registration_closed',
        message: 'Registration is closed. Ask an administrator for an account.',
      },
    })
  })

  test.each([
    ['a short password', { password: 'seven77' }, 'Password must be at least 8 characters long'],
    ['a short username', { username: 'ab' }, 'Username must be at least 3 characters long'],
    ['no first name', { firstName: undefined }, 'Enter your first name'],
    ['a blank last name', { lastName: '  ' }, 'Enter your last name'],
    ['no email address', { email: undefined }, 'Enter an email address'],
    ['no username', { username: undefined }, 'Enter a username'],
    ['no password', { password: undefined }, 'Enter a password'],
    ['a role of their choice', { role: 'admin' }, 'This field is not known.'],
    ['a flag of their choice', { active: true }, 'This field is not known.'],
    ['a password of 60 kB', { password: 'x'.repeat(60_000) }, 'Password must be at most 1024 characters long'],
  ])('%s: 400, and the message says it', async (_case, wrong, message) => {
    expect(await register(person('somebody', wrong))).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', message },
    })
    expect(await userExists('somebody')).toBe(false)
  })

  test('a network with many attempts is slowed down, another is not', async () => {
    const from = nextAddress()
    const statuses: number[] = []
    for (let i = 0; i < 22; i++)
      statuses.push((await register(person('spam', { inviteCode: `code-${i}` }), from)).status)
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 400))
    expect(statuses.at(-1)).toBe(429)
    expect((await register(person('spam', { inviteCode: 'code' }))).status).toBe(400)
  })

  test('invitations and registrations are in the audit, codes are not', async () => {
    const { invitation, code } = await invite()
    await register(person('on-record', { inviteCode: code }), '198.51.100.77')
    await revoke(invitation.id)
    const entries = await hub.db.selectFrom('audit').selectAll().orderBy('id').execute()
    const mine = entries.filter(({ target, actor }) => target === invitation.id || actor === 'on-record')
    expect(mine.map(({ actor, action, source_ip }) => [actor, action, source_ip === '198.51.100.77'])).toEqual([
      ['the-admin', 'user-invitation.create', false],
      ['on-record', 'user.register', true],
      ['the-admin', 'user-invitation.revoke', false],
    ])
    expect(JSON.stringify(entries)).not.toContain(code)
  })

  test('the command line makes invitations too', async () => {
    const { invitation, code } = await createUserInvitation(
      hub.db,
      { role: 'admin' },
      { actor: HUB, at: hub.clock.now() },
    )
    expect(invitation).toMatchObject({ createdBy: 'hub', role: 'admin', maxUses: 1 })
    expect(await register(person('from-the-shell', { inviteCode: code }))).toMatchObject({ body: { role: 'admin' } })
  })
})
