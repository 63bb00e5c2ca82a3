import type { Kysely } from 'kysely'

/** The description that a gateway gets when it joins with an invitation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('gateway_invitations')
    .addColumn('description', 'text', (c) => c.notNull().defaultTo(''))
    .execute()
}
