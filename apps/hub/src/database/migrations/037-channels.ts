import type { Kysely } from 'kysely'

/** The channels that admins set up in the portal. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('channels')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('fields', 'text', (c) => c.notNull())
    .addColumn('sealed', 'text', (c) => c.notNull())
    .execute()
}
