import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'
import { scopeOf, type Principal } from '../access/scope.ts'
import { HUB, record } from '../facts/facts.ts'
import { createKeptCounts } from './kept-counts.ts'

const MANY = 2_100

describe.each(testEngines)('counts of incidents on %s', (engine) => {
  let hub: TestHub
  let gatewayId: string
  let ownerId: string
  let countOf: ReturnType<typeof createKeptCounts>
  /** Another number in each test and each try. */
  let passedMs = 0
  const manager: Principal = { userId: 'm', role: 'manager' }

  beforeAll(async () => {
    hub = await startTestHub(engine)
    ownerId = await hub.addUser('owner', 'user', 'a password of some length')
    gatewayId = await insertTestGateway(hub.db, ownedBy(ownerId))
    await insertIncidents('deer', 0, MANY)
    await moveOne(await insertTestGateway(hub.db))
    countOf = createKeptCounts(hub.db)
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs)
  })
  afterEach(() => {
    passedMs += 1_001
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    await hub.stop()
  })

  async function insertIncidents(label: string, from: number, count: number): Promise<void> {
    const numbers =
      engine === 'postgres'
        ? sql`generate_series(1, ${sql.lit(count)}) as n`
        : sql`(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${sql.lit(count)})
            select n from s) as numbers`
    await sql`insert into incidents
        (id, gateway_id, label, reported_label, severity, started_at, last_at, detections, camera, score, fired)
      select ${sql.lit(`${label}-`)} || (${sql.lit(from)} + n), ${sql.lit(gatewayId)},
        ${sql.lit(label)}, ${sql.lit(label)},
        'alert', n, n, 1, 'c', 1, 0
      from ${numbers}`.execute(hub.db)
  }

  /** One of the incidents is another gateway's, which nobody owns. */
  const moveOne = (to: string) =>
    hub.db.updateTable('incidents').set({ gateway_id: to }).where('id', '=', 'deer-1').execute()
  const total = async (person = manager, filter = {}) =>
    (await countOf(scopeOf(person), filter)).groups.reduce((sum, { count }) => sum + count, 0)

  it('are kept for a second when there are many', async () => {
    const before = await total()
    await insertIncidents('boar', passedMs, 1)
    expect(await total()).toBe(before)
    passedMs += 1_001
    expect(await total()).toBe(before + 1)
  })

  it('are counted each time when there are few', async () => {
    const caller = { role: 'user', userId: 'nobody' } as const
    const other = await insertTestGateway(hub.db)
    const ofOther = { gateway: other }
    expect([await total(caller), await total(manager, ofOther)]).toEqual([0, 0])
    await moveOne(other)
    expect(await total(manager, ofOther)).toBe(1)
  })

  it('are each person’s own, and those of one filter', async () => {
    const all = await total()
    expect(await total({ role: 'user', userId: ownerId })).toBe(all - 1)
    expect(await total({ role: 'user', userId: 'nobody' })).toBe(0)
    expect(await total(manager, { gateway: 'nothing' })).toBe(0)
    expect(await total({ role: 'admin', userId: 'a' })).toBe(all)
  })

  it('are counted anew after what a person did', async () => {
    const before = await total()
    await insertIncidents('boar', passedMs, 1)
    expect(await total()).toBe(before)
    const data = { verdict: 'right', label: null, gatewayName: 'Barn' } as const
    await record(hub.db, { kind: 'incident.reviewed', at: 0, actor: HUB, target: 'deer-3', gatewayId, data })
    expect(await total()).toBe(before + 1)
  })
})
