import { sql, type Kysely } from 'kysely'

/** What gateways hold back, because it looks like what people called wrong, and what they ask about again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['detections', 'incidents'])
    for (const column of ['suppressed', 'doubtful'])
      await db.schema
        .alterTable(table)
        .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
  // Few are doubtful, and they are looked for in all.
  await sql`create index incidents_doubtful on incidents (started_at) where doubtful = 1`.execute(db)
}
