import { expect, test } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from '../migrations.ts'

const HOUR = 1_800_000_000_000
const EARLIER = HOUR - 3_600_000

test.each(testEngines)('the counts of owners become those of their gateways, on %s', async (engine) => {
  const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
  const old = await openDatabase({ url, migrations: MIGRATIONS.filter(({ name }) => name < '035') })
  const seen = (id: string, gateway_id: string, started_at: number, more: object = {}) => ({
    id,
    gateway_id,
    camera: 'c',
    label: 'boar',
    severity: 'alert' as const,
    score: 1,
    started_at,
    received_at: started_at,
    suppressed: 0,
    ...more,
  })
  await old.db
    .insertInto('detections')
    .values([
      seen('a', 'barn', HOUR + 5),
      seen('b', 'barn', HOUR + 3_599_999),
      seen('c', 'mill', EARLIER + 9),
      seen('d', 'mill', HOUR, { severity: 'detection' }),
      seen('e', 'mill', HOUR, { suppressed: 1 }),
    ])
    .execute()
  const entry = (entry_id: number, at: number, kind: string) => ({
    gateway_id: 'mill',
    entry_id,
    at,
    received_at: at,
    entry: JSON.stringify({ id: entry_id, at, kind }),
  })
  await old.db
    .insertInto('ledger')
    .values([entry(1, EARLIER + 7, 'fired'), entry(2, EARLIER + 8, 'fired'), entry(3, EARLIER + 9, 'ended')])
    .execute()
  const count = { hour: HOUR, active_connections: 3, threats: 7, firings: 1 }
  await old.db
    .insertInto('hourly_stats')
    .values([
      { ...count, scope: 'fleet' },
      { ...count, scope: 'an owner' },
    ] as object[] as never)
    .execute()
  await old.close()
  const { db, close } = await openDatabase({ url, migrations: MIGRATIONS.filter(({ name }) => name < '036') })
  const rows = await db.selectFrom('hourly_stats').selectAll().orderBy('scope').orderBy('hour').execute()
  await close()
  await remove()
  const none = { active_connections: 0, threats: 0, firings: 0 }
  expect(rows).toEqual([
    { ...none, hour: HOUR, scope: 'barn', threats: 2 },
    { ...count, scope: 'fleet' },
    { ...none, hour: EARLIER, scope: 'mill', threats: 1, firings: 2 },
  ])
})
