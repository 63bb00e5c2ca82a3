import { expect, test } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from '../migrations.ts'

const before = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '012-reviews'),
)

test.each(testEngines)('existing reviews keep their verdict, and get the camera and time, on %s', async (engine) => {
  const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
  const old = await openDatabase({ url, migrations: before })
  const detection = { label: 'boar', severity: 'alert', score: 0.5, received_at: 0 }
  await old.db
    .insertInto('detections')
    .values({ gateway_id: 'barn', id: 'a', camera: 'orchard', started_at: 5, ...detection } as never)
    .execute()
  const review = { gateway_id: 'barn', verdict: 'wrong', label: 'branch', by_id: 'u1', at: 9 }
  await old.db
    .insertInto('reviews')
    .values([
      { ...review, detection_id: 'a', seq: 1 },
      { ...review, detection_id: 'gone', seq: 2 },
    ] as never)
    .execute()
  await old.close()
  const { db, close } = await openDatabase({ url })
  await db
    .updateTable('reviews')
    .set((row) => ({ seq: row('seq', '+', 1_790_000_000_000) }))
    .execute()
  const reviews = await db.selectFrom('reviews').selectAll().orderBy('seq').execute()
  await close()
  await remove()
  const { gateway_id, verdict, label, by_id, at } = review
  const kept = { gateway_id, verdict, label, by_id, at }
  expect(reviews).toEqual([
    { ...kept, detection_id: 'a', seq: 1_790_000_000_001, camera: 'orchard', detected_at: 5 },
    { ...kept, detection_id: 'gone', seq: 1_790_000_000_002, camera: '', detected_at: 9 },
  ])
})
