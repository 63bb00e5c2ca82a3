import type { Fact, FactKind } from '@hedgerow/contract'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, openTestDatabase, testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub } from '#testing/hub.ts'
import { openDatabase, type Database } from '../database/database.ts'
import { inTransaction } from '../database/transaction.ts'
import { storeDetections } from '../detections/detections.ts'
import { auditAnswers } from '@hedgerow/contract/audit-answers'
import { factsOf, HUB, openFacts, record, type CommitFollower } from './facts.ts'

const silent = pino({ level: 'silent' })
const added = (name: string): Fact => ({
  kind: 'gateway.added',
  at: 1_700_000_000_000,
  actor: { name: 'rosa', userId: 'u1', sourceIp: '198.51.100.7' },
  target: name,
  gatewayId: name,
  data: { name },
})

describe.each(testEngines)('facts on %s', (engine) => {
  let database: Database
  const told: string[] = []
  const follower = (
    name: string,
    stage: CommitFollower['stage'],
    then = () => {},
  ): CommitFollower<'gateway.added'> => ({
    name,
    kinds: ['gateway.added'],
    stage,
    afterCommit(facts) {
      told.push(`${name} ${facts.map(({ data }) => data.name).join(' ')}`)
      then()
    },
  })
  const errors: string[] = []
  beforeAll(async () => {
    database = await openTestDatabase(engine)
    const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) })
    const facts = openFacts(database.db, { log })
    facts.follow(follower('notifier', 'notify'))
    facts.follow(
      follower('broken', 'memory', () => {
        throw new Error('out of order')
      }),
    )
    facts.follow(follower('cache', 'memory'))
  })
  afterAll(() => database.close())

  const rows = () => database.db.selectFrom('facts').selectAll().orderBy('id').execute()

  test('name actor, target, address and time, and their ids only rise', async () => {
    await record(database.db, added('barn'))
    await record(database.db, added('mill'))
    const [first, second] = await rows()
    expect(first).toMatchObject({
      kind: 'gateway.added',
      at: 1_700_000_000_000,
      actor: 'rosa',
      actor_id: 'u1',
      source_ip: '198.51.100.7',
      target: 'barn',
      gateway_id: 'barn',
      site_id: null,
      data: '{"name":"barn"}',
    })
    await database.db.deleteFrom('facts').execute()
    await record(database.db, added('shed'))
    expect((await rows())[0]!.id).toBeGreaterThan(second!.id)
    expect(second!.id).toBeGreaterThan(first!.id)
  })

  test('reach their followers after the commit, memory first; a failing one is logged and stops no other', async () => {
    told.length = errors.length = 0
    await inTransaction(database.db, async (transaction) => {
      await record(transaction, added('a'))
      // A verb within a verb.
      await inTransaction(transaction, (inner) => record(inner, added('b')))
      expect(told).toEqual([])
    })
    expect(told).toEqual(['broken a b', 'cache a b', 'notifier a b'])
    expect(errors).toHaveLength(1)
    expect(JSON.parse(errors[0]!)).toMatchObject({ follower: 'broken', err: { message: 'out of order' } })
  })

  test('of a rolled-back transaction are not stored and have no effect', async () => {
    told.length = 0
    const before = await rows()
    const undone = inTransaction(database.db, async (transaction) => {
      await inTransaction(transaction, (inner) => record(inner, added('never')))
      throw new Error('no')
    })
    await expect(undone).rejects.toThrow('no')
    expect(await rows()).toEqual(before)
    expect(told).toEqual([])
  })

  test('of a follower that throws in the transaction are rolled back with it', async () => {
    const other = await openTestDatabase(engine)
    factsOf(other.db).follow({
      name: 'outbox',
      kinds: ['gateway.added'],
      inTransaction: () => Promise.reject(new Error('no outbox')),
    })
    await expect(record(other.db, added('barn'))).rejects.toThrow('no outbox')
    for (const table of ['facts', 'audit', 'activity'] as const)
      expect(await other.db.selectFrom(table).selectAll().execute(), table).toEqual([])
    await other.close()
  })

  test('are refused in a transaction whose commit is not observed', async () => {
    const work = database.db.transaction().execute((transaction) => record(transaction, added('barn')))
    await expect(work).rejects.toThrow('not begun by inTransaction')
  })

  test('reach followers once, however often PostgreSQL repeats the transaction', async () => {
    told.length = 0
    let attempts = 0
    await inTransaction(database.db, async (transaction) => {
      await record(transaction, added('twice'))
      if (++attempts < 3) throw Object.assign(new Error('could not serialize access'), { code: '40001' })
    })
    expect(attempts).toBe(3)
    expect(told).toEqual(['broken twice', 'cache twice', 'notifier twice'])
    expect((await rows()).filter(({ target }) => target === 'twice')).toHaveLength(1)
  })

  test('of ten thousand gateways are one transaction', async () => {
    const other = await openTestDatabase(engine)
    const many = Array.from({ length: 10_000 }, (_, i): Fact => {
      const data = { name: `gateway ${i}`, status: 'offline', reason: 'no heartbeat' } as const
      return { kind: 'gateway.status-changed', at: i, actor: HUB, gatewayId: `g${i}`, data }
    })
    await record(other.db, ...many)
    for (const table of ['facts', 'activity'] as const) {
      const { count } = await other.db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      expect(count, table).toBe(10_000)
    }
    await other.close()
  })

  test('of a batch of detections are one for each fifty, committed together', async () => {
    const other = await openTestDatabase(engine)
    const gatewayId = await insertTestGateway(other.db, { name: 'Barn' })
    const detections = Array.from({ length: 500 }, (_, i) => ({
      id: `d${i}`,
      camera: 'Gate',
      label: 'person',
      severity: i < 2 ? ('alert' as const) : ('detection' as const),
      score: 0.9,
      startedAt: new Date(i).toISOString(),
    }))
    await storeDetections(other.db, gatewayId, detections, Date.now())
    const facts = await other.db.selectFrom('facts').select('data').orderBy('id').execute()
    const [first, ...others] = facts.map(({ data }) => JSON.parse(data))
    const [incident] = await other.db.selectFrom('incidents').select('id').execute()
    const incidents = [{ id: incident!.id, label: 'person', severity: 'alert' }]
    expect(first).toMatchObject({ count: 50, alerts: [{ id: 'd0' }, { id: 'd1' }], incidents })
    expect(others).toMatchObject(
      Array.from({ length: 9 }, () => ({ count: 50, gatewayName: 'Barn', alerts: [], incidents })),
    )
    await other.close()
  })
})

