import type { Kysely } from 'kysely'

/**
 * Alert rules also report problems of gateways and of the hub. Every hub gets a rule for these. On an existing hub it
 * replaces the messages that the hub sent without a rule, and is off where those were switched off.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('alerts')
    .addColumn('kind', 'text', (c) => c.notNull().defaultTo('detection'))
    .execute()
  await db.schema.alterTable('alerts').addColumn('cleared_at', 'double precision').execute()
  await db.schema
    .createTable('alert_problems')
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('since', 'double precision', (c) => c.notNull())
    .addColumn('due_at', 'double precision', (c) => c.notNull())
    .addColumn('line', 'text', (c) => c.notNull())
    .addColumn('alert_id', 'text')
    .addPrimaryKeyConstraint('alert_problems_key', ['rule_id', 'subject'])
    .execute()
  await db.schema.createIndex('alert_problems_by_subject').on('alert_problems').column('subject').execute()
  await db.schema.createIndex('alert_problems_by_alert').on('alert_problems').column('alert_id').execute()

  const tables = db.withTables<{
    settings: { name: string; value: string }
    alert_rules: { id: string; fields: string; created_at: number }
  }>()
  const saved = tables.selectFrom('settings').select('value').where('name', '=', 'autoApproval')
  const { value } = (await saved.executeTakeFirst()) ?? { value: '{}' }
  const fields = {
    name: 'The hub and its gateways',
    enabled: isOn(value),
    what: ['gateway-quiet', 'gateway-warning', 'camera-dark', 'deterrent-failed', 'disk', 'certificate'],
    collectSeconds: 10,
    coolDownSeconds: 0,
  }
  const rules = [
    { id: 'hub-and-gateways', fields: JSON.stringify(fields) },
    {
      id: 'requests',
      fields: JSON.stringify({
        name: 'Devices that ask to join',
        enabled: true,
        what: ['approval'],
        collectSeconds: 10,
        // Email and webhooks of approvals have their own switch: Auto-Approval Settings, Notifications.
        channels: ['portal', 'push'],
      }),
    },
  ]
  for (const [index, rule] of rules.entries())
    await tables
      .insertInto('alert_rules')
      .values({ ...rule, created_at: Date.now() + index })
      .execute()
}

function isOn(settings: string): boolean {
  try {
    return (JSON.parse(settings) as { notificationEnabled?: boolean }).notificationEnabled !== false
  } catch {
    return true
  }
}
