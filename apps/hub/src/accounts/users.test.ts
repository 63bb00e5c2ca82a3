import { randomBytes } from 'node:crypto'
import * as contract from '@hedgerow/contract'
import type { HubUser, Role } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { OWNED, ownedBy } from '../access/ownership.ts'
import { createPasswords } from './passwords.ts'
import { resetPassword } from './accounts.ts'
import { createTestApi, refusal } from '#testing/api.ts'

const PASSWORD = 'gravel-lantern-42'

describe.each(testEngines)('users on %s', (engine) => {
  let hub: TestHub
  let url: string
  let api: ReturnType<typeof createTestApi>
  let admin: string
  beforeAll(async () => {
    hub = await startTestHub(engine)
    url = `http://127.0.0.1:${(await hub.start()).port}`
    api = createTestApi(hub)
    admin = await hub.signIn('admin')
  })
  afterAll(() => hub.stop())

  const body = (username: string, more: object = {}) => ({
    username,
    email: `${username}@example.org`,
    firstName: 'Ada',
    lastName: 'Byron',
    role: 'user' as Role,
    active: true,
    password: PASSWORD,
    ...more,
  })
  const create = async (username: string, more: object = {}) => {
    const answer = await api(contract.createUser, { token: admin, body: body(username, more) })
    expect(answer).toMatchObject({ status: 200 })
    return answer.body as HubUser
  }
  const update = (id: string, changed: object, token = admin) =>
    api(contract.updateUser, { token, params: { id }, body: changed })
  const remove = (id: string) => api(contract.deleteUser, { token: admin, params: { id } })
  const list = async (query?: contract.QueryOf<typeof contract.listUsers>) =>
    api(contract.listUsers, { token: admin, ...(query && { query }) })
  const namesOf = (answer: { body: unknown }) => (answer.body as HubUser[]).map(({ username }) => username)
  const signIn = (username: string, password = PASSWORD) => api(contract.login, { body: { username, password } })
  const tokenOf = async (username: string, password = PASSWORD) =>
    ((await signIn(username, password)).body as { accessToken: string }).accessToken
  const auditOf = async (target: string) =>
    (await hub.db.selectFrom('audit').selectAll().where('target', '=', target).orderBy('id').execute()).map(
      ({ actor, action, result }) => [actor, action, result],
    )

  test.each(['is deactivated', 'is an admin no more', 'is deleted'])(
    'the invitations of an admin who %s let nobody in',
    async (how) => {
      const { id, username } = await create(`host-${randomBytes(4).toString('hex')}`, { role: 'admin' })
      const wanted = { label: how, role: 'admin', maxUses: 1, expiresInHours: 24 } as const
      const made = await api(contract.createUserInvitation, { token: await tokenOf(username), body: wanted })
      const { code, invitation } = made.body as { code: string; invitation: contract.UserInvitation }
      // Another name does not keep them either.
      await api(contract.editUser, { token: admin, params: { id }, body: { username: `${username}-2` } })
      const change = how === 'is deactivated' ? { active: false } : { role: 'user' as const }
      const edit = { token: admin, params: { id }, body: change }
      const { status } = how === 'is deleted' ? await remove(id) : await api(contract.editUser, edit)
      expect([200, 204]).toContain(status)
      const guest = { username: `${username}-guest`, email: 'g@example.org', firstName: 'G', lastName: 'H' }
      const registered = await api(contract.registerAccount, {
        body: { ...guest, password: PASSWORD, inviteCode: code },
      })
      expect(registered).toMatchObject({ status: 400, body: { error: 'invite_code_invalid' } })
      expect(await auditOf(invitation.id)).toContainEqual(['the-admin', 'user-invitation.revoke', 'ok'])
    },
  )

  test('a created user has the given fields, is listed without a password, and can sign in', async () => {
    const user = await create('gardener', { role: 'manager' })
    expect(user).toEqual({
      id: expect.any(String),
      username: 'gardener',
      email: 'gardener@example.org',
      firstName: 'Ada',
      lastName: 'Byron',
      role: 'manager',
      active: true,
      twoFactorEnabled: false,
      lastLogin: null,
      createdAt: expect.any(String),
    })
    expect((await list()).body).toContainEqual(user)
    expect(await signIn('gardener')).toMatchObject({ status: 200, body: { user: { role: 'manager' } } })
    const { lastLogin } = ((await list({ q: 'gardener' })).body as HubUser[])[0]!
    expect(Math.abs(Date.parse(lastLogin ?? '') - Date.now())).toBeLessThan(60_000)
    expect(await auditOf(user.id)).toEqual([['the-admin', 'user.create', 'ok']])
    const activity = (await api(contract.recentActivity, { token: admin })).body
    expect(activity).toContainEqual(
      expect.objectContaining({ message: 'User "gardener" was added by the-admin as manager' }),
    )
  })

  test('a new user is active unless the call says otherwise', async () => {
    const { role: _role, active: _active, ...bare } = body('bare-one')
    expect(await api(contract.createUser, { token: admin, body: bare })).toMatchObject({
      status: 200,
      body: { role: 'user', active: true },
    })
  })

  test.each([
    ['short username', { username: 'ab' }, 'Username must be at least 3 characters long'],
    ['short password', { password: 'seven77' }, 'Password must be at least 8 characters long'],
    ['missing email', { email: undefined }, 'Enter an email address'],
    ['broken email', { email: 'nobody' }, 'Enter an email address such as name@example.org'],
    ['name of two alphabets', { username: 'аdmin' }, 'A username may not mix letters of different alphabets'],
    ['invisible letter', { username: 'adm\u200bin' }, 'A username may hold letters, digits and . _ - @ + only'],
    [
      'password with the own name',
      { password: 'sorrel-bird-Xy7' },
      'This password holds your own name or email address. Choose another.',
    ],
    [
      'common password',
      { password: 'P@ssw0rd2024!' },
      'Too easy to guess: this password is one of those that are tried first. Choose another.',
    ],
  ])('%s: the message says so', async (_case, wrong, message) => {
    const answer = await api(contract.createUser, { token: admin, body: body('sorrel', wrong) })
    expect(answer).toMatchObject({ status: 400, body: { message } })
    expect(Object.values((answer.body as contract.ErrorBody).fieldErrors ?? {})).toEqual([message])
  })

  test('with password complexity off, only the length counts', async () => {
    await hub.db.insertInto('settings').values({ name: 'passwordComplexity', value: 'false' }).execute()
    const easy = await api(contract.createUser, { token: admin, body: body('easy-going', { password: 'password' }) })
    const short = await api(contract.createUser, { token: admin, body: body('easy-two', { password: 'passwor' }) })
    await hub.db.deleteFrom('settings').where('name', '=', 'passwordComplexity').execute()
    expect(easy.status).toBe(200)
    expect(short).toMatchObject({ status: 400, body: { message: 'Password must be at least 8 characters long' } })
  })

  test.each(['COPPICE', 'ｃｏｐｐｉｃｅ', 'c0pp1ce', 'сорріс\u0435', 'Copplce'])(
    'a name that looks like coppice, %s, is refused',
    async (username) => {
      await hub.addUser('coppice', 'user', PASSWORD).catch(() => undefined)
      expect(
        await api(contract.createUser, { token: admin, body: body(username, { email: 'a@example.org' }) }),
      ).toMatchObject(refusal(409, 'username_taken'))
      const other = (await list({ q: 'bare-one' })).body as HubUser[]
      expect(await update(other[0]!.id, body(username, { email: 'a@example.org' }))).toMatchObject(
        refusal(409, 'username_taken'),
      )
    },
  )

  test.each(['hub', 'HUB', 'gateway', 'Ｇateway'])(
    'nobody can be named %s: the audit uses it for the hub and gateways',
    async (username) => {
      const email = 'a@example.org'
      const taken = refusal(409, 'username_taken')
      expect(await api(contract.createUser, { token: admin, body: body(username, { email }) })).toMatchObject(taken)
      const person = await create(`person-${username.codePointAt(0)}`)
      expect(await update(person.id, body(username, { email }))).toMatchObject(taken)
    },
  )

  test.each([
    ['id', { id: '00000000-0000-4000-8000-000000000000' }],
    ['passwordHash', { passwordHash: 'x' }],
    ['password_hash', { password_hash: 'x' }],
    ['lastLogin', { lastLogin: null }],
    ['twoFactorEnabled', { twoFactorEnabled: false }],
  ])('mass assignment: %s cannot be set', async (field, extra) => {
    for (const answer of [
      await api(contract.createUser, { token: admin, body: body('massive', extra) }),
      await update('00000000-0000-4000-8000-000000000000', body('massive', extra)),
    ])
      expect(answer).toMatchObject({ status: 400, body: { fieldErrors: { [field]: 'This field is not known.' } } })
    expect(namesOf(await list({ q: 'massive' }))).toEqual([])
  })

  test('an update without a password, or with an empty one, keeps password and sessions', async () => {
    const { id } = await create('keeper')
    const token = await tokenOf('keeper')
    const { password: _password, ...rest } = body('keeper-two', { firstName: 'Augusta' })
    expect(await update(id, rest)).toMatchObject({
      status: 200,
      body: { username: 'keeper-two', firstName: 'Augusta' },
    })
    expect(await update(id, { ...rest, password: '' })).toMatchObject({ status: 200 })
    expect((await signIn('keeper-two')).status).toBe(200)
    expect((await api(contract.validateSession, { token })).status).toBe(200)
    expect(await auditOf(id)).toEqual([
      ['the-admin', 'user.create', 'ok'],
      ['the-admin', 'user.update', 'ok'],
      ['the-admin', 'user.update', 'ok'],
    ])
  })

  test.each<[string, (id: string, username: string) => Promise<unknown>, string[]]>([
    ['a changed role', (id, name) => update(id, body(name, { role: 'manager', password: '' })), ['user.change-role']],
    [
      'a changed password',
      (id, name) => update(id, body(name, { password: 'other-words-17' })),
      ['user.reset-password'],
    ],
    ['deactivation', (id, name) => update(id, body(name, { active: false, password: '' })), ['user.deactivate']],
    [
      'two-factor reset',
      (id) => api(contract.resetUserTwoFactor, { token: admin, params: { id } }),
      ['user.reset-two-factor'],
    ],
    ['deletion', (id) => remove(id), []],
    [
      'a password reset by another process',
      (_id, name) => resetPassword(hub.db, createPasswords(), name, 'other-words-17'),
      ['user.reset-password'],
    ],
  ])("%s ends the user's sessions and streams", async (kind, change, actions) => {
    // Of its own for a second try.
    const username = `leaver-${kind.replaceAll(/\W/g, '').slice(0, 20)}-${randomBytes(3).toString('hex')}`
    const { id } = await create(username)
    const token = await tokenOf(username)
    const ended: string[] = []
    const stopListening = hub.sessions.onEnded((sessionId) => ended.push(sessionId))
    const stream = await fetch(`${url}/api/v1/hub/events`, { headers: { authorization: `Bearer ${token}` } })
    const streamEnd = (async () => {
      for await (const _chunk of stream.body!);
    })().catch(() => undefined)

    expect(await change(id, username)).not.toMatchObject({ status: 400 })
    await streamEnd
    expect((await api(contract.validateSession, { token })).status).toBe(401)
    expect(ended).toHaveLength(1)
    stopListening()
    expect((await auditOf(id)).map(([, action]) => action)).toEqual(expect.arrayContaining(actions))
  })

  test('a sign-in that checks the old password during a change opens no session', async () => {
    const id = await hub.addUser('racer', 'user', PASSWORD)
    const { password_hash: passwordHash } = await hub.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    await resetPassword(hub.db, hub.passwords, 'racer', 'other-words-17')
    await expect(hub.sessions.start({ id, passwordHash }, { sourceIp: '', userAgent: '' })).rejects.toMatchObject({
      code: 'session_ended',
    })
  })

  test('a deleted user disappears, their gateway stays, and a second deletion says so', async () => {
    const { id } = await create('deleted')
    await hub.db
      .insertInto('gateways')
      .values({
        id: 'aaaaaaaaaaaa',
        kind: 'wireguard',
        name: 'a',
        name_key: 'a',
        location: '',
        description: '',
        device_token: 'DT-000000000000',
        ...ownedBy(id),
        wireguard_public_key: 'k',
        preshared_key: '',
        address: '10.100.9.9',
        created_at: 0,
      })
      .execute()
    expect((await remove(id)).status).toBe(204)
    expect(await remove(id)).toMatchObject(refusal(404, 'user_not_found'))
    expect(await update(id, body('deleted'))).toMatchObject(refusal(404, 'user_not_found'))
    const gateway = await hub.db.selectFrom('gateways').select(OWNED).where('id', '=', 'aaaaaaaaaaaa').execute()
    expect(gateway).toEqual([ownedBy(null)])
    await hub.db.deleteFrom('gateways').where('id', '=', 'aaaaaaaaaaaa').execute()
    expect(await auditOf('deleted')).toEqual([['the-admin', 'user.delete', 'ok']])
  })

  test('resetPassword sets a new password, leaves inactivity alone and refuses weak ones', async () => {
    await create('forgetful', { active: false })
    await resetPassword(hub.db, hub.passwords, 'FORGETFUL', 'other-words-17')
    expect(await signIn('forgetful', 'other-words-17')).toMatchObject(refusal(403, 'account_inactive'))
    expect(await signIn('forgetful')).toMatchObject(refusal(401, 'invalid_credentials'))
    await expect(resetPassword(hub.db, hub.passwords, 'forgetful', 'short')).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'Password must be at least 8 characters long',
    })
    await expect(resetPassword(hub.db, hub.passwords, 'forgetful', 'forgetful-1')).rejects.toMatchObject({
      code: 'password_too_weak',
    })
    await expect(resetPassword(hub.db, hub.passwords, 'no-such-user', 'other-words-17')).rejects.toMatchObject({
      code: 'user_not_found',
    })
  })

  test('the list pages by username without repeating or missing anybody, and filters', async () => {
    for (const name of ['page-b', 'Page-C', 'page-a', 'page-d_x', 'page-dyx']) await create(name)
    expect(namesOf(await list({ q: 'PAGE-' }))).toEqual(['page-a', 'page-b', 'Page-C', 'page-d_x', 'page-dyx'])
    expect(namesOf(await list({ q: 'd_x' }))).toEqual(['page-d_x'])
    expect(namesOf(await list({ q: 'page-a@example' }))).toEqual(['page-a'])

    const all = namesOf(await list())
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const page = await list({ limit: 3, ...(cursor !== undefined && { cursor }) })
      expect(namesOf(page).length).toBeLessThanOrEqual(3)
      paged.push(...namesOf(page))
      cursor = page.headers['x-next-cursor'] as string | undefined
    } while (cursor !== undefined)
    expect(paged).toEqual(all)
    expect((await list({ cursor: 'nonsense' })).status).toBe(400)
  })

  describe('the last active admin', () => {
    const others = async () =>
      hub.db
        .selectFrom('users')
        .select(['id', 'username'])
        .where('role', '=', 'admin')
        .where('active', '=', 1)
        .execute()
    /** Leaves only the calling admin. */
    const alone = async () => {
      for (const { id, username } of await others()) {
        if (username === 'the-admin') continue
        await hub.db.updateTable('users').set({ active: 0 }).where('id', '=', id).execute()
      }
      const [last] = await others()
      return last!.id
    }

    test.each<[string, (id: string) => Promise<unknown>]>([
      ['demoted', (id) => update(id, body('the-admin', { role: 'manager', password: '' }))],
      ['deactivated', (id) => update(id, body('the-admin', { role: 'admin', active: false, password: '' }))],
      ['deleted', (id) => remove(id)],
    ])('cannot be %s', async (_kind, attempt) => {
      const id = await alone()
      expect(await attempt(id)).toMatchObject(refusal(409, 'last_admin'))
      expect(await others()).toEqual([{ id, username: 'the-admin' }])
      expect((await api(contract.validateSession, { token: admin })).status).toBe(200)
    })

    test.each<[string, (id: string, username: string, token: string) => Promise<unknown>]>([
      ['demote', (id, username, token) => update(id, body(username, { role: 'user', password: '' }), token)],
      ['delete', (id, _username, token) => api(contract.deleteUser, { token, params: { id } })],
    ])('remains when four admins %s each other at once', async (_kind, attempt) => {
      await alone()
      const rivals = ['rival-a', 'rival-b', 'rival-c', 'rival-d']
      const tokens: string[] = []
      for (const username of rivals) {
        const existing = await hub.db
          .selectFrom('users')
          .select('id')
          .where('username', '=', username)
          .executeTakeFirst()
        if (existing) await update(existing.id, body(username, { role: 'admin' }))
        else await create(username, { role: 'admin' })
        tokens.push(await tokenOf(username))
      }
      await hub.db.updateTable('users').set({ active: 0 }).where('username', '=', 'the-admin').execute()
      const rows = (await others()).sort((a, b) => a.username.localeCompare(b.username))
      expect(rows.map(({ username }) => username)).toEqual(rivals)
      const outcomes = (await Promise.all(
        rows.map(({ id, username }, i) => attempt(id, username, tokens[(i + 1) % tokens.length]!)),
      )) as { status: number }[]
      const left = await others()
      await hub.db.updateTable('users').set({ active: 1 }).where('username', '=', 'the-admin').execute()
      hub.clock.advance(1_100)
      expect(left.length).toBeGreaterThanOrEqual(1)
      expect(
        outcomes.map(({ status }) => status).filter((status) => ![200, 204, 401, 403, 409].includes(status)),
      ).toEqual([])
    })
  })
})
