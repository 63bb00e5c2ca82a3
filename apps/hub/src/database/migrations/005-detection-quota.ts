import { sql, type Kysely } from 'kysely'

/** How many detections each gateway holds, so that no query has to count them all; and refused detections. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('detection_totals')
    .addColumn('gateway_id', 'text', (c) => c.primaryKey())
    .addColumn('detections', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'double precision', (c) => c.notNull())
    .execute()
  await sql`insert into detection_totals (gateway_id, detections, bytes)
    select gateway_id, count(*), sum(500 + length(coalesce(thumbnail, ''))) from detections
    group by gateway_id`.execute(db)
  await db.schema
    .createTable('detection_refusals')
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('detections', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('detection_refusals_key', ['gateway_id', 'at', 'reason'])
    .execute()
  await db.schema.createIndex('detection_refusals_by_time').on('detection_refusals').column('at').execute()
  await db.schema
    .createTable('storage_probe')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('filler', 'text', (c) => c.notNull())
    .execute()
}
