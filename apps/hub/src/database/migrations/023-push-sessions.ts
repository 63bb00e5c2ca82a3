import type { Kysely } from 'kysely'

/**
 * The session in which a browser subscribed; unknown for existing subscriptions until the browser subscribes or signs
 * in again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('push_subscriptions').addColumn('session_id', 'text').execute()
}
