import type { Kysely } from 'kysely'

/** Which messages the hub has published to Home Assistant, so that it can withdraw them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('home_assistant_devices')
    .addColumn('gateway_id', 'text', (c) => c.primaryKey())
    .addColumn('components', 'text', (c) => c.notNull())
    .execute()
}
