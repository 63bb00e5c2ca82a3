import { expect, test } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from '../migrations.ts'

const before = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '025-incident-cameras'),
)

test.each(testEngines)('incidents of before are found by each of their cameras, on %s', async (engine) => {
  const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
  const old = await openDatabase({ url, migrations: before })
  const incident = { label: 'boar', reported_label: 'boar', severity: 'alert', score: 0.5, fired: 0, detections: 3 }
  await old.db
    .insertInto('incidents')
    .values({ id: 'i', gateway_id: 'barn', camera: 'orchard', started_at: 5, last_at: 9, ...incident } as never)
    .execute()
  const detection = { gateway_id: 'barn', label: 'boar', severity: 'alert', score: 0.5, received_at: 0 }
  await old.db
    .insertInto('detections')
    .values([
      { ...detection, id: 'a', camera: 'orchard', started_at: 5, incident_id: 'i' },
      { ...detection, id: 'b', camera: 'orchard', started_at: 6, incident_id: 'i' },
      { ...detection, id: 'c', camera: 'gate', started_at: 7, incident_id: 'i' },
    ] as never)
    .execute()
  await old.close()
  const { db, close } = await openDatabase({ url })
  const cameras = await db.selectFrom('incident_cameras').selectAll().orderBy('camera').execute()
  await close()
  await remove()
  expect(cameras).toEqual([
    { incident_id: 'i', camera: 'gate', gateway_id: 'barn', started_at: 5 },
    { incident_id: 'i', camera: 'orchard', gateway_id: 'barn', started_at: 5 },
  ])
})
