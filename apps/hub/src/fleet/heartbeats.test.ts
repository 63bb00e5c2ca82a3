import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Database } from '../database/database.ts'
import { openTestDatabase, testEngines } from '#testing/databases.ts'
import { createHeartbeats, type Heartbeats } from './heartbeats.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { insertTestGateway } from '#testing/gateway.ts'

const log = pino({ level: 'silent' })

describe.each(testEngines)('heartbeats on %s', (engine) => {
  let database: Database
  let heartbeats: Heartbeats
  let now = Date.UTC(2026, 10, 21)
  const open = () => createHeartbeats({ db: database.db, clock: () => now, log })
  const row = (id: string) =>
    database.db.selectFrom('gateways').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  beforeEach(async () => {
    database = await openTestDatabase(engine)
    heartbeats = open()
  })
  afterEach(async () => {
    await heartbeats.stop()
    await database.close()
  })

  it('are known at once, and in the database after a flush', async () => {
    const id = await insertTestGateway(database.db)
    heartbeats.record(id, testHeartbeat(now))
    expect(heartbeats.latest(id)).toMatchObject({ at: now, isCloned: false })
    expect((await row(id)).last_heartbeat_at).toBeNull()
    await heartbeats.flush()
    expect(await row(id)).toMatchObject({ last_heartbeat_at: now, version: '2.0.0' })
  })

  it('tell when deterrents or the arming changed, and only then', async () => {
    const id = await insertTestGateway(database.db)
    const told: string[] = []
    heartbeats.onDeterrents((gatewayId) => told.push(gatewayId))
    const siren = (state: 'ready' | 'fault') => ({ deterrents: [{ name: 'siren', state }] })
    heartbeats.record(id, testHeartbeat(now, siren('ready')))
    heartbeats.record(id, testHeartbeat(now, { ...siren('ready'), load: 0.9 }))
    expect(told).toEqual([])
    heartbeats.record(id, testHeartbeat(now, siren('fault')))
    heartbeats.record(id, testHeartbeat(now, { ...siren('fault'), armed: false }))
    expect(told).toEqual([id, id])
  })

  it('are written periodically', async () => {
    const id = await insertTestGateway(database.db)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      await heartbeats.start()
      heartbeats.record(id, testHeartbeat(now))
      vi.advanceTimersByTime(5_000)
      await expect.poll(async () => (await row(id)).last_heartbeat_at).toBe(now)
      await heartbeats.stop()
    } finally {
      vi.useRealTimers()
    }
  })

  it('survive a restart', async () => {
    const id = await insertTestGateway(database.db)
    heartbeats.record(id, testHeartbeat(now, { problems: ['no detector'] }))
    await heartbeats.stop()
    const restarted = open()
    await restarted.start()
    expect(restarted.latest(id)).toMatchObject({ at: now, content: { problems: ['no detector'] } })
    await restarted.stop()
  })

  it('are not lost when the database does not answer', async () => {
    const id = await insertTestGateway(database.db)
    heartbeats.record(id, testHeartbeat(now))
    await database.db.schema.alterTable('gateways').renameTo('hidden').execute()
    await expect(heartbeats.flush()).rejects.toThrow(/gateways/)
    await database.db.schema.alterTable('hidden').renameTo('gateways').execute()
    await heartbeats.flush()
    expect((await row(id)).last_heartbeat_at).toBe(now)
  })

  it('of a deleted gateway are dropped', async () => {
    const id = await insertTestGateway(database.db)
    heartbeats.record(id, testHeartbeat(now))
    await database.db.deleteFrom('gateways').where('id', '=', id).execute()
    await heartbeats.flush()
    expect(heartbeats.latest(id)).toBeUndefined()
  })

  it('distinguish two devices with one identity from one that rebooted', async () => {
    const id = await insertTestGateway(database.db)
    const beat = (bootId: string) => {
      now += 15_000
      heartbeats.record(id, testHeartbeat(now, { bootId }))
      return heartbeats.latest(id)?.isCloned
    }
    expect([beat('boot-one'), beat('boot-one'), beat('boot-two'), beat('boot-two')]).toEqual([
      false,
      false,
      false,
      false,
    ])
    expect(beat('boot-one')).toBe(true)
    expect(beat('boot-two')).toBe(true)
    now += 180_000
    expect(beat('boot-two'), 'the other one was switched off').toBe(false)
  })
})
