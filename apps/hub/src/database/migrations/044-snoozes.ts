import type { Kysely } from 'kysely'

/** What a command snoozes, and the mark of detections and incidents of snoozed cameras. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('commands').addColumn('snooze', 'text').execute()
  for (const table of ['detections', 'incidents'])
    await db.schema
      .alterTable(table)
      .addColumn('snoozed', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
}
