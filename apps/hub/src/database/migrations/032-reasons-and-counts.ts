import type { Kysely } from 'kysely'

const TOLD_BESIDE_FILTERS = ['suppressed', 'label', 'severity', 'verdict', 'fired']

/**
 * Why a command was refused, in its entry of the audit; and indexes that hold all that the numbers beside the filters
 * of Threats count, so that counting reads no incident.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('audit').addColumn('reason', 'text').execute()
  const replace = async (name: string, columns: string[]) => {
    await db.schema.dropIndex(name).execute()
    await db.schema
      .createIndex(name)
      .on('incidents')
      .columns([...columns, ...TOLD_BESIDE_FILTERS])
      .execute()
  }
  await replace('incidents_by_time', ['started_at', 'id', 'gateway_id'])
  await replace('incidents_by_gateway_id', ['gateway_id', 'started_at', 'id'])
}
