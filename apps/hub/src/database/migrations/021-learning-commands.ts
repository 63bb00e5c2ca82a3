import type { Kysely } from 'kysely'

/** The part of a command about learning, as JSON. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('commands').addColumn('learning', 'text').execute()
}
