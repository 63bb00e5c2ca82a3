import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { scopeOf } from '../access/scope.ts'
import type { Database } from '../database/database.ts'
import { HUB, record } from '../facts/facts.ts'
import { openRecords } from '../followers/followers.ts'
import { createStatuses } from './fleet.ts'
import { createFleet, type Fleet } from './snapshot.ts'

describe.each(testEngines)('the fleet in memory on %s', (engine) => {
  let database: Database
  let db: Database['db']
  /** The rows of each read of gateways. */
  let reads: number[] = []
  let isDown = false
  let fleet: Fleet
  let barn: string

  beforeAll(async () => {
    database = await openTestDatabase(engine)
    db = database.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (isDown) throw new Error('down')
        if (result.rows.some((row) => 'device_token' in row)) reads.push(result.rows.length)
        return result
      },
    })
    openRecords(db, { log: pino({ level: 'silent' }) })
    fleet = createFleet(db)
    barn = await insertTestGateway(db, { name: 'Barn', tags: '["north"]', location: 'Hill' })
    for (const name of ['Oak', 'Äcker', 'Mill']) await insertTestGateway(db, { name })
  })
  afterAll(() => database.close())

  const names = async () => (await fleet()).map(({ name }) => name)
  const edited = (gatewayId: string) =>
    record(db, { kind: 'gateway.edited', at: 0, actor: HUB, gatewayId, data: { name: '' } })
  const write = (id: string, change: object) =>
    database.db.updateTable('gateways').set(change).where('id', '=', id).execute()

  it('is read once for all who wait, and stays until a fact', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => fleet()))
    expect(new Set(all).size).toBe(1)
    expect(await names()).toEqual(['Barn', 'Mill', 'Oak', 'Äcker'])
    expect(all[0]![0]).toMatchObject({ tags: ['north'], text: expect.stringContaining('barn\nhill\nnorth\n') })
    expect(reads).toEqual([4])
  })

  it('is copied after a fact, of whose gateway alone the row is read again', async () => {
    const before = await fleet()
    reads = []
    await write(barn, { name: 'Shed', name_key: 'shed' })
    await edited(barn)
    expect(await names()).toEqual(['Mill', 'Oak', 'Shed', 'Äcker'])
    const added = await insertTestGateway(database.db, { name: 'Hut' })
    await Promise.all([edited(added), edited(barn)])
    expect(await names()).toEqual(['Hut', 'Mill', 'Oak', 'Shed', 'Äcker'])
    expect(reads).toEqual([1, 2])
    await database.db.deleteFrom('gateways').where('id', '=', added).execute()
    await edited(added)
    expect(await names()).toEqual(['Mill', 'Oak', 'Shed', 'Äcker'])
    expect(before.map(({ name }) => name)).toEqual(['Barn', 'Mill', 'Oak', 'Äcker'])
    reads = []
    await record(db, { kind: 'user.deleted', at: 0, actor: HUB, data: {} as never })
    await fleet()
    expect(reads, 'a fact of no gateway may concern all').toEqual([4])
  })

  it('knows a change that came during a read, and is read again after a failed one', async () => {
    await record(db, { kind: 'user.deleted', at: 0, actor: HUB, data: {} as never })
    const early = fleet()
    await write(barn, { name: 'Hall', name_key: 'hall' })
    await edited(barn)
    const late = fleet()
    await early
    expect((await late).map(({ name }) => name)).toContain('Hall')
    await write(barn, { name: 'Tower', name_key: 'tower' })
    await edited(barn)
    isDown = true
    await expect(fleet()).rejects.toThrow('down')
    isDown = false
    expect(await names()).toContain('Tower')
  })

  it('is judged anew at each call, by what came without a fact', async () => {
    const handshakes = new Map<string, number>()
    const statuses = createStatuses(fleet, {
      clock: () => 1_000_000,
      heartbeats: { latest: () => undefined },
      handshakes: () => handshakes,
      endpointOf: () => undefined,
      isHealthy: () => true,
      refusals: () => undefined,
      vpnPort: () => '',
    })
    await write(barn, { kind: 'wireguard' })
    await edited(barn)
    reads = []
    const statusOf = async () => (await statuses()).map(({ id, status }) => (id === barn ? status : undefined))
    expect(await statusOf()).toEqual([undefined, undefined, 'offline', undefined])
    for (const { wireguard_public_key: key } of await fleet()) handshakes.set(key, 1_000_000)
    expect(await statusOf()).toEqual([undefined, undefined, 'online', undefined])
    expect(await statuses(scopeOf({ userId: 'rosa', role: 'user' })), 'she owns none').toEqual([])
    expect(reads).toEqual([1])
  })
})
