import { sql, type Kysely } from 'kysely'

/**
 * The cameras of each incident, to find a camera's newest; and what learning holds back or asks about, of all and of a
 * gateway.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('incident_cameras')
    .addColumn('incident_id', 'text', (c) => c.notNull())
    .addColumn('camera', 'text', (c) => c.notNull())
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('started_at', 'double precision', (c) => c.notNull())
    .addPrimaryKeyConstraint('incident_cameras_key', ['incident_id', 'camera'])
    .execute()
  await sql`insert into incident_cameras (incident_id, camera, gateway_id, started_at)
    select distinct incidents.id, detections.camera, incidents.gateway_id, incidents.started_at
    from detections join incidents on incidents.id = detections.incident_id`.execute(db)
  await db.schema
    .createIndex('incident_cameras_by_time')
    .on('incident_cameras')
    .columns(['gateway_id', 'camera', 'started_at', 'incident_id'])
    .execute()
  for (const column of ['suppressed', 'doubtful'])
    await sql`create index ${sql.ref(`incidents_${column}_of_gateway`)} on incidents (gateway_id, started_at)
      where ${sql.ref(column)} = 1`.execute(db)
  await sql`create index incidents_suppressed on incidents (started_at) where suppressed = 1`.execute(db)
}