describe('the followers of a hub', () => {
  const kinds = Object.keys(auditAnswers) as FactKind[]

  test('have an audit answer for each kind: an entry, or the reason for none', () => {
    for (const kind of kinds) {
      const answer = auditAnswers[kind]
      const said = 'none' in answer ? answer.none : answer.action
      expect(said, kind).toMatch('none' in answer ? /\w+ \w+/ : /^[a-z-]+\.[a-z-]+$/)
    }
  })

  test('are all registered, and each cache names the kinds that make it stale', async () => {
    const hub = await startTestHub('sqlite')
    const followers = factsOf(hub.db).followers()
    expect(followers.map(({ name }) => name).toSorted()).toEqual([
      'activity',
      'alert-delivery',
      'alerts',
      'asked-updates',
      'audit',
      'channels',
      'contact',
      'decided-requests',
      'deleted-gateways',
      'fleet',
      'fleet-list-cache',
      'gateway-pages',
      'held-devices',
      'incident-counts',
      'known-addresses',
      'live-events',
      'live-peers',
      'newest-reviews',
      'notification-delivery',
      'notifications',
      'push-subscriptions',
      'retention',
      'sessions',
      'settings',
      'waiters',
    ])
    for (const follower of followers) {
      expect(follower.kinds, follower.name).not.toHaveLength(0)
      for (const kind of follower.kinds) expect(kinds, follower.name).toContain(kind)
    }
    await hub.stop()
  })

  test('leave nothing undone when the hub is killed between a commit and its effects', async () => {
    const fresh = generateKeyPair()
    const { url, remove } = await createTestDatabase('sqlite')
    const killed = await openDatabase({ url })
    const { db } = killed
    // The committed state of a killed process: rows, but no follower ran.
    openFacts(db, { log: silent })
    const gone = await insertTestGateway(db)
    await insertTestGateway(db, { wireguard_public_key: fresh.publicKey })
    const at = Date.now()
    const seen = { id: 'd', camera: 'Gate', label: 'person', severity: 'alert' as const, score: 1 }
    await storeDetections(db, gone, [{ ...seen, startedAt: new Date(at).toISOString() }], at)
    await db.deleteFrom('gateways').where('id', '=', gone).execute()
    const data = { name: 'Gone', publicKey: generateKeyPair().publicKey }
    await record(db, { kind: 'gateway.deleted', at, actor: HUB, target: gone, gatewayId: gone, data })
    await killed.close()

    const hub = await startTestHub('sqlite', { databaseUrl: url })
    expect(hub.vpn.peers().map(({ publicKey }) => publicKey)).toEqual([fresh.publicKey])
    expect(await hub.db.selectFrom('detections').select('gateway_id').execute()).toEqual([{ gateway_id: gone }])
    await hub.retention.purge()
    expect(await hub.db.selectFrom('detections').select('gateway_id').execute()).toEqual([])
    await hub.stop()
    await remove()
  })
})
