import { CompiledQuery, createQueryId, sql, type Kysely, type RootOperationNode } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '@hedgerow/contract'
import { ownedBy } from '../access/ownership.ts'
import { scopeOf } from '../access/scope.ts'
import { findAudit } from '../audit/audit.ts'
import { testEngines } from '#testing/databases.ts'
import type { Tables } from '../database/tables.ts'
import { readHistory } from '../fleet/history.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startOfHour } from '../database/hourly-stats.ts'
import { recentActivity } from './recent-activity.ts'
import { threatsToday, timeline } from './timeline.ts'
import { listDetections } from '../detections/detection-list.ts'
import { findDetections } from '../detections/detections.ts'
import { countIncidents, listIncidents } from '../detections/incident-list.ts'
import { placeInIncidents } from '../detections/incidents.ts'

/** The plan of SQLite or PostgreSQL for reading a whole table. */
const WHOLE_TABLE =
  /(seq scan on|^scan|\nscan) (activity|audit|detections|incidents|hourly_stats|gateway_hours)(?! using)/i

const DAY_MS = 86_400_000

const reply = { header: () => reply } as never
const scope = (role: Role, userId = 'u') => scopeOf({ userId, role })

describe.each(testEngines)('queries of tables that grow without end on %s', (engine) => {
  let hub: TestHub
  let ownerId: string
  beforeAll(async () => {
    hub = await startTestHub(engine)
    const { db } = hub
    ownerId = await hub.addUser('owner', 'user', 'a password of some length')
    const id = await insertTestGateway(db, ownedBy(ownerId))
    const now = sql`cast(${Date.now()} as double precision)`
    // Enough rows for the planner to prefer an index.
    const numbers =
      engine === 'postgres'
        ? sql`generate_series(1, 20000) as n`
        : sql`(with recursive s(n) as (select 1 union all select n + 1 from s where n < 20000)
            select n from s) as numbers`
    await sql`insert into activity (at, type, message, gateway_id)
      select ${now} - n, 'info', 'm', case when n % 2 = 0 then ${id} end from ${numbers}`.execute(db)
    await sql`insert into audit (at, actor, action, result)
      select ${now} - n, 'rosa', 'gateway.edit', 'ok'
      from ${numbers} cross join (select 1 union all select 2 union all select 3 union all select 4) as times`.execute(
      db,
    )
    await sql`insert into detections (gateway_id, id, camera, label, severity, score, started_at, received_at)
      select ${id}, 'd' || n, 'c', 'l', 'alert', 1, ${now} - n, 0 from ${numbers}`.execute(db)
    await sql`insert into hourly_stats (hour, scope, active_connections)
      select n * 3600000.0, 'fleet', 1 from ${numbers}`.execute(db)
    await sql`insert into gateway_hours (gateway_id, hour, heartbeats, load_sum, load_max, memory_sum, memory_max,
        disk_sum, disk_max, temperatures, temperature_sum, temperature_max, received_bytes, sent_bytes)
      select 'g' || (n % 100), ${startOfHour(Date.now())} - (n / 100) * 3600000.0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1
      from ${numbers}`.execute(db)
    await sql`analyze`.execute(db)
    // Without statistics, which no hub on SQLite has.
    await sql`insert into incidents
        (id, gateway_id, label, reported_label, severity, started_at, last_at, detections, camera, score, fired)
      select 'i' || n, ${id}, 'l', 'l' || (n % 50), 'alert', ${now} - n, ${now} - n, 1, 'c', 1, 0
      from ${numbers}`.execute(db)
  })
  afterAll(() => hub.stop())

  /** The plans of every statement that `ask` runs. */
  async function plansOf(ask: (db: Kysely<Tables>) => Promise<unknown>): Promise<string[]> {
    const nodes: RootOperationNode[] = []
    const observed = hub.db.withPlugin({
      transformQuery({ node }) {
        nodes.push(node)
        return node
      },
      transformResult: async ({ result }) => result,
    })
    await ask(observed)
    expect(nodes.length).toBeGreaterThan(0)
    return Promise.all(
      nodes.map(async (node) => {
        const query = hub.db.getExecutor().compileQuery(node, createQueryId())
        const explain = engine === 'postgres' ? 'explain' : 'explain query plan'
        const { rows } = await hub.db.executeQuery(CompiledQuery.raw(`${explain} ${query.sql}`, [...query.parameters]))
        return rows.map((row) => Object.values(row as object).join(' ')).join('\n')
      }),
    )
  }

  const questions: [string, (db: Kysely<Tables>) => Promise<unknown>][] = [
    ['recent activity of all', (db) => recentActivity(db, scope('admin'), { query: {}, reply })],
    ['recent activity with a text', (db) => recentActivity(db, scope('admin'), { query: { q: 'x' }, reply })],
    ['recent activity of one’s own', (db) => recentActivity(db, scope('user', ownerId), { query: {}, reply })],
    [
      'the detections of entries',
      (db) =>
        findDetections(
          db,
          ['d1', 'd2'].map((id) => ({ gatewayId: 'g', id })),
        ),
    ],
    ['the audit', (db) => findAudit(db, { limit: 100 })],
    [
      'the audit of a person on a day long ago',
      (db) => findAudit(db, { limit: 100, actor: 'emil', from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' }),
    ],
    ['threats of the day', (db) => threatsToday(db, scope('admin'), Date.now())],
    ['threats of the day of one’s own', (db) => threatsToday(db, scope('user', ownerId), Date.now())],
    ['the timeline of one’s own', (db) => timeline(db, scope('user', ownerId), Date.now())],
    ['the timeline', (db) => timeline(db, scope('admin'), Date.now())],
    ['the history of a gateway', (db) => readHistory(db, 'g1', { hours: 48, now: Date.now() })],
    [
      'the detections of a gateway',
      async (db) => {
        const { id } = await db.selectFrom('gateways').select('id').executeTakeFirstOrThrow()
        return listDetections(db, id, { query: {}, reply })
      },
    ],
  ]
  it.each(questions)('%s reads no growing table completely', async (_name, ask) => {
    for (const plan of await plansOf(ask)) {
      expect(plan).not.toMatch(WHOLE_TABLE)
      expect(plan, 'nothing is sorted where an index has the order').not.toMatch(
        /temp b-tree for order by|\bsort key: (at|started_at)/i,
      )
    }
  })

  it('a report finds the incidents that it continues by their label and time', async () => {
    const { id } = await hub.db.selectFrom('gateways').select('id').executeTakeFirstOrThrow()
    const reported = ['l1', 'l2', 'l3'].map((label) => ({
      gateway_id: id,
      id: label,
      camera: 'c',
      label,
      severity: 'alert' as const,
      score: 1,
      started_at: Date.now() + DAY_MS,
      ended_at: null,
      deterrent: null,
      incident_id: null,
      suppressed: 0,
      doubtful: 0,
      snoozed: 0,
      hasPicture: false,
    }))
    const plans = await plansOf((db) => db.transaction().execute((t) => placeInIncidents(t, reported)))
    expect(plans[0]).toMatch(/incidents_by_last .*gateway_id ?=.* and \(?reported_label ?=.* and \(?last_at ?>/is)
  })

  it.runIf(engine === 'sqlite')(
    'the incidents of many gateways are read by time, and counted in an index',
    async () => {
      for (let number = 0; number < 40; number += 1) await insertTestGateway(hub.db, { location: 'Valley' })
      const filter = { site: 'Valley' }
      // The site and its gateways are read before them.
      const [, , , list] = await plansOf((db) => listIncidents(db, scope('admin'), { query: filter, reply }))
      expect(list).toMatch(/scan incidents using index incidents_by_time/i)
      expect(list).not.toMatch(/temp b-tree/i)
      const [, , , counts] = await plansOf((db) => countIncidents(db, scope('admin'), filter))
      expect(counts).toMatch(/scan incidents using covering index incidents_by_time/i)
      const { id } = await hub.db.selectFrom('gateways').select('id').executeTakeFirstOrThrow()
      const [, ofOne] = await plansOf((db) => countIncidents(db, scope('admin'), { gateway: id }))
      expect(ofOne).toMatch(/search incidents using covering index incidents_by_gateway_id/i)
    },
  )

  it('a text search in the audit does not read all of it', async () => {
    for (const plan of await plansOf((db) => findAudit(db, { limit: 100, q: 'nobody' })))
      expect(plan).not.toMatch(WHOLE_TABLE)
  })
})
