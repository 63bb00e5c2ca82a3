import * as contract from '@hedgerow/contract'
import { generate } from 'otplib'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestApi, nextAddress, refusal } from '#testing/api.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { createTestDevice } from '#testing/device.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { storeDetections } from '../detections/detections.ts'

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const PASSWORD = 'gravel-lantern-42'
const STEP_MS = 30_000

// The date stands still, and timers run when a test says so.
beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] }))
afterEach(() => vi.useRealTimers())

const tokenOf = ({ body }: { body: unknown }) => (body as { accessToken: string }).accessToken

/** A session, a challenge, two invitations, a request of a device and a detection. */
async function acceptSomething(hub: TestHub) {
  const api = createTestApi(hub)
  const home = nextAddress()
  const signIn = (username: string) => api(contract.login, { body: { username, password: PASSWORD }, from: home })
  await hub.addUser('rosa', 'admin', PASSWORD)
  await hub.addUser('careful', 'user', PASSWORD)
  const careful = tokenOf(await signIn('careful'))
  const { secret } = (await api(contract.setUpTwoFactor, { token: careful, body: { password: PASSWORD } })).body as {
    secret: string
  }
  const codeNow = () => generate({ secret, epoch: Math.floor(hub.clock.now() / 1_000) })
  await api(contract.enableTwoFactor, { token: careful, body: { code: await codeNow() } })
  const token = tokenOf(await signIn('rosa'))
  const { challenge } = (await signIn('careful')).body as { challenge: string }
  const forPeople = (await api(contract.createUserInvitation, { token, body: { maxUses: 9 } })).body as { code: string }
  const forGateways = (await api(contract.createGatewayInvitation, { token, body: { label: 'Vineyards', maxUses: 9 } }))
    .body as { code: string }
  const { registrationId } = (await createTestDevice(hub.app, { now: hub.clock.now }).register()).body
  const gatewayId = await insertTestGateway(hub.db, { created_at: hub.clock.now() })
  const startedAt = new Date(hub.clock.now()).toISOString()
  const boar = { id: 'boar', camera: 'yard', label: 'boar', severity: 'alert', score: 0.9, startedAt } as const
  await storeDetections(hub.db, gatewayId, [{ ...boar, jpeg: undefined }], hub.clock.now())
  return { home, token, challenge, codeNow, registrationId, people: forPeople.code, gateways: forGateways.code }
}

async function rowsOf({ db }: TestHub): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name: table } of await db.introspection.getTables()) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
    counts[table] = Number(rows[0]?.count)
  }
  return counts
}

/** Everything that deletes by age: sweeps, retention, and calls that clean up first. */
async function cleanUp(hub: TestHub): Promise<void> {
  await vi.advanceTimersByTimeAsync(70_000)
  await hub.retention.purge()
  await createTestDevice(hub.app, { now: hub.clock.now }).register()
  const from = nextAddress()
  await createTestApi(hub)(contract.login, { body: { username: 'careful', password: PASSWORD }, from })
}

/** The tables that have fewer rows than before. */
function lost(before: Record<string, number>, after: Record<string, number>): string[] {
  return Object.keys(before).filter((table) => after[table]! < before[table]!)
}

async function joinsWith(hub: TestHub, code: string): Promise<boolean> {
  const device = createTestDevice(hub.app, { now: hub.clock.now })
  const { body } = await device.register({}, code)
  const waiting = hub.db.selectFrom('registrations').select('invitation_id').where('id', '=', body.registrationId)
  return (await waiting.executeTakeFirstOrThrow()).invitation_id !== null
}

async function signsUpWith(hub: TestHub, inviteCode: string, username: string): Promise<number> {
  const body = {
    username,
    email: `${username}@example.org`,
    password: PASSWORD,
    firstName: 'A',
    lastName: 'B',
    inviteCode,
  }
  return (await createTestApi(hub)(contract.registerAccount, { body })).status
}

