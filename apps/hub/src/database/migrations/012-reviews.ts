import { sql, type Kysely } from 'kysely'
import type { Engine } from '../engine.ts'

/**
 * Reviews are numbered by time, which does not fit 32 bits, and are counted without their detections, which are deleted
 * sooner.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const reviews = db.schema.alterTable('reviews')
  await reviews.addColumn('camera', 'text', (c) => c.notNull().defaultTo('')).execute()
  await reviews.addColumn('detected_at', 'double precision', (c) => c.notNull().defaultTo(0)).execute()
  await sql`update reviews set
    camera = coalesce((select detections.camera from detections
      where detections.gateway_id = reviews.gateway_id and detections.id = reviews.detection_id), ''),
    detected_at = coalesce((select detections.started_at from detections
      where detections.gateway_id = reviews.gateway_id and detections.id = reviews.detection_id), at)`.execute(db)
  if (engine === 'postgres') await sql`alter table reviews alter column seq type double precision`.execute(db)
  await db.schema.createIndex('reviews_by_time').on('reviews').columns(['gateway_id', 'detected_at']).execute()
  await db.schema.createIndex('reviews_by_age').on('reviews').column('at').execute()
}
