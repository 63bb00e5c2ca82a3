import type { Kysely } from 'kysely'

/**
 * Alerts: the messages of alert rules, until somebody acknowledges them. A waiting message keeps its row of
 * `notifications`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alerts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('rule_name', 'text', (c) => c.notNull())
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('due_at', 'double precision', (c) => c.notNull())
    .addColumn('lines', 'text', (c) => c.notNull())
    .addColumn('counts', 'text', (c) => c.notNull())
    .addColumn('gateway_id', 'text')
    .addColumn('step', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('next_step_at', 'double precision')
    .addColumn('acknowledged_at', 'double precision')
    .addColumn('acknowledged_by', 'text')
    .addColumn('acknowledged_via', 'text')
    .execute()
  await db.schema.createIndex('alerts_by_time').on('alerts').column('at').execute()
  await db.schema.createIndex('alerts_by_rule').on('alerts').columns(['rule_id', 'number']).execute()
  await db.schema.createIndex('alerts_by_step').on('alerts').column('next_step_at').execute()
  await db.schema.alterTable('alerted_incidents').addColumn('alert_id', 'text').execute()
  await db.schema.createIndex('alerted_incidents_by_incident').on('alerted_incidents').column('incident_id').execute()
  await db.schema.alterTable('notifications').addColumn('alert_id', 'text').execute()
  await db.schema.createIndex('notifications_by_alert').on('notifications').column('alert_id').execute()
  await db.schema.alterTable('alert_rules').dropColumn('told').execute()
}
