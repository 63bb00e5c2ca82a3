import type { Kysely } from 'kysely'

/** What a gateway gets when it joins with an invitation, and whether it waits for a person. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const add = db.schema.alterTable('gateway_invitations')
  await add.addColumn('name', 'text', (c) => c.notNull().defaultTo('')).execute()
  await add.addColumn('location', 'text', (c) => c.notNull().defaultTo('')).execute()
  await add.addColumn('tags', 'text', (c) => c.notNull().defaultTo('[]')).execute()
  await add.addColumn('owner_id', 'text', (c) => c.references('users.id').onDelete('set null')).execute()
  await add.addColumn('approves', 'integer', (c) => c.notNull().defaultTo(1)).execute()
  // Which gateways came with an invitation.
  await db.schema.createIndex('registrations_by_invitation').on('registrations').column('invitation_id').execute()
}
