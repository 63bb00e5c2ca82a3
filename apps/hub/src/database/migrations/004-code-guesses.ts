import type { Kysely } from 'kysely'

/** Wrong two-factor codes of each account, and the networks that its user signed in from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('code_guesses')
    .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('last_at', 'double precision', (c) => c.notNull())
    .addColumn('told_at', 'double precision')
    .execute()
  await db.schema
    .createTable('known_networks')
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('last_at', 'double precision', (c) => c.notNull())
    .addPrimaryKeyConstraint('known_networks_key', ['user_id', 'network'])
    .execute()
}
