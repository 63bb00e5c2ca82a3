import type { Kysely } from 'kysely'

/** Pictures that went to the vision endpoint, for each gateway and day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('second_looks')
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('pictures', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('second_looks_of_day', ['day', 'gateway_id'])
    .execute()
}
