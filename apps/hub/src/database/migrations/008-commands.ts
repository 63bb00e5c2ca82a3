import type { Kysely } from 'kysely'

/** Commands of people to gateways, the entries of gateways' ledgers, and the firings of each hour. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('commands')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('deterrent', 'text')
    .addColumn('seconds', 'integer')
    .addColumn('by_id', 'text', (c) => c.notNull())
    .addColumn('by_name', 'text', (c) => c.notNull())
    .addColumn('source_ip', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('code', 'text')
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('expires_at', 'double precision', (c) => c.notNull())
    .addColumn('ended_at', 'double precision')
    .execute()
  await db.schema
    .createIndex('commands_by_gateway')
    .on('commands')
    .columns(['gateway_id', 'created_at', 'id'])
    .execute()
  await db.schema.createIndex('commands_by_time').on('commands').column('created_at').execute()
  await db.schema
    .createTable('ledger')
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('entry_id', 'double precision', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('received_at', 'double precision', (c) => c.notNull())
    .addColumn('entry', 'text', (c) => c.notNull())
    // A device that was set up anew counts from 1 again.
    .addPrimaryKeyConstraint('ledger_key', ['gateway_id', 'entry_id', 'at'])
    .execute()
  await db.schema
    .createIndex('ledger_by_gateway')
    .on('ledger')
    .columns(['gateway_id', 'received_at', 'entry_id', 'at'])
    .execute()
  await db.schema.createIndex('ledger_by_time').on('ledger').column('received_at').execute()
  await db.schema
    .alterTable('hourly_stats')
    .addColumn('firings', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
