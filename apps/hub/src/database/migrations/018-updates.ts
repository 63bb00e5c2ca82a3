import type { Kysely } from 'kysely'

/** The newest request for an update of each gateway, and the automatic updates to each release. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('gateway_updates')
    .addColumn('gateway_id', 'text', (c) => c.primaryKey().references('gateways.id').onDelete('cascade'))
    .addColumn('number', 'double precision', (c) => c.notNull())
    .addColumn('version', 'text', (c) => c.notNull())
    .addColumn('attempt', 'double precision', (c) => c.notNull())
    .addColumn('by_name', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('asked_at', 'double precision', (c) => c.notNull())
    .addColumn('ended_at', 'double precision')
    .execute()
  await db.schema
    .createTable('rollouts')
    .addColumn('number', 'double precision', (c) => c.primaryKey())
    .addColumn('version', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('started_at', 'double precision', (c) => c.notNull())
    .execute()
}
