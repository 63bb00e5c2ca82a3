import type { Kysely } from 'kysely'

/** Alert rules, and which incidents each rule has announced already. A new hub begins with one rule. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alert_rules')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('fields', 'text', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('message', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('message_at', 'double precision')
    .addColumn('incidents', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('told', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute()
  await db.schema
    .createTable('alerted_incidents')
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('incident_id', 'text', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addPrimaryKeyConstraint('alerted_incidents_key', ['rule_id', 'incident_id'])
    .execute()
  await db.schema.createIndex('alerted_incidents_by_time').on('alerted_incidents').column('at').execute()

  const users = await db.withTables<{ users: { id: string } }>().selectFrom('users').select('id').limit(1).execute()
  if (users.length > 0) return
  const fields = {
    name: 'Every alert',
    enabled: true,
    severity: 'alert',
    labels: [],
    sites: [],
    gateways: [],
    cameras: [],
    validatedOnly: false,
    hours: null,
    collectSeconds: 3,
    coolDownSeconds: 300,
    channels: [],
  }
  await db
    .withTables<{ alert_rules: { id: string; fields: string; created_at: number } }>()
    .insertInto('alert_rules')
    .values({ id: 'every-alert', fields: JSON.stringify(fields), created_at: Date.now() })
    .execute()
}
