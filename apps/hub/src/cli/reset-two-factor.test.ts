import * as contract from '@hedgerow/contract'
import { generate } from 'otplib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestApi, nextAddress } from '#testing/api.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { readConfig } from '../read-config.ts'
import { runCommand } from './cli.ts'

const admin = { username: 'first-admin', email: undefined, password: 'first-admin-password' }

describe.each(testEngines)('reset-two-factor on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let url: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    const made = await createTestDatabase(engine)
    ;({ url, remove } = made)
    hub = await startTestHub(engine, { databaseUrl: url, admin })
    await hub.app.ready()
    api = createTestApi(hub)
  })
  afterEach(async () => {
    await hub.stop()
    await remove()
  })

  const signIn = () => api(contract.login, { body: admin, from: nextAddress() })
  async function run(...args: string[]): Promise<string> {
    const lines: string[] = []
    const config = readConfig({ HUB_DATABASE_URL: url })
    await runCommand(args, { config, passwords: hub.passwords, print: (text) => lines.push(text) })
    return lines.join('\n')
  }
  /** Signs in and switches two-factor on. */
  async function enroll(): Promise<string> {
    const token = ((await signIn()).body as { accessToken: string }).accessToken
    const { body } = await api(contract.setUpTwoFactor, { token, body: { password: admin.password } })
    const code = await generate({ secret: (body as { secret: string }).secret })
    expect((await api(contract.enableTwoFactor, { token, body: { code } })).status).toBe(200)
    return token
  }

  test('lets the only admin in again while the hub runs, and says what it did', async () => {
    const token = await enroll()
    expect((await signIn()).body).toHaveProperty('challenge')
    const ended: string[] = []
    hub.sessions.onEnded((sessionId) => ended.push(sessionId))

    const said = await run('reset-two-factor', 'FIRST-admin')
    expect(said).toContain('Two-factor of "first-admin" is switched off.')
    expect(said).toContain('Deleted recovery codes: 10. Ended sessions: 1. The password is the same.')
    expect(said).not.toContain('requires two-factor')

    await expect.poll(() => ended).toHaveLength(1)
    expect((await api(contract.validateSession, { token })).status).toBe(401)
    expect((await signIn()).body).toHaveProperty('accessToken')
    const entry = hub.db.selectFrom('audit').select(['actor', 'action']).where('action', 'like', '%reset-two-factor')
    expect(await entry.execute()).toEqual([{ actor: 'hub', action: 'user.reset-two-factor' }])
    const told = hub.db.selectFrom('activity').select('message').where('message', 'like', 'Two-factor%')
    expect(await told.execute()).toEqual([
      { message: `Two-factor sign-in of "first-admin" was reset on the hub's command line` },
    ])
    expect(await run('reset-two-factor', 'first-admin')).toContain('was off already')
  })

  test('a hub that requires two-factor lets that person set it up at the next sign-in', async () => {
    await enroll()
    await hub.db.insertInto('settings').values({ name: 'twoFactorRequired', value: 'true' }).execute()
    expect(await run('reset-two-factor', 'first-admin')).toContain('the next sign-in asks to set it up')
    expect((await signIn()).body).toMatchObject({ user: { mustSetUpTwoFactor: true } })
  })

  test('names the active admins when there is no such user', async () => {
    for (const command of ['reset-two-factor', 'reset-password'])
      await expect(run(command, 'admim')).rejects.toMatchObject({
        code: 'user_not_found',
        message: 'There is no user "admim". Active admins: "first-admin".',
      })
  })
})
