import type { Kysely } from 'kysely'

/** People's accounts at sign-in providers, and which sessions those opened. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('provider_links')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('issuer', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('last_used_at', 'double precision', (c) => c.notNull())
    .addUniqueConstraint('provider_links_key', ['issuer', 'subject'])
    .execute()
  await db.schema.createIndex('provider_links_by_user').on('provider_links').column('user_id').execute()
  await db.schema.alterTable('sessions').addColumn('provider_link_id', 'text').execute()
  await db.schema.alterTable('sessions').addColumn('provider_session', 'text').execute()
  await db.schema.alterTable('sessions').addColumn('id_token', 'text').execute()
  await db.schema.createIndex('sessions_by_provider_link').on('sessions').column('provider_link_id').execute()
  await db.schema.alterTable('users').addColumn('local_sign_in_until', 'double precision').execute()
}
