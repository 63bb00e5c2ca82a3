import type { Kysely } from 'kysely'

/** What a command says of learning, as JSON. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('commands').addColumn('learning', 'text').execute()
}
