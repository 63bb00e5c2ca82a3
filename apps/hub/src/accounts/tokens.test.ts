import * as contract from '@hedgerow/contract'
import { calls, keyOf } from '@hedgerow/contract/calls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi, refusal } from '#testing/api.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { missingThings } from '#testing/things.ts'
import { requestOf } from '#testing/requests.ts'
import { ownedBy } from '../access/ownership.ts'
import { policy } from '../access/policy.ts'
import { runCommand } from '../cli/cli.ts'
import { readConfig } from '../read-config.ts'
import { resetPassword } from './accounts.ts'
import { isToken } from './tokens.ts'

const PASSWORD = 'gravel-lantern-42'
const DAY_MS = 86_400_000

describe.each(testEngines)('tokens for programs on %s', (engine) => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>
  let hub: TestHub
  let url: string
  let api: ReturnType<typeof createTestApi>
  let made = 0
  beforeAll(async () => {
    database = await createTestDatabase(engine)
    hub = await startTestHub(engine, { databaseUrl: database.url })
    url = `http://127.0.0.1:${(await hub.start()).port}`
    api = createTestApi(hub)
  })
  afterAll(async () => {
    await hub.stop()
    await database.remove()
  })

  async function person(role: contract.Role) {
    const username = `person-${++made}`
    const id = await hub.addUser(username, role, PASSWORD)
    return { id, username, session: await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' }) }
  }
  const create = (session: string, more: object = {}) =>
    api(contract.createToken, { token: session, body: { name: 'backup', password: PASSWORD, ...more } })
  async function tokenOf(session: string, more: object = {}) {
    const answer = await create(session, more)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body as { token: string; details: contract.ApiToken }
  }
  const list = async (session: string) =>
    (await api(contract.listTokens, { token: session })).body as contract.ApiToken[]

  test('is shown once, kept as a hash, reads by default, and ends after 90 days', async () => {
    const { id, session } = await person('user')
    const { token, details } = await tokenOf(session)
    expect(token).toMatch(/^hgr_[0-9A-Za-z]{36}$/)
    expect(details).toMatchObject({ name: 'backup', role: 'user', access: 'read', lastUsedAt: null })
    expect(Date.parse(details.expiresAt) - Date.parse(details.createdAt)).toBe(90 * DAY_MS)
    expect(await list(session)).toEqual([details])
    const rows = await hub.db.selectFrom('api_tokens').selectAll().where('user_id', '=', id).execute()
    expect(JSON.stringify(rows)).not.toContain(token.slice(4, 20))
    expect((await api(contract.listGateways, { token })).status).toBe(200)
    const [used] = await list(session)
    expect(Math.abs(Date.parse(used?.lastUsedAt ?? '') - hub.clock.now())).toBeLessThan(60_000)

    await hub.db.updateTable('api_tokens').set({ expires_at: hub.clock.now() }).where('user_id', '=', id).execute()
    await expect.poll(async () => api(contract.listGateways, { token })).toMatchObject(refusal(401, 'session_ended'))
    expect(await list(session)).toHaveLength(1)
  })

  test('takes the password, a name of its own, and no role above its person', async () => {
    const { session } = await person('manager')
    expect(await create(session, { password: 'not this one' })).toMatchObject(refusal(400, 'password_wrong'))
    expect(await create(session, { role: 'admin' })).toMatchObject(refusal(403, 'token_role_too_high'))
    expect((await tokenOf(session)).details.role).toBe('manager')
    expect(await create(session)).toMatchObject(refusal(409, 'token_name_taken'))
    await tokenOf((await person('user')).session)
    expect(await create(session, { name: '' })).toMatchObject({ status: 400, body: { message: 'Enter a name' } })
    expect(await create(session, { name: 'x', expiresInDays: 0 })).toMatchObject(refusal(400, 'invalid_request'))
  })

  test('of a person who has 50 there is no other', async () => {
    const { id, session } = await person('user')
    await tokenOf(session, { name: 'first' })
    const row = await hub.db.selectFrom('api_tokens').selectAll().where('user_id', '=', id).executeTakeFirstOrThrow()
    const more = Array.from({ length: 49 }, (_, i) => ({
      ...row,
      id: `${id} ${i}`,
      name: `n${i}`,
      token_hash: `${id}${i}`,
    }))
    await hub.db.insertInto('api_tokens').values(more).execute()
    expect(await create(session)).toMatchObject(refusal(409, 'too_many_tokens'))
  })

  test('has at most the role of its person at the time', async () => {
    const admin = await hub.signIn('admin')
    const { id, session } = await person('manager')
    const { token } = await tokenOf(session, { role: 'manager' })
    expect((await api(contract.listUsers, { token })).status).toBe(200)
    await api(contract.editUser, { token: admin, params: { id }, body: { role: 'user' } })
    expect(await api(contract.listUsers, { token })).toMatchObject(refusal(403, 'role_required'))
    expect((await api(contract.listGateways, { token })).status).toBe(200)
  })

  test('that reads changes nothing and reads no key; one for all changes, and the audit names it', async () => {
    const { id, username, session } = await person('manager')
    const gateway = await insertTestGateway(hub.db, { kind: 'wireguard', private_key: 'k', ...ownedBy(id) })
    const reads = (await tokenOf(session, { name: 'reader', role: 'manager' })).token
    const changes = (await tokenOf(session, { name: 'night script', role: 'manager', access: 'all' })).token
    const edit = (token: string) =>
      api(contract.editGateway, { token, params: { id: gateway }, body: { description: 'by a program' } })
    expect(await edit(reads)).toMatchObject(refusal(403, 'token_not_allowed'))
    const invited = await api(contract.createGatewayInvitation, { token: reads, body: { label: 'x' } })
    expect(invited).toMatchObject(refusal(403, 'token_not_allowed'))
    expect(await api(contract.gatewayVpnConfig, { token: reads, params: { id: gateway } })).toMatchObject(
      refusal(403, 'token_not_allowed'),
    )
    expect(await edit(changes)).toMatchObject({ status: 200, body: { description: 'by a program' } })
    const entries = await hub.db.selectFrom('audit').select(['actor', 'action', 'result']).orderBy('id').execute()
    expect(entries).toEqual(
      expect.arrayContaining([
        { actor: username, action: 'token.create', result: 'ok' },
        { actor: `${username} (token reader)`, action: 'call.make', result: 'refused' },
        { actor: `${username} (token night script)`, action: 'gateway.edit', result: 'ok' },
      ]),
    )
  })

  test('of an admin cannot touch accounts, sessions, tokens, passwords, nor what leads to them', async () => {
    const { session } = await person('admin')
    const { token } = await tokenOf(session, { role: 'admin', access: 'all' })
    const guarded = Object.entries(calls).filter(([, call]) => {
      const access = policy[keyOf(call)]
      return typeof access === 'object' && ('self' in access || ('hub' in access && access.hub === 'guard'))
    })
    expect(guarded.length).toBeGreaterThan(30)
    for (const [name, call] of guarded) {
      const answer = await api(call, { token, ...(requestOf(name, call, missingThings()) as object) })
      expect([name, answer]).toMatchObject([name, refusal(403, 'token_not_allowed')])
    }
    expect((await api(contract.listUsers, { token })).status).toBe(200)
  })

  test('is taken in the header Authorization alone', async () => {
    const { session } = await person('user')
    const { token } = await tokenOf(session)
    const ask = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/api/v1/hub/stats${path}`, { headers }).then(({ status }) => status)
    expect(await ask('', { authorization: `Bearer ${token}` })).toBe(200)
    for (const name of ['token', 'access_token', 'api_key', 'key']) expect(await ask(`?${name}=${token}`)).toBe(401)
    expect(await ask('', { cookie: `token=${token}` })).toBe(401)
    expect(await ask('', { 'x-api-key': token })).toBe(401)
    expect(await ask('', { authorization: `Basic ${btoa(`${token}:`)}` })).toBe(401)
  })

  test('with a typing error is told by its checksum; an unknown one has ended', async () => {
    const { session } = await person('user')
    const { token, details } = await tokenOf(session)
    const typed = token.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
    expect([isToken(token), isToken(typed), isToken(`${token}a`), isToken('hgr_')]).toEqual([true, false, false, false])
    expect(await api(contract.listGateways, { token: typed })).toMatchObject(refusal(401, 'session_required'))
    expect((await api(contract.revokeToken, { token: session, params: { id: details.id } })).status).toBe(204)
    expect(await api(contract.listGateways, { token })).toMatchObject(refusal(401, 'session_ended'))
    expect(await api(contract.revokeToken, { token: session, params: { id: details.id } })).toMatchObject(
      refusal(404, 'token_not_found'),
    )
  })

  test('of another person cannot be revoked or seen', async () => {
    const { details } = await tokenOf((await person('user')).session)
    const { session } = await person('admin')
    expect(await list(session)).toEqual([])
    expect(await api(contract.revokeToken, { token: session, params: { id: details.id } })).toMatchObject(
      refusal(404, 'token_not_found'),
    )
  })

  type Person = Awaited<ReturnType<typeof person>>
  const asAdmin = async (id: string, body: object) =>
    api(contract.editUser, { token: await hub.signIn('admin'), params: { id }, body })
  test.each<[string, (owner: Person, tokenId: string) => Promise<unknown>]>([
    ['revoked', ({ session }, id) => api(contract.revokeToken, { token: session, params: { id } })],
    ['revoked by another process', (_, id) => hub.db.deleteFrom('api_tokens').where('id', '=', id).execute()],
    ['of a deactivated person', ({ id }) => asAdmin(id, { active: false })],
    [
      'of a deleted person',
      async ({ id }) => api(contract.deleteUser, { token: await hub.signIn('admin'), params: { id } }),
    ],
    ['of a person whose password an admin resets', ({ id }) => asAdmin(id, { password: 'other-words-17' })],
    [
      'of a person whose password the command line resets',
      ({ username }) => resetPassword(hub.db, hub.passwords, username, 'other-words-17'),
    ],
  ])('%s, ends with its stream', async (_case, end) => {
    const owner = await person('user')
    const { token, details } = await tokenOf(owner.session)
    const stream = await fetch(`${url}/api/v1/hub/events`, { headers: { authorization: `Bearer ${token}` } })
    expect(stream.status).toBe(200)
    const streamEnd = stream.text().catch(() => '')
    await end(owner, details.id)
    await streamEnd
    expect(await api(contract.listGateways, { token })).toMatchObject(refusal(401, 'session_ended'))
    await asAdmin(owner.id, { active: true })
    expect(await api(contract.listGateways, { token })).toMatchObject(refusal(401, 'session_ended'))
  })

  test('stays when its person changes their own password', async () => {
    const { session } = await person('user')
    const { token } = await tokenOf(session)
    const body = { currentPassword: PASSWORD, newPassword: 'other-words-17' }
    expect((await api(contract.changePassword, { token: session, body })).status).toBe(200)
    expect((await api(contract.listGateways, { token })).status).toBe(200)
  })

  test('comes from the command line too', async () => {
    const { id, username } = await person('manager')
    const lines: string[] = []
    const config = readConfig({ HUB_DATABASE_URL: database.url })
    const run = (...args: string[]) =>
      runCommand(args, { config, passwords: hub.passwords, print: (text) => lines.push(text) })
    await run('token', 'create', username, 'cron', '--role', 'manager', '--access', 'all', '--days', '7')
    const token = /hgr_\w+/.exec(lines.join('\n'))?.[0]
    expect(lines.join('\n')).toContain('It reads and changes, with the role manager, until ')
    expect((await api(contract.listUsers, { token })).status).toBe(200)
    const [row] = await hub.db.selectFrom('api_tokens').selectAll().where('user_id', '=', id).execute()
    expect((row?.expires_at ?? 0) - (row?.created_at ?? 0)).toBe(7 * DAY_MS)
    await expect(run('token', 'create', username, 'other', '--role', 'admin')).rejects.toThrow('higher role')
    await expect(run('token', 'create', username, 'other', '--days', '0')).rejects.toThrow('--days: Enter a whole')
    await expect(run('token', 'create', 'nobody', 'other')).rejects.toThrow('There is no user "nobody".')
    await expect(run('token', 'delete', username, 'cron')).rejects.toThrow('Usage: token create')
  })
})
