import type { Role } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { ownedBy } from '../access/ownership.ts'
import { createStatuses, type FleetSignals } from '../fleet/fleet.ts'
import { createPresence } from '../fleet/presence.ts'
import { createFleet } from '../fleet/snapshot.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { factsOf } from '../facts/facts.ts'
import { recordActivity } from '../followers/activity-entries.ts'
import { storeDetections, type PicturedDetection } from '../detections/detections.ts'

const HOUR_MS = 3_600_000
const log = pino({ level: 'silent' })

describe.each(testEngines)('activity on %s', (engine) => {
  let hub: TestHub
  beforeEach(async () => {
    hub = await startTestHub(engine)
    // Neither a second nor midnight may pass during a test.
    hub.clock.freeze()
  })
  afterEach(() => hub.stop())

  const get = async (url: string, role: Role = 'admin') =>
    (
      await hub.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${await hub.signIn(role)}` } })
    ).json()
  const stats = (role?: Role) => get('/api/v1/hub/stats', role)
  const recent = (role?: Role) => get('/api/v1/hub/activity/recent', role)
  const timeline = (role?: Role) => get('/api/v1/hub/timeline', role)
  const messages = async (role?: Role) => (await recent(role)).map((entry: { message: string }) => entry.message)
  const userId = async () => {
    await hub.signIn('user')
    return (await hub.db.selectFrom('users').select('id').where('username', '=', 'the-user').executeTakeFirstOrThrow())
      .id
  }
  const detection = (id: string, change: Partial<PicturedDetection> = {}): PicturedDetection => ({
    id,
    camera: 'Front gate',
    label: 'person',
    severity: 'alert',
    score: 0.9,
    startedAt: new Date(hub.clock.now()).toISOString(),
    ...change,
  })
  const store = (gatewayId: string, ...detections: PicturedDetection[]) =>
    storeDetections(hub.db, gatewayId, detections, hub.clock.now())

  it('shows the 50 newest entries, newest first, to each person only theirs', async () => {
    const id = await insertTestGateway(hub.db, ownedBy(await userId()))
    for (let i = 0; i < 60; i++)
      await recordActivity(hub.db, {
        at: i,
        type: 'info',
        message: `entry ${i}`,
        kind: 'gateway.edited',
        ...(i % 10 === 0 && { gatewayId: id }),
      })
    const entries = await recent('manager')
    expect(entries).toHaveLength(50)
    expect(entries[0]).toEqual({
      id: expect.any(String),
      message: 'entry 59',
      timestamp: new Date(59).toISOString(),
      type: 'info',
      gatewayId: null,
      kind: 'gateway.edited',
      detection: null,
    })
    expect(await messages('user')).toEqual([50, 40, 30, 20, 10, 0].map((i) => `entry ${i}`))
  })

  it('has the history of one gateway, or a part of it, without what its cameras saw', async () => {
    const own = await insertTestGateway(hub.db, { name: 'Barn', ...ownedBy(await userId()) })
    const other = await insertTestGateway(hub.db)
    const kinds = ['gateway.status-changed', 'gateway.disarmed', 'device.file-saved', 'detection.reported'] as const
    for (const [at, kind] of kinds.entries())
      for (const gatewayId of [own, other])
        await recordActivity(hub.db, { at, type: 'info', message: `${kind} ${gatewayId}`, kind, gatewayId })
    const history = async (query: string, role: Role = 'admin') =>
      (await get(`/api/v1/hub/activity/recent?gateway=${query}`, role)).map(({ kind }: { kind: string }) => kind)
    expect(await history(own)).toEqual(['device.file-saved', 'gateway.disarmed', 'gateway.status-changed'])
    expect(await history(`${own}&part=arming`)).toEqual(['gateway.disarmed'])
    expect(await history(`${own}&part=version`)).toEqual([])
    expect(await history(own, 'user')).toHaveLength(3)
    expect(await history(other, 'user')).toEqual([])
    expect((await get(`/api/v1/hub/activity/recent?gateway=${own}&part=sightings`)).error).toBe('invalid_request')
  })

  describe('detections', () => {
    it('of one event are one threat, in its hour, as the list of incidents has it', async () => {
      const id = await insertTestGateway(hub.db)
      const hour = hub.clock.now() - (hub.clock.now() % HOUR_MS)
      const at = (ms: number) => new Date(ms).toISOString()
      await store(
        id,
        detection('a', { startedAt: at(hour - 1_000) }),
        detection('b', { startedAt: at(hour + 500) }),
        detection('c', { startedAt: at(hour - 600_000), label: 'boar' }),
        detection('d', { startedAt: at(hour - 600_000), label: 'boar', camera: 'Yard' }),
        detection('e', { startedAt: at(hour - 600_000), label: 'fox', suppressed: true }),
        detection('f', { startedAt: at(hour - 600_000), label: 'hare', severity: 'detection' }),
      )
      const hours = await timeline()
      expect(hours.map(({ threats }: { threats: number }) => threats).slice(-2)).toEqual([2, 0])
      for (const { hour: from, threats } of hours) {
        const to = at(Date.parse(from) + HOUR_MS)
        expect(await get(`/api/v1/hub/incidents?severity=alert&from=${from}&to=${to}`)).toHaveLength(threats)
      }
    })

    it('of severity alert are threats, counted once, also when sent again', async () => {
      const id = await insertTestGateway(hub.db, { name: 'Barn' })
      await store(id, detection('a'), detection('b', { severity: 'detection' }))
      await store(id, detection('a', { score: 0.95 }), detection('a'))
      expect((await stats()).threats).toBe(1)
      expect((await timeline()).at(-1).threats).toBe(1)
      expect(await messages()).toEqual(['Alert: person on cam Front gate (Barn)'])
      const [entry] = await recent()
      expect(entry).toMatchObject({
        type: 'warning',
        kind: 'detection.reported',
        detection: { id: 'a', incidentId: expect.any(String), hasThumbnail: false },
      })
      await store(id, detection('a', { jpeg: Buffer.from('/9j/4AAQ', 'base64') }))
      expect((await recent())[0].detection).toEqual({ ...entry.detection, hasThumbnail: true })
      await hub.db.deleteFrom('detections').where('id', '=', 'a').execute()
      expect((await recent())[0].detection, 'once it is deleted').toBeNull()
    })

    it('may rise to alert, which then counts, and never fall back', async () => {
      const id = await insertTestGateway(hub.db)
      await store(id, detection('a', { severity: 'detection' }))
      expect((await stats()).threats).toBe(0)
      await store(id, detection('a'))
      await store(id, detection('a', { severity: 'detection', endedAt: new Date(hub.clock.now()).toISOString() }))
      expect((await stats()).threats).toBe(1)
      const row = await hub.db.selectFrom('detections').selectAll().executeTakeFirstOrThrow()
      expect(row).toMatchObject({ severity: 'alert', ended_at: expect.any(Number) })
    })

    it('keep fields that an update leaves out', async () => {
      const id = await insertTestGateway(hub.db)
      await store(id, detection('a', { jpeg: Buffer.from('/9j/4AAQ', 'base64'), validated: true, deterrent: 'Siren' }))
      await store(id, detection('a', { falsePositive: true }))
      expect(await hub.db.selectFrom('detections').selectAll().executeTakeFirst()).toMatchObject({
        thumbnail: null,
        thumbnail_bytes: 6,
        validated: 1,
        false_positive: 1,
        deterrent: 'Siren',
      })
    })

    it('count once when the same batch arrives twice at the same time', async () => {
      const id = await insertTestGateway(hub.db)
      const batch = Array.from({ length: 50 }, (_, i) => detection(`d${i}`, { label: `animal ${i}` }))
      await Promise.all([store(id, ...batch), store(id, ...batch), store(id, ...batch)])
      expect((await stats()).threats).toBe(50)
      expect((await timeline()).at(-1).threats).toBe(50)
    })

    it('of many gateways at once are all stored', async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => insertTestGateway(hub.db)))
      const late = new Date(hub.clock.now() - HOUR_MS).toISOString()
      await Promise.all(ids.map((id) => store(id, detection('now'), detection('late', { startedAt: late }))))
      const hours = await timeline()
      expect([hours.at(-2).threats, hours.at(-1).threats]).toEqual([8, 8])
    })

    it('with a future time count now, and yesterday’s do not count today', async () => {
      const id = await insertTestGateway(hub.db)
      const yesterday = new Date(hub.clock.now()).setHours(0, 0, 0, 0) - 1_000
      await store(
        id,
        detection('future', { startedAt: '2099-01-01T00:00:00.000Z' }),
        detection('yesterday', { startedAt: new Date(yesterday).toISOString() }),
      )
      expect((await stats()).threats).toBe(1)
      hub.clock.advance(24 * HOUR_MS)
      const signedInLater = await hub.addUser('later', 'admin', 'a-password')
      const token = await hub.sessions.start({ id: signedInLater }, { sourceIp: '', userAgent: '' })
      const headers = { authorization: `Bearer ${token}` }
      expect((await hub.app.inject({ method: 'GET', url: '/api/v1/hub/stats', headers })).json().threats).toBe(0)
    })

    it('of a deleted gateway are refused whole', async () => {
      await expect(store('a'.repeat(12), detection('a'))).rejects.toMatchObject({ code: 'gateway_unknown' })
      expect(await hub.db.selectFrom('detections').select('id').execute()).toEqual([])
    })
  })

  it('count for a user those of claimed gateways', async () => {
    const own = await insertTestGateway(hub.db, ownedBy(await userId()))
    const other = await insertTestGateway(hub.db)
    await store(own, detection('a'))
    await store(other, detection('a'), detection('b', { label: 'boar' }))
    expect(await stats('user')).toMatchObject({ totalGateways: 1, activeGateways: 0, threats: 1 })
    expect((await timeline('user')).at(-1).threats).toBe(1)
    expect(await stats('manager')).toMatchObject({ totalGateways: 2, threats: 3, totalUsers: 3 })
  })

  it('recounts a changed fleet at once', async () => {
    const call = async (method: 'POST' | 'DELETE', url: string, payload: object) =>
      (
        await hub.app.inject({
          method,
          url,
          payload,
          headers: { authorization: `Bearer ${await hub.signIn('manager')}` },
        })
      ).body
    expect(await stats()).toMatchObject({ totalGateways: 0 })
    const added = JSON.parse(await call('POST', '/api/v1/hub/gateways', { name: 'Barn' }))
    expect(await stats()).toMatchObject({ totalGateways: 1 })
    await call('DELETE', `/api/v1/hub/gateways/${added.id}`, { name: 'Barn' })
    expect(await stats()).toMatchObject({ totalGateways: 0 })
  })

  it('gives 24 hours, oldest first, the current one last, including empty ones', async () => {
    const hours = await timeline()
    expect(hours).toHaveLength(24)
    const starts = hours.map((entry: { hour: string }) => Date.parse(entry.hour))
    expect(starts.at(-1)).toBe(hub.clock.now() - (hub.clock.now() % HOUR_MS))
    expect(starts.at(-1) - starts[0]).toBe(23 * HOUR_MS)
    expect(hours[0]).toMatchObject({ activeConnections: 0, threats: 0 })
  })

  it('records when a gateway goes online, gets a warning and goes offline, and counts the connected', async () => {
    const id = await insertTestGateway(hub.db, { name: 'Barn', ...ownedBy(await userId()) })
    let heartbeat: ReturnType<FleetSignals['heartbeats']['latest']>
    const row = await hub.db.selectFrom('gateways').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const signals: FleetSignals = {
      clock: hub.clock.now,
      heartbeats: { latest: () => heartbeat },
      handshakes: () => new Map([[row.wireguard_public_key, hub.clock.now()]]),
      endpointOf: () => undefined,
      isHealthy: () => undefined,
      refusals: () => undefined,
      vpnPort: () => 'port 51820 of hub.example.org',
    }
    const changed: (string | undefined)[] = []
    factsOf(hub.db).follow({
      name: 'test',
      kinds: ['gateway.status-changed'],
      stage: 'notify',
      afterCommit: (facts) => void changed.push(...facts.map(({ gatewayId }) => gatewayId)),
    })
    const statuses = createStatuses(createFleet(hub.db), signals)
    const watch = { db: hub.db, clock: hub.clock.now, statuses, log }
    const presence = createPresence(watch)
    await presence.look()
    expect(await messages(), 'the first status is not a change').toEqual([])

    const beat = (problems: string[] = []) => {
      heartbeat = { at: hub.clock.now(), content: testHeartbeat(hub.clock.now(), { problems }), isCloned: false }
    }
    beat()
    await presence.look()
    await presence.look()
    expect(presence.warningSince(id)).toBeUndefined()
    const before = hub.clock.now()
    beat(['no detector'])
    await presence.look()
    const warnedAt = presence.warningSince(id)
    expect(warnedAt).toBeGreaterThanOrEqual(before)
    hub.clock.advance(10_000)
    beat(['no detector'])
    await presence.look()
    expect(presence.warningSince(id), 'still the same warning').toBe(warnedAt)
    const restarted = createPresence(watch)
    await restarted.look()
    expect(restarted.warningSince(id), 'known after a restart').toBe(warnedAt)
    await restarted.stop()
    hub.clock.advance(91_000)
    await presence.look()
    expect((await messages('user')).toReversed()).toEqual([
      'Gateway "Barn" is online: heartbeat 0 s ago, VPN handshake 0 s ago',
      'Gateway "Barn" has a warning: heartbeat 0 s ago, no detector',
      'Gateway "Barn" is offline: no heartbeat for 1 min, VPN handshake 0 s ago',
    ])
    expect((await recent()).map((entry: { type: string }) => entry.type)).toEqual(['error', 'warning', 'success'])
    hub.history.record(id, testHeartbeat(hub.clock.now()))
    await hub.history.flush()
    const counted = (await timeline('user')).map((entry: { activeConnections: number }) => entry.activeConnections)
    expect(Math.max(...counted)).toBe(1)
    expect(Math.max(...(await timeline()).map((entry: { activeConnections: number }) => entry.activeConnections))).toBe(
      1,
    )
    expect(changed, 'recorded once for each change').toEqual([id, id, id])
    await presence.stop()
  })
})
