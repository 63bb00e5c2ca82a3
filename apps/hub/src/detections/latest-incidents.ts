import type { Camera } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'

/** SQLite takes 500 selects in one statement. */
const AT_ONCE = 200

type CameraKey = Pick<Camera, 'gatewayId' | 'name'>
type Latest = NonNullable<Camera['lastIncident']>

/** The newest incident of each camera that nothing holds back, in the order of the cameras; null for none. */
export async function latestIncidents(db: Kysely<Tables>, cameras: readonly CameraKey[]): Promise<(Latest | null)[]> {
  const found = new Map<string, Latest>()
  for (let start = 0; start < cameras.length; start += AT_ONCE) {
    const [first, ...others] = cameras.slice(start, start + AT_ONCE).map((camera) => newestOf(db, camera))
    const rows = await others.reduce((all, one) => all.unionAll(one), first!).execute()
    for (const { gateway_id: gatewayId, camera: name, id, label, severity, started_at: startedAt } of rows)
      found.set(keyOf({ gatewayId, name }), { id, label, severity, startedAt: new Date(startedAt).toISOString() })
  }
  return cameras.map((camera) => found.get(keyOf(camera)) ?? null)
}

function newestOf(db: Kysely<Tables>, { gatewayId, name }: CameraKey) {
  const newest = db
    .selectFrom('incident_cameras as seen')
    .innerJoin('incidents', 'incidents.id', 'seen.incident_id')
    .select(['seen.gateway_id', 'seen.camera', 'incidents.id', 'label', 'severity', 'incidents.started_at'])
    .where('seen.gateway_id', '=', gatewayId)
    .where('seen.camera', '=', name)
    .where('suppressed', '=', 0)
    .orderBy('seen.started_at', 'desc')
    .orderBy('seen.incident_id', 'desc')
    .limit(1)
  // Only a statement of its own has an order and a limit.
  return db.selectFrom(newest.as('newest')).selectAll()
}

function keyOf({ gatewayId, name }: CameraKey): string {
  return `${gatewayId} ${name}`
}
