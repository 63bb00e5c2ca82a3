/**
 * The cameras that saw each incident, with the incident's start: Threats reads the newest of one camera from an index,
 * however long its gateway's history is.
 */
import type { Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'

type Incident = { id: string; gateway_id: string; started_at: number }

/** Adds the cameras of new detections; `incident_id` is set. */
export async function addCameras(
  transaction: Transaction<Tables>,
  incidents: readonly Incident[],
  detections: readonly { incident_id: string | null; camera: string }[],
): Promise<void> {
  const byIncident = Map.groupBy(detections, ({ incident_id: id }) => id)
  const rows = incidents.flatMap((incident) => {
    const cameras = new Set(byIncident.get(incident.id)?.map(({ camera }) => camera))
    return [...cameras].map((camera) => rowOf(incident, camera))
  })
  if (rows.length === 0) return
  await transaction
    .insertInto('incident_cameras')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['incident_id', 'camera']).doNothing())
    .execute()
}

/** Replaces the cameras and the start of an incident. */
export async function setCameras(
  transaction: Transaction<Tables>,
  incident: Incident,
  cameras: ReadonlySet<string>,
): Promise<void> {
  await removeCameras(transaction, incident.id)
  const rows = [...cameras].map((camera) => rowOf(incident, camera))
  await transaction.insertInto('incident_cameras').values(rows).execute()
}

/** `into` now has the detections of the incident `from`. */
export async function moveCameras(transaction: Transaction<Tables>, from: string, into: Incident): Promise<void> {
  const moved = await transaction
    .selectFrom('incident_cameras')
    .select('camera')
    .where('incident_id', '=', from)
    .execute()
  const detections = moved.map(({ camera }) => ({ incident_id: into.id, camera }))
  await addCameras(transaction, [into], detections)
  await removeCameras(transaction, from)
}

/** An incident begins earlier once an older detection joins it. */
export async function setStart(transaction: Transaction<Tables>, incident: Incident): Promise<void> {
  await transaction
    .updateTable('incident_cameras')
    .set({ started_at: incident.started_at })
    .where('incident_id', '=', incident.id)
    .execute()
}

export async function removeCameras(transaction: Transaction<Tables>, incidentId: string): Promise<void> {
  await transaction.deleteFrom('incident_cameras').where('incident_id', '=', incidentId).execute()
}

function rowOf(incident: Incident, camera: string): Tables['incident_cameras'] {
  return { incident_id: incident.id, camera, gateway_id: incident.gateway_id, started_at: incident.started_at }
}
