import { sql, type Kysely } from 'kysely'

/** The log of facts. `autoincrement` keeps SQLite from using the id of a deleted row again. */
export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  const id = engine === 'postgres' ? sql`bigserial` : sql`integer`
  await db.schema
    .createTable('facts')
    .addColumn('id', id, (c) => (engine === 'postgres' ? c.primaryKey() : c.primaryKey().autoIncrement()))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('source_ip', 'text')
    .addColumn('target', 'text')
    .addColumn('gateway_id', 'text')
    .addColumn('site_id', 'text')
    .addColumn('data', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('facts_by_time').on('facts').column('at').execute()
  await db.schema.createIndex('facts_by_kind').on('facts').columns(['kind', 'at']).execute()
}
