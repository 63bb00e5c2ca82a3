import type { Kysely } from 'kysely'

type Known = { users: { id: string }; settings: { name: string; value: string } }

/**
 * Why a device waits that a rule lets in. A hub that people use keeps auto-approval off unless somebody saved
 * otherwise: that was the default when they began, and new hubs have it on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('registrations').addColumn('waits_for', 'text').execute()
  const known = db.withTables<Known>()
  if (!(await known.selectFrom('users').select('id').limit(1).executeTakeFirst())) return
  await known
    .insertInto('settings')
    .values({ name: 'autoApproval', value: '{"enabled":false}' })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}
