import type { Kysely } from 'kysely'

/** How long a command disarms; and what an alert is about, by gateway, site, camera and label. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('commands').addColumn('lasts', 'text').execute()
  await db.schema.alterTable('alerts').addColumn('sightings', 'text').execute()
  await db.schema.createIndex('alerted_incidents_by_alert').on('alerted_incidents').column('alert_id').execute()
}
