import type { Kysely } from 'kysely'

type OlderTables = { users: { id: string }; settings: { name: string; value: string } }

/**
 * Adds the reason why a device waits although a rule approves it. A hub with users keeps auto-approval off unless
 * somebody saved it: off was the default when they started; new hubs have it on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('registrations').addColumn('waits_for', 'text').execute()
  const older = db.withTables<OlderTables>()
  if (!(await older.selectFrom('users').select('id').limit(1).executeTakeFirst())) return
  await older
    .insertInto('settings')
    .values({ name: 'autoApproval', value: '{"enabled":false}' })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}
