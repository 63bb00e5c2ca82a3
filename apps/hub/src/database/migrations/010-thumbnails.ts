import { sql, type Kysely } from 'kysely'
import type { Engine } from '../engine.ts'

/**
 * Details of detections, and a table for thumbnails as bytes. Existing thumbnails stay in their column until
 * detections/carry-over.ts has moved them, a few at a time while the hub runs: there may be gigabytes.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('thumbnails')
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('detection_id', 'text', (c) => c.notNull())
    .addColumn('jpeg', engine === 'postgres' ? 'bytea' : 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('thumbnails_key', ['gateway_id', 'detection_id'])
    .execute()
  await db.schema.alterTable('detections').addColumn('details', 'text').execute()
  await db.schema.alterTable('detections').addColumn('thumbnail_bytes', 'integer').execute()
  await sql`create index detections_to_carry_over on detections (gateway_id, id) where thumbnail is not null`.execute(
    db,
  )
}
