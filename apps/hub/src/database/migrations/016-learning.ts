import { sql, type Kysely } from 'kysely'

/**
 * Detections that gateways hold back, because they look like ones that people called wrong, and doubtful ones that
 * gateways ask people about.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['detections', 'incidents'])
    for (const column of ['suppressed', 'doubtful'])
      await db.schema
        .alterTable(table)
        .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
  // Few incidents are doubtful, and the query searches all gateways.
  await sql`create index incidents_doubtful on incidents (started_at) where doubtful = 1`.execute(db)
}
