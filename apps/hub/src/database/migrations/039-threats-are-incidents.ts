import type { Kysely } from 'kysely'

/** The dashboard counts incidents, which the database has; the detections of each hour are counted no more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('hourly_stats').dropColumn('threats').execute()
}
