import { withDatabase } from '../harness/hub-database.ts'
import type { Hub } from '../harness/hub.ts'
import type { Reported } from './fleet.ts'

/** The ids of a fleet's detections that the hub's database does not have. */
export async function lostDetections(hub: Hub, reported: readonly Reported[]): Promise<string[]> {
  const rows = await withDatabase(hub, (db) => db.selectFrom('detections').select('id').execute())
  const stored = new Set(rows.map(({ id }) => id))
  return reported.flatMap(({ prefix, count }) =>
    Array.from({ length: count }, (_, number) => `${prefix}${number}`).filter((id) => !stored.has(id)),
  )
}
