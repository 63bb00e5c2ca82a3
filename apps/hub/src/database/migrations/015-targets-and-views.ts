import { sql, type Kysely } from 'kysely'

/**
 * The target of each entry of the activity, so that the entry links to it (existing entries know only their gateway);
 * the time of each incident's last review; and the views of Threats that people saved.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('activity').addColumn('kind', 'text').execute()
  await db.schema.alterTable('activity').addColumn('detection_id', 'text').execute()
  await sql`create index incidents_by_review on incidents (gateway_id, reviewed_at)
    where reviewed_at is not null`.execute(db)
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
