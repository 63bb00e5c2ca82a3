import { sql, type Kysely } from 'kysely'

/** The same gap as in detections/incidents.ts. */
const GAP_MS = 45_000

/** Adds incidents and reviews of them. Existing detections are grouped into incidents as new ones are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('detections').addColumn('incident_id', 'text').execute()
  await db.schema
    .createTable('incidents')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('reported_label', 'text', (c) => c.notNull())
    .addColumn('severity', 'text', (c) => c.notNull())
    .addColumn('started_at', 'double precision', (c) => c.notNull())
    .addColumn('last_at', 'double precision', (c) => c.notNull())
    .addColumn('detections', 'integer', (c) => c.notNull())
    .addColumn('cover_id', 'text')
    .addColumn('camera', 'text', (c) => c.notNull())
    .addColumn('score', 'double precision', (c) => c.notNull())
    .addColumn('fired', 'integer', (c) => c.notNull())
    .addColumn('verdict', 'text')
    .addColumn('reviewed_by', 'text')
    .addColumn('reviewed_at', 'double precision')
    .execute()
  await db.schema
    .createTable('reviews')
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('detection_id', 'text', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('verdict', 'text')
    .addColumn('label', 'text')
    .addColumn('by_id', 'text', (c) => c.notNull())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addPrimaryKeyConstraint('reviews_key', ['gateway_id', 'detection_id'])
    .execute()
  await db.schema.createIndex('reviews_by_seq').on('reviews').columns(['gateway_id', 'seq']).execute()

  await placeWhatIsThere(db)

  const byTime = ['started_at', 'id']
  await db.schema.createIndex('incidents_by_time').on('incidents').columns(byTime).execute()
  for (const column of ['gateway_id', 'label', 'severity', 'verdict', 'fired'])
    await db.schema
      .createIndex(`incidents_by_${column}`)
      .on('incidents')
      .columns([column, ...byTime])
      .execute()
  await db.schema
    .createIndex('incidents_by_last')
    .on('incidents')
    .columns(['gateway_id', 'reported_label', 'last_at'])
    .execute()
}

/** An incident begins where all earlier detections ended 45 s ago or earlier. */
async function placeWhatIsThere(db: Kysely<unknown>): Promise<void> {
  await sql`create table placed as
    select gateway_id, id,
      sum(begins) over (order by gateway_id, label, started_at, id rows unbounded preceding) as incident
    from (
      select gateway_id, id, label, started_at,
        case when started_at - max(coalesce(ended_at, started_at)) over (
            partition by gateway_id, label order by started_at, id rows between unbounded preceding and 1 preceding
          ) < ${sql.lit(GAP_MS)} then 0 else 1 end as begins
      from detections
    ) as steps`.execute(db)
  await sql`create unique index placed_key on placed (gateway_id, id)`.execute(db)
  await sql`update detections set incident_id = (
      select 'before-' || cast(incident as text) from placed
      where placed.gateway_id = detections.gateway_id and placed.id = detections.id
    )`.execute(db)
  await db.schema.createIndex('detections_by_incident').on('detections').columns(['incident_id']).execute()
  await sql`insert into incidents (id, gateway_id, label, reported_label, severity, started_at, last_at, detections,
      cover_id, camera, score, fired)
    select incident_id, gateway_id, label, label, min(severity), min(started_at), max(coalesce(ended_at, started_at)),
      count(*), null, min(camera), max(score), max(case when deterrent is null then 0 else 1 end)
    from detections group by incident_id, gateway_id, label`.execute(db)
  await sql`update incidents set (cover_id, camera, score) = (
      select id, camera, score from detections
      where detections.incident_id = incidents.id and thumbnail is not null
      order by score desc, id limit 1
    ) where exists (
      select 1 from detections where detections.incident_id = incidents.id and thumbnail is not null
    )`.execute(db)
  await db.schema.dropTable('placed').execute()
}
