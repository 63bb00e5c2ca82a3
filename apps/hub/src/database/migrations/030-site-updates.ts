import type { Kysely } from 'kysely'

/** Sites with their own automatic updates, and when the hub said that an update holds the others back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('site_updates')
    .addColumn('site', 'text', (c) => c.primaryKey())
    .addColumn('automatic', 'integer')
    .addColumn('hours', 'text')
    .execute()
  await db.schema.alterTable('gateway_updates').addColumn('held_at', 'double precision').execute()
}
