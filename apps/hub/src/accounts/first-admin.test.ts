import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { createUser } from './accounts.ts'
import { createContact } from './contact.ts'
import { addressFirstAdmin, firstAdminShown } from './first-admin.ts'
import { createHub, type Hub } from '../hub.ts'
import { readConfig } from '../read-config.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'

describe.each(testEngines)('the first start on %s', (engine) => {
  const cleanups: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function databaseUrl({ isEmpty = false } = {}): Promise<string> {
    const { url, remove } = await createTestDatabase(engine, { isEmpty })
    cleanups.push(remove)
    return url
  }
  async function start(url: string, environment: Record<string, string> = {}): Promise<Hub> {
    const config = readConfig({ HUB_DATABASE_URL: url, HUB_VPN_BACKEND: 'off', ...environment })
    const hub = await createHub({ config, log: pino({ level: 'silent' }) })
    cleanups.push(hub.stop)
    return hub
  }
  const signIn = (hub: Hub, username: string, password: string) =>
    hub.app.inject({ method: 'POST', url: '/api/v1/auth/login', payload: { username, password } })

  test('makes an admin with a generated password, and a second start does not', async () => {
    const url = await databaseUrl({ isEmpty: true })
    const first = await start(url)
    const { username = '', generatedPassword = '' } = first.firstAdmin ?? {}
    expect(username).toBe('admin')
    expect(generatedPassword).toMatch(/^[\w-]{20}$/)
    expect((await signIn(first, username, generatedPassword)).json()).toMatchObject({ user: { role: 'admin' } })
    await first.stop()

    const second = await start(url, { HUB_ADMIN_PASSWORD: 'another password' })
    expect(second.firstAdmin).toBeUndefined()
    expect((await signIn(second, 'admin', 'another password')).statusCode).toBe(401)
  })

  test('a start that ended before it showed the password leaves it to the next one, until it was shown', async () => {
    const url = await databaseUrl({ isEmpty: true })
    const first = await start(url)
    await first.stop()
    const second = await start(url)
    const { username, generatedPassword = '' } = second.firstAdmin!
    expect(generatedPassword).not.toBe(first.firstAdmin?.generatedPassword)
    expect((await signIn(second, username, first.firstAdmin!.generatedPassword!)).statusCode).toBe(401)
    await firstAdminShown(second.db)
    await second.stop()
    const third = await start(url)
    expect(third.firstAdmin).toBeUndefined()
    expect((await signIn(third, username, generatedPassword)).statusCode).toBe(200)
    expect(await third.db.selectFrom('users').select('id').execute()).toHaveLength(1)
  })

  test('a configured password takes the place of one that nobody has seen', async () => {
    const url = await databaseUrl({ isEmpty: true })
    await (await start(url)).stop()
    const second = await start(url, { HUB_ADMIN_PASSWORD: 'a hedge between two fields' })
    expect(second.firstAdmin).toEqual({ username: 'admin' })
    expect((await signIn(second, 'admin', 'a hedge between two fields')).statusCode).toBe(200)
    await second.stop()
    expect((await start(url)).firstAdmin).toBeUndefined()
  })

  test('uses the configured name and password and shows neither', async () => {
    const hub = await start(await databaseUrl(), {
      HUB_ADMIN_USERNAME: 'rosa',
      HUB_ADMIN_PASSWORD: 'a hedge between two fields',
    })
    expect(hub.firstAdmin).toEqual({ username: 'rosa' })
    expect((await signIn(hub, 'rosa', 'a hedge between two fields')).statusCode).toBe(200)
  })

  test('the configured address is the first admin’s, and visitors may write to it', async () => {
    const hub = await start(await databaseUrl(), { HUB_ADMIN_EMAIL: 'rosa@farm.example' })
    const [user] = await hub.db.selectFrom('users').selectAll().execute()
    expect(user).toMatchObject({ username: 'admin', email: 'rosa@farm.example' })
    expect(await createContact(hub.db, undefined)()).toBe('rosa@farm.example')
    expect(await createContact(hub.db, 'beta@farm.example')()).toBe('beta@farm.example')
  })

  test('the address of the answer is stored once, and in the audit without the address', async () => {
    const hub = await start(await databaseUrl())
    const contact = createContact(hub.db, undefined)
    expect(await contact()).toBeUndefined()
    await addressFirstAdmin(hub.db, hub.firstAdmin!, 'rosa@farm.example')
    await addressFirstAdmin(hub.db, hub.firstAdmin!, 'other@farm.example')
    await expect.poll(contact).toBe('rosa@farm.example')
    const audit = await hub.db.selectFrom('audit').selectAll().where('action', '=', 'user.update').execute()
    expect(audit).toHaveLength(1)
    expect(JSON.stringify(audit)).not.toContain('farm.example')
  })

  test('the contact is the oldest active admin with an address', async () => {
    const hub = await start(await databaseUrl())
    const add = (username: string, email: string, others: object = {}) =>
      createUser(hub.db, hub.passwords, { username, email, role: 'admin', password: 'orchard-lantern-42', ...others })
    await add('left', 'left@farm.example', { active: false })
    await add('keeper', 'keeper@farm.example', { role: 'manager' })
    expect(await createContact(hub.db, undefined)()).toBeUndefined()
    const { id } = await add('second', 'second@farm.example')
    await add('third', 'third@farm.example')
    await hub.db.updateTable('users').set({ created_at: 1 }).where('id', '=', id).execute()
    expect(await createContact(hub.db, undefined)()).toBe('second@farm.example')
  })

  test('two installations do not accept each other’s tokens', async () => {
    const [here, there] = [await start(await databaseUrl()), await start(await databaseUrl())]
    const token = (await signIn(here, 'admin', here.firstAdmin?.generatedPassword ?? '')).json<{
      accessToken: string
    }>().accessToken
    const validate = (hub: Hub) =>
      hub.app.inject({ url: '/api/v1/auth/validate', headers: { authorization: `Bearer ${token}` } })
    expect((await validate(here)).statusCode).toBe(200)
    expect((await validate(there)).statusCode).toBe(401)
  })

  test('tokens survive a restart', async () => {
    const url = await databaseUrl()
    const before = await start(url)
    const token = (await signIn(before, 'admin', before.firstAdmin?.generatedPassword ?? '')).json<{
      accessToken: string
    }>().accessToken
    await before.stop()
    const after = await start(url)
    const response = await after.app.inject({
      url: '/api/v1/auth/validate',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(response.statusCode).toBe(200)
  })
})
