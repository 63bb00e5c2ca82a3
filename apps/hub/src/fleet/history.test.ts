import type { GatewayHour } from '@hedgerow/contract'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import type { VpnTraffic } from '../tunnel/tunnel.ts'
import { createHistory, type History } from './history.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'

const HOUR_MS = 3_600_000
const log = pino({ level: 'silent' })

describe.each(testEngines)("a gateway's history on %s", (engine) => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub(engine)
    hub.clock.freeze()
  })
  afterAll(() => hub.stop())

  const ask = async (id: string, query = '', role: 'user' | 'manager' = 'manager') =>
    hub.app.inject({
      url: `/api/v1/hub/gateways/${id}/history${query}`,
      headers: { authorization: `Bearer ${await hub.signIn(role)}` },
    })
  const hoursOf = async (id: string, query = ''): Promise<GatewayHour[]> => (await ask(id, query)).json()
  const lastOf = async (id: string) => (await hoursOf(id)).at(-1)

  /** A second history beside the hub's, with a clock and counters that the test sets. */
  const beside = (): { history: History; at: { now: number }; traffic: Map<string, VpnTraffic> } => {
    const at = { now: hub.clock.now() }
    const traffic = new Map<string, VpnTraffic>()
    return {
      at,
      traffic,
      history: createHistory({ db: hub.db, vpn: { traffic: () => new Map(traffic) }, clock: () => at.now, log }),
    }
  }

  it('has an entry for each of the last 24 hours, oldest first, or for the requested number', async () => {
    const id = await insertTestGateway(hub.db)
    const hours = await hoursOf(id)
    expect(hours).toHaveLength(24)
    expect(hours[0]).toEqual({
      hour: expect.stringMatching(/:00:00\.000Z$/),
      heartbeats: 0,
      load: null,
      memory: null,
      disk: null,
      temperature: null,
      receivedBytes: 0,
      sentBytes: 0,
    })
    const times = hours.map(({ hour }) => Date.parse(hour))
    expect(times.every((time, i) => i === 0 || time - (times[i - 1] ?? 0) === HOUR_MS)).toBe(true)
    expect(await hoursOf(id, '?hours=168')).toHaveLength(168)
    expect((await ask(id, '?hours=169')).json()).toMatchObject({ error: 'invalid_request' })
    expect((await ask(id, '?hours=0')).statusCode).toBe(400)
  })

  it('outlives an unlimited load that an older hub stored, and so does every other gateway', async () => {
    const [mad, sane] = [await insertTestGateway(hub.db), await insertTestGateway(hub.db)]
    const { history, at } = beside()
    const hour = at.now - (at.now % HOUR_MS)
    history.record(mad, testHeartbeat(at.now))
    await history.flush()
    const stored = { load_sum: 1.7e308, load_max: 1.7e308, temperature_sum: -1.7e308, memory_sum: Infinity }
    await hub.db
      .updateTable('gateway_hours')
      .set(stored)
      .where('gateway_id', '=', mad)
      .where('hour', '=', hour)
      .execute()
    expect(await lastOf(mad)).toMatchObject({ heartbeats: 1, load: null, memory: null, temperature: null })
    for (const id of [mad, sane])
      history.record(id, testHeartbeat(at.now, { load: 100_000, memory: 5e-324, disk: -0, temperature: -100 }))
    await history.flush()
    expect(await lastOf(mad)).toMatchObject({ heartbeats: 2, load: null, disk: { max: 0.3 } })
    expect(await lastOf(sane)).toMatchObject({ heartbeats: 1, load: { mean: 100_000, max: 100_000 } })
  })

  it('has the mean and the maximum of an hour’s heartbeats, over several batches', async () => {
    const id = await insertTestGateway(hub.db)
    const { history, at } = beside()
    const beat = (load: number, temperature: number | null) =>
      history.record(id, testHeartbeat(at.now, { load, temperature, memory: load / 2, disk: 0.5 }))
    beat(0.2, -5)
    beat(0.4, null)
    await history.flush()
    beat(0.9, -15)
    await history.flush()
    await history.flush()
    expect(await lastOf(id)).toMatchObject({
      heartbeats: 3,
      load: { mean: expect.closeTo(0.5, 9), max: 0.9 },
      memory: { mean: expect.closeTo(0.25, 9), max: 0.45 },
      disk: { mean: 0.5, max: 0.5 },
      temperature: { mean: -10, max: -5 },
    })
  })

  it('counts tunnel traffic once, also when its counters restart', async () => {
    const { publicKey } = generateKeyPair()
    const id = await insertTestGateway(hub.db, { wireguard_public_key: publicKey })
    const { history, traffic, at } = beside()
    traffic.set(publicKey, { receivedBytes: 50, sentBytes: 5 })
    history.start()
    const flushAt = async (receivedBytes: number, sentBytes: number) => {
      traffic.set(publicKey, { receivedBytes, sentBytes })
      await history.flush()
    }
    await flushAt(1_050, 105)
    await flushAt(1_050, 105)
    expect(await lastOf(id)).toMatchObject({ receivedBytes: 1_000, sentBytes: 100, heartbeats: 0, load: null })
    await flushAt(30, 3)
    expect(await lastOf(id)).toMatchObject({ receivedBytes: 1_030, sentBytes: 103 })
    at.now -= HOUR_MS
    await flushAt(32, 4)
    expect((await hoursOf(id)).slice(-2)).toMatchObject([
      { receivedBytes: 2, sentBytes: 1 },
      { receivedBytes: 1_030, sentBytes: 103 },
    ])
    await history.stop()
  })

  it('loses nothing while the database is silent, and writes for more gateways than fit into one batch', async () => {
    const ids = await Promise.all(Array.from({ length: 120 }, () => insertTestGateway(hub.db)))
    const { history, at } = beside()
    for (const id of ids) history.record(id, testHeartbeat(at.now))
    await hub.db.schema.alterTable('gateway_hours').renameTo('hidden').execute()
    await expect(history.flush()).rejects.toThrow(/gateway_hours/)
    await hub.db.schema.alterTable('hidden').renameTo('gateway_hours').execute()
    await history.flush()
    for (const id of ids) expect((await lastOf(id))?.heartbeats).toBe(1)
  })

  it('is kept for 7 days, and deleted with its gateway', async () => {
    const id = await insertTestGateway(hub.db)
    const { history, at } = beside()
    const start = at.now
    for (const hoursAgo of [0, 167, 170, 400]) {
      at.now = start - hoursAgo * HOUR_MS
      history.record(id, testHeartbeat(at.now))
    }
    await history.flush()
    await hub.retention.purge()
    const kept = () => hub.db.selectFrom('gateway_hours').select('hour').where('gateway_id', '=', id).execute()
    expect(await kept()).toHaveLength(2)
    await hub.db.deleteFrom('gateways').where('id', '=', id).execute()
    await hub.retention.deleteRowsOf(id)
    expect(await kept()).toEqual([])
    history.record(id, testHeartbeat(at.now))
    await history.flush()
    expect(await kept(), 'a heartbeat during the deletion').toEqual([])
  })

  it('is for people who may see the gateway', async () => {
    const id = await insertTestGateway(hub.db)
    expect((await ask(id, '', 'user')).json()).toMatchObject({ error: 'gateway_not_found' })
  })
})
