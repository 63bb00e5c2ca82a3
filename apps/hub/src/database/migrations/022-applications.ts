import type { Kysely } from 'kysely'

/**
 * Origins of gateways' applications: null means the gateway's own interface. `gateways.ui_port` is not read any more,
 * because each of its ports is in `ui_ports` too; SQLite cannot drop a unique column.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('ui_ports').addColumn('application', 'text').execute()
  await db.schema.alterTable('ui_access').addColumn('application', 'text').execute()
}
