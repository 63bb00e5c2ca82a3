import { expect, test } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from '../migrations.ts'

const before = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '007-incidents'),
)

test.each(testEngines)('what was detected before is put into incidents, on %s', async (engine) => {
  const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
  const old = await openDatabase({ url, migrations: before })
  const row = (id: string, started: number, change: object = {}) => ({
    gateway_id: 'barn',
    id,
    camera: 'orchard',
    label: 'boar',
    severity: 'detection',
    score: 0.5,
    started_at: started * 1_000,
    ended_at: null,
    thumbnail: null,
    validated: null,
    false_positive: null,
    deterrent: null,
    received_at: 0,
    ...change,
  })
  await old.db
    .insertInto('detections')
    .values([
      row('a', 0, { ended_at: 100_000 }),
      row('b', 50, { score: 0.9 }),
      row('c', 144, { score: 0.7, thumbnail: '/9j/AAAA', camera: 'gate', severity: 'alert', deterrent: 'siren' }),
      row('d', 189),
      row('e', 0, { gateway_id: 'mill' }),
      row('f', 0, { label: 'deer' }),
    ] as never)
    .execute()
  await old.close()
  const { db, close } = await openDatabase({ url })
  const incidents = await db
    .selectFrom('incidents')
    .select([
      'gateway_id',
      'label',
      'severity',
      'started_at',
      'last_at',
      'detections',
      'cover_id',
      'camera',
      'score',
      'fired',
    ])
    .orderBy('detections', 'desc')
    .orderBy('started_at')
    .orderBy('gateway_id')
    .orderBy('label')
    .execute()
  const plain = { severity: 'detection', detections: 1, cover_id: null, camera: 'orchard', score: 0.5, fired: 0 }
  expect(incidents).toEqual([
    {
      gateway_id: 'barn',
      label: 'boar',
      severity: 'alert',
      started_at: 0,
      last_at: 144_000,
      detections: 3,
      cover_id: 'c',
      camera: 'gate',
      score: 0.7,
      fired: 1,
    },
    { ...plain, gateway_id: 'barn', label: 'deer', started_at: 0, last_at: 0 },
    { ...plain, gateway_id: 'mill', label: 'boar', started_at: 0, last_at: 0 },
    { ...plain, gateway_id: 'barn', label: 'boar', started_at: 189_000, last_at: 189_000 },
  ])
  const members = await db
    .selectFrom('detections')
    .innerJoin('incidents', 'incidents.id', 'detections.incident_id')
    .select(['detections.id', 'incidents.detections'])
    .orderBy('detections.id')
    .execute()
  expect(members.map(({ id, detections }) => `${id}${detections}`)).toEqual(['a3', 'b3', 'c3', 'd1', 'e1', 'f1'])
  await close()
  await remove()
})