describe.each(testEngines)('a leap of the clock on %s', (engine) => {
  test('a hub that started 400 days behind: once the clock is right it deletes nothing and dates expire', async () => {
    const right = Date.now()
    const { url, remove } = await createTestDatabase(engine)
    const start = () => startTestHub(engine, { databaseUrl: url, httpsPort: 0 })
    vi.setSystemTime(right - 400 * DAY_MS)
    const behind = await start()
    const accepted = await acceptSomething(behind)
    const before = await rowsOf(behind)

    // The clock is set right while the hub runs, then the hub restarts.
    vi.setSystemTime(right)
    await cleanUp(behind)
    expect(lost(before, await rowsOf(behind))).toEqual([])
    // Timers of the hub renew them, with keys from threads of the system.
    await expect
      .poll(() => behind.certificates.list().filter(({ expiresAt }) => Date.parse(expiresAt) <= right))
      .toEqual([])
    for (const { issuedAt } of behind.certificates.list()) expect(Date.parse(issuedAt)).toBeLessThanOrEqual(right)
    await behind.stop()
    const hub = await start()
    const api = createTestApi(hub)
    await cleanUp(hub)
    expect(lost(before, await rowsOf(hub))).toEqual([])

    const { token, home, challenge, codeNow } = accepted
    expect(await api(contract.validateSession, { token })).toMatchObject(refusal(401, 'session_ended'))
    const answer = { challenge, code: await codeNow() }
    expect(await api(contract.loginTwoFactor, { body: answer, from: home })).toMatchObject(
      refusal(401, 'challenge_ended'),
    )
    expect(await signsUpWith(hub, accepted.people, 'late')).toBe(400)
    expect(await joinsWith(hub, accepted.gateways)).toBe(false)
    const again = tokenOf(await api(contract.login, { body: { username: 'rosa', password: PASSWORD }, from: home }))
    const pending = await api(contract.listPendingRegistrations, { token: again })
    expect(pending.body).toContainEqual(expect.objectContaining({ registrationId: accepted.registrationId }))
    await hub.stop()
    await remove()
  })

  test('a clock that is a year ahead for an hour ends nothing for good', async () => {
    const hub = await startTestHub(engine, { httpsPort: 0 })
    const api = createTestApi(hub)
    const { token, home, challenge, codeNow, ...accepted } = await acceptSomething(hub)
    const before = await rowsOf(hub)
    hub.clock.advance(YEAR_MS)
    expect(await api(contract.validateSession, { token })).toMatchObject(refusal(401, 'session_ended'))
    await cleanUp(hub)
    expect(lost(before, await rowsOf(hub))).toEqual([])

    hub.clock.advance(-YEAR_MS)
    await cleanUp(hub)
    expect(lost(before, await rowsOf(hub))).toEqual([])
    expect((await api(contract.validateSession, { token })).status).toBe(200)
    hub.clock.advance(STEP_MS)
    const body = { challenge, code: await codeNow() }
    expect((await api(contract.loginTwoFactor, { body, from: home })).status).toBe(200)
    expect(await signsUpWith(hub, accepted.people, 'early')).toBe(200)
    expect(await joinsWith(hub, accepted.gateways)).toBe(true)
    for (const { expiresAt, issuedAt } of hub.certificates.list()) {
      expect(Date.parse(expiresAt)).toBeGreaterThan(hub.clock.now())
      expect(Date.parse(issuedAt)).toBeLessThanOrEqual(hub.clock.now())
    }
    await hub.stop()
  })

  test('what began while the clock was a year ahead does not last a year', async () => {
    const hub = await startTestHub(engine)
    const api = createTestApi(hub)
    hub.clock.advance(YEAR_MS)
    const { token, home, challenge, codeNow } = await acceptSomething(hub)
    hub.clock.advance(STEP_MS - YEAR_MS)
    expect(await api(contract.validateSession, { token })).toMatchObject(refusal(401, 'session_ended'))
    const body = { challenge, code: await codeNow() }
    expect(await api(contract.loginTwoFactor, { body, from: home })).toMatchObject(refusal(401, 'challenge_ended'))
    await hub.stop()
  })

  test('the network of a sign-in is known, also when twenty others look newer', async () => {
    const hub = await startTestHub(engine)
    const id = await hub.addUser('rosa', 'admin', PASSWORD)
    const signIn = async (from: string) =>
      createTestApi(hub)(contract.login, { body: { username: 'rosa', password: PASSWORD }, from })
    hub.clock.advance(YEAR_MS)
    for (let i = 0; i < 21; i++) await signIn(nextAddress())
    hub.clock.advance(-YEAR_MS)
    const home = nextAddress()
    await signIn(home)
    const known = await hub.db.selectFrom('known_networks').select('network').where('user_id', '=', id).execute()
    expect(known).toContainEqual({ network: home })
    expect(known).toHaveLength(20)
    await hub.stop()
  })

  test('a detection of a device whose clock is 400 days behind is kept by the day that it arrived', async () => {
    const hub = await startTestHub(engine)
    const gatewayId = await insertTestGateway(hub.db)
    const startedAt = new Date(hub.clock.now() - 400 * DAY_MS).toISOString()
    const boar = { id: 'boar', camera: 'yard', label: 'boar', severity: 'alert', score: 0.9, startedAt } as const
    await storeDetections(hub.db, gatewayId, [{ ...boar, jpeg: undefined }], hub.clock.now())
    const stored = () => hub.db.selectFrom('detections').select('id').execute()
    await hub.retention.purge()
    expect(await stored()).toHaveLength(1)
    hub.clock.advance(120 * DAY_MS)
    await hub.db.updateTable('hub_clock').set({ seen_at: hub.clock.now(), hold_ms: 0 }).execute()
    await hub.retention.purge()
    expect(await stored()).toHaveLength(0)
    await hub.stop()
  })
})
