import type { Kysely } from 'kysely'

/** Tokens for programs, and links that set a new password, as SHA-256; and whose an invitation is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('api_tokens')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('token_hash', 'text', (c) => c.notNull().unique())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('access', 'text', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('expires_at', 'double precision', (c) => c.notNull())
    .addColumn('last_used_at', 'double precision')
    .addUniqueConstraint('api_tokens_by_name', ['user_id', 'name'])
    .execute()
  await db.schema
    .createTable('password_resets')
    .addColumn('token_hash', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('expires_at', 'double precision', (c) => c.notNull())
    .execute()
  await db.schema.alterTable('user_invitations').addColumn('created_by_id', 'text').execute()
  await db.schema.createIndex('password_resets_by_user').on('password_resets').column('user_id').execute()
}
