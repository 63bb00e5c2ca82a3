import type { Kysely } from 'kysely'

/** What incidents and their detections were before each review, to undo it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('former_reviews')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('incident_id', 'text', (c) => c.notNull())
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('seq', 'double precision', (c) => c.notNull())
    .addColumn('by_id', 'text', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('detections', 'integer', (c) => c.notNull())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('verdict', 'text')
    .addColumn('reviewed_by', 'text')
    .addColumn('reviewed_at', 'double precision')
    .execute()
  await db.schema
    .createTable('former_detections')
    .addColumn('review_id', 'text', (c) => c.notNull().references('former_reviews.id').onDelete('cascade'))
    .addColumn('detection_id', 'text', (c) => c.notNull())
    .addColumn('suppressed', 'integer', (c) => c.notNull())
    .addColumn('doubtful', 'integer', (c) => c.notNull())
    .addColumn('verdict', 'text')
    .addColumn('label', 'text')
    .addColumn('by_id', 'text')
    .addColumn('at', 'double precision')
    .addPrimaryKeyConstraint('former_detections_key', ['review_id', 'detection_id'])
    .execute()
  const index = (name: string) => db.schema.createIndex(name).on('former_reviews')
  await index('former_reviews_by_incident').columns(['incident_id', 'seq']).execute()
  await index('former_reviews_by_gateway').columns(['gateway_id', 'at']).execute()
  await index('former_reviews_by_age').column('at').execute()
}
