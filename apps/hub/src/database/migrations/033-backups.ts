import { sql, type Kysely } from 'kysely'

/**
 * The backups that the hub makes on its schedule. Rules that report expiring certificates report failed backups too:
 * both are the hub's own upkeep.
 */
export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  await db.schema
    .createTable('backups')
    .addColumn('id', engine === 'postgres' ? sql`bigserial` : sql`integer`, (c) => c.primaryKey())
    .addColumn('file', 'text', (c) => c.notNull())
    .addColumn('begun_at', 'double precision', (c) => c.notNull())
    .addColumn('bytes', 'double precision')
    .addColumn('modified_at', 'double precision')
    .execute()
  const tables = db.withTables<{ alert_rules: { id: string; fields: string } }>()
  for (const { id, fields } of await tables.selectFrom('alert_rules').select(['id', 'fields']).execute()) {
    const rule = JSON.parse(fields) as { what?: string[] }
    if (!rule.what?.includes('certificate')) continue
    const what = [...rule.what, 'backup']
    await tables
      .updateTable('alert_rules')
      .set({ fields: JSON.stringify({ ...rule, what }) })
      .where('id', '=', id)
      .execute()
  }
}
