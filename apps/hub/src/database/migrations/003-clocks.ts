import type { Kysely } from 'kysely'

/** The hub's clock at its last check, and the greatest timestamp of each gateway's WireGuard handshakes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('hub_clock')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('seen_at', 'double precision', (c) => c.notNull())
    .addColumn('hold_ms', 'double precision', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('handshake_timestamps')
    .addColumn('wireguard_public_key', 'text', (c) => c.primaryKey())
    .addColumn('timestamp', 'text', (c) => c.notNull())
    .execute()
}
