import { sql, type Kysely } from 'kysely'

/**
 * What an entry of the activity is about, so that it leads there (entries of before know their gateway only); what was
 * reviewed last at a gateway; and the views of Threats that people saved.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('activity').addColumn('kind', 'text').execute()
  await db.schema.alterTable('activity').addColumn('detection_id', 'text').execute()
  await sql`create index incidents_by_review on incidents (gateway_id, reviewed_at) where reviewed_at is not null`.execute(
    db,
  )
  await db.schema
    .createTable('saved_views')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('filter', 'text', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('saved_views_by_user').on('saved_views').columns(['user_id', 'created_at']).execute()
}
