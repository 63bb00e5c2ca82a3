import { sql, type Kysely } from 'kysely'

/** Makes the outbox a log: when each message was last tried, and how often a person had it sent again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const outbox = db.schema.alterTable('notifications')
  await outbox.addColumn('attempted_at', 'double precision').execute()
  await outbox.addColumn('sent_again', 'integer', (c) => c.notNull().defaultTo(0)).execute()
  await sql`update notifications set attempted_at = due_at where state in ('sent', 'failed')`.execute(db)
  await db.schema
    .createIndex('notifications_by_channel')
    .on('notifications')
    .columns(['channel', 'attempted_at'])
    .execute()
}
