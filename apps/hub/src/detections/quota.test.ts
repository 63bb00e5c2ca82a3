import type { Fact, GatewayDetail, HubSettings } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { noiseJpeg } from '#testing/jpeg.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { pino } from 'pino'
import { HUB, record } from '../facts/facts.ts'
import { createDetectionQuota } from './quota.ts'
import { storeDetections, type PicturedDetection } from './detections.ts'

const HOUR_MS = 3_600_000
const DETECTIONS = '/api/v1/gateway/detections'

describe.each(testEngines)('the quota of detections on %s', (engine) => {
  let hub: TestHub
  let headers: { authorization: string }
  beforeEach(async () => {
    hub = await startTestHub(engine)
    headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
  })
  afterEach(() => hub.stop())

  const batch = (id: string, count: number, change: Partial<PicturedDetection> = {}): PicturedDetection[] =>
    Array.from({ length: count }, (_, i) => ({
      id: `${id}/${i}`,
      camera: 'orchard',
      label: 'deer',
      severity: 'detection',
      score: 0.5,
      startedAt: new Date(hub.clock.now()).toISOString(),
      ...change,
    }))
  const save = async (change: Partial<HubSettings>) => {
    const saved = await hub.app.inject({ method: 'PATCH', url: '/api/v1/hub/settings', headers, payload: change })
    expect(saved.statusCode).toBe(200)
  }
  const read = async (id: string): Promise<GatewayDetail> =>
    (await hub.app.inject({ url: `/api/v1/hub/gateways/${id}`, headers })).json()
  const kept = async (id: string) => {
    const rows = await hub.db.selectFrom('detections').select('id').where('gateway_id', '=', id).orderBy('id').execute()
    return rows.map((row) => row.id)
  }
  const totals = () => hub.db.selectFrom('detection_totals').selectAll().orderBy('gateway_id').execute()

  it('refuses detections over the rate, says when to retry, counts and shows them on the gateway’s page', async () => {
    await save({ detectionsPerHour: 600 })
    const { gatewayId, peer } = await joinedGateway(hub, headers)
    const report = async (id: string, count: number) => peer.post(DETECTIONS, { detections: batch(id, count) })
    expect((await peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now()))).status).toBe(200)
    expect(await read(gatewayId)).toMatchObject({ status: 'online', refused: null })
    expect((await report('a', 400)).status).toBe(200)
    expect((await report('b', 500)).status, 'accepts a batch over the limit whole: no gateway gets stuck with it').toBe(
      200,
    )
    const refused = await report('c', 300)
    expect(refused).toMatchObject({ status: 429, body: { error: 'detections_over_quota' } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1_700)
    await report('c', 300)
    expect(await kept(gatewayId)).toHaveLength(900)
    const said = 'Refused 600 detections in the last hour: over 600 an hour'
    expect(await read(gatewayId)).toMatchObject({
      status: 'warning',
      statusReason: expect.stringContaining(said),
      refused: { detections: 600, message: said },
    })
    const other = await insertTestGateway(hub.db)
    expect((await read(other)).refused).toBeNull()
    // Waits exactly as long as told.
    hub.clock.advance(Number(refused.headers['retry-after']) * 1_000)
    expect((await report('c', 300)).status).toBe(200)
    await peer.stop()
  })

  it('refuses detections over the bytes', async () => {
    await save({ detectionMegabytesPerHour: 1 })
    const { gatewayId, peer } = await joinedGateway(hub, headers)
    const thumbnail = (await noiseJpeg(260)).toString('base64')
    const report = (id: string) => peer.post(DETECTIONS, { detections: batch(id, 24, { thumbnail } as object) })
    expect((await report('a')).status).toBe(200)
    expect(await report('b')).toMatchObject({ status: 429, body: { error: 'detections_over_quota' } })
    const said = 'Refused 24 detections in the last hour: over 1 MB an hour'
    expect((await read(gatewayId)).refused).toMatchObject({ message: said })
    await peer.stop()
  })

  it('keeps its counts over a restart, for an hour, and until the gateway is deleted', async () => {
    hub.clock.freeze()
    const parts = { db: hub.db, clock: hub.clock.now, log: pino({ level: 'silent' }) }
    const quota = createDetectionQuota(parts)
    quota.countRefused('first', 200, 'rate')
    quota.countRefused('second', 5, 'storage')
    await quota.flush()
    quota.countRefused('first', 4, 'rate')
    await quota.stop()
    const restarted = createDetectionQuota(parts)
    await restarted.start()
    expect(restarted.refusals('first')).toMatchObject({ detections: 204 })
    expect(restarted.refusals('second')).toMatchObject({
      detections: 5,
      message: "Refused 5 detections in the last hour: the hub's disk is nearly full",
    })
    restarted.remove('second')
    expect(restarted.refusals('second')).toBeUndefined()
    hub.clock.advance(HOUR_MS + 300_000)
    expect(restarted.refusals('first')).toBeUndefined()
    await restarted.stop()
  })

  it('limits calls of one gateway, whatever they hold, and not the others’', async () => {
    hub.clock.freeze()
    const first = await joinedGateway(hub, headers)
    const statuses = new Set<number>()
    for (let i = 0; i < 140; i++) statuses.add((await first.peer.post(DETECTIONS, 'no JSON')).status)
    expect([...statuses]).toEqual([400, 429])
    const second = await joinedGateway(hub, headers, 'Mill')
    expect((await second.peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now()))).status).toBe(200)
    await first.peer.stop()
    await second.peer.stop()
  })

  it('stores a maximum for each gateway, and deletes the oldest when the setting is lowered', async () => {
    const [one, two] = [await insertTestGateway(hub.db), await insertTestGateway(hub.db)]
    const startedAt = new Date(hub.clock.now() - HOUR_MS).toISOString()
    await storeDetections(hub.db, one, batch('old', 300, { startedAt }), hub.clock.now())
    await storeDetections(hub.db, one, batch('new', 40), hub.clock.now())
    await storeDetections(hub.db, two, batch('b', 30), hub.clock.now())
    await save({ detectionsKept: 40 })
    await hub.retention.trim()
    expect(await kept(one)).toEqual(
      batch('new', 40)
        .map(({ id }) => id)
        .toSorted(),
    )
    expect(await kept(two)).toHaveLength(30)
    expect((await totals()).map(({ detections }) => detections).toSorted((a, b) => a - b)).toEqual([30, 40])
  })

  it('deletes the oldest of the gateways with the most while the total is too big', async () => {
    const [large, small] = [await insertTestGateway(hub.db), await insertTestGateway(hub.db)]
    const jpeg = Buffer.alloc(87_000)
    const early = new Date(hub.clock.now() - HOUR_MS).toISOString()
    await storeDetections(hub.db, small, batch('s', 20, { jpeg, startedAt: early }), hub.clock.now())
    for (let i = 0; i < 3; i++) await storeDetections(hub.db, large, batch(`l${i}`, 50, { jpeg }), hub.clock.now() + i)
    await save({ detectionMegabytesKept: 10 })
    await hub.retention.trim()
    expect(await kept(small), 'older, and not the largest').toHaveLength(20)
    expect((await totals()).reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(10_000_000)
  })

  it('has right totals after upserts, deletion by age and the end of a gateway', async () => {
    const id = await insertTestGateway(hub.db)
    const held = async () => (await totals()).map(({ detections, bytes }) => [detections, bytes])
    const longAgo = hub.clock.now() - 100 * 24 * HOUR_MS
    const startedAt = new Date(longAgo).toISOString()
    await storeDetections(hub.db, id, batch('a', 120, { startedAt }), longAgo)
    await storeDetections(hub.db, id, batch('a', 120, { jpeg: Buffer.alloc(8) }), longAgo)
    expect(await held()).toEqual([[120, 120 * 508]])
    await storeDetections(hub.db, id, batch('b', 2), hub.clock.now())
    await hub.retention.purge()
    expect(await held()).toEqual([[2, 1_000]])
    await hub.retention.deleteRowsOf(id)
    expect(await held()).toEqual([])
  })

  it('shows the newest of what a gateway causes, and leaves room for the activity of others', async () => {
    const id = await insertTestGateway(hub.db, { name: 'Barn' })
    const other = await insertTestGateway(hub.db, { name: 'Mill' })
    hub.clock.freeze()
    const origin = { at: hub.clock.now(), actor: HUB, gatewayId: id, target: id }
    const messages = async () => {
      const recent = await hub.app.inject({ url: '/api/v1/hub/activity/recent?limit=50', headers })
      return recent.json<{ message: string }[]>().map(({ message }) => message)
    }
    await storeDetections(hub.db, other, batch('b', 1, { severity: 'alert' }), origin.at)
    for (let i = 0; i < 40; i++) {
      const by = { by: `rule ${i}`, gatewayName: 'Barn' }
      const firing = { ...by, deterrent: 'siren', detectionId: null }
      const status = i % 2 === 0 ? 'offline' : 'online'
      await record(
        hub.db,
        { ...origin, kind: 'deterrent.fired', data: { ...firing, seconds: 5 } },
        { ...origin, kind: 'deterrent.failed', data: { ...firing, message: 'x' } },
        { ...origin, kind: 'gateway.armed', data: by },
        { ...origin, kind: 'gateway.disarmed', data: by },
        { ...origin, kind: 'gateway.status-changed', data: { name: 'Barn', status, reason: `test ${i}` } },
      )
    }
    for (let i = 0; i < 4; i++)
      await storeDetections(hub.db, id, batch(`a${i}`, 500, { severity: 'alert' }), hub.clock.now())
    const camera = 'gate'
    await storeDetections(hub.db, id, batch('last', 1, { severity: 'alert', camera }), hub.clock.now())
    const shown = await messages()
    expect(shown.filter((message) => message.endsWith('(Barn)'))).toHaveLength(20)
    expect(shown).toEqual(
      expect.arrayContaining([
        'Alert: deer on cam gate (Barn)',
        'Alert: deer on cam orchard (Mill)',
        'Deterrent "siren" of "Barn" was fired by rule 39 for 5 s',
        'Deterrent "siren" of "Barn" was fired by rule 26 for 5 s',
        'Gateway "Barn" was armed by rule 39',
        'Gateway "Barn" was disarmed by rule 39',
        'Gateway "Barn" is online: test 39',
      ]),
    )
    expect(shown).not.toContain('Deterrent "siren" of "Barn" was fired by rule 25 for 5 s')
    const startedAt = new Date(origin.at - HOUR_MS).toISOString()
    await storeDetections(hub.db, id, batch('before', 1, { severity: 'alert', startedAt }), origin.at)
    const alerts = hub.db.selectFrom('activity').where('gateway_id', '=', id).where('kind', '=', 'detection.reported')
    expect(await alerts.select('id').execute(), 'of another hour').toHaveLength(21)
  })

  it('records one change of status of each of many gateways', async () => {
    const ids = await Promise.all(Array.from({ length: 600 }, (_, i) => insertTestGateway(hub.db, { name: `G${i}` })))
    const facts = ids.map((id, i): Fact<'gateway.status-changed'> => ({
      kind: 'gateway.status-changed',
      at: hub.clock.now(),
      actor: HUB,
      gatewayId: id,
      target: id,
      data: { name: `G${i}`, status: 'offline', reason: 'x' },
    }))
    await record(hub.db, ...facts)
    const { n } = await hub.db
      .selectFrom('activity')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('gateway_id', 'in', ids)
      .executeTakeFirstOrThrow()
    expect(n).toBe(600)
  })
})
