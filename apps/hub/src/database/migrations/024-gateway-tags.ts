import type { Kysely } from 'kysely'

/** The tags of gateways, as a JSON array. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('gateways')
    .addColumn('tags', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute()
}
