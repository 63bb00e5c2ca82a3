import type { Kysely } from 'kysely'

/** Notices in the portal, browsers that show push messages, and how alerts reach each person. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('notices')
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('alert_id', 'text', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('read_at', 'double precision')
    .addPrimaryKeyConstraint('notices_key', ['user_id', 'alert_id'])
    .execute()
  await db.schema.createIndex('notices_by_user').on('notices').columns(['user_id', 'at']).execute()
  await db.schema.createIndex('notices_by_time').on('notices').column('at').execute()
  await db.schema
    .createTable('push_subscriptions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('endpoint', 'text', (c) => c.notNull().unique())
    .addColumn('p256dh', 'text', (c) => c.notNull())
    .addColumn('auth', 'text', (c) => c.notNull())
    .addColumn('user_agent', 'text', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('last_at', 'double precision')
    .addColumn('last_error', 'text')
    .execute()
  await db.schema.createIndex('push_subscriptions_by_user').on('push_subscriptions').column('user_id').execute()
  await db.schema
    .createTable('alert_preferences')
    .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('preferences', 'text', (c) => c.notNull())
    .execute()
  await db.schema.alterTable('alerts').addColumn('people_due_at', 'double precision').execute()
  await db.schema.createIndex('alerts_by_people').on('alerts').column('people_due_at').execute()
}
