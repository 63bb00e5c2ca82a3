/**
 * Incidents: detections that a person sees as one event. A detection joins the incident of its gateway and label that
 * is less than 45 s away; a detection between two incidents joins them. Held-back detections have incidents of their
 * own. Incidents change in the transaction that stores or deletes the detections, with the gateway's row locked, so
 * that two batches never make two incidents of one.
 */
import { randomFillSync } from 'node:crypto'
import { sql, type Selectable, type Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { addCameras, moveCameras, removeCameras, setCameras, setStart } from './incident-cameras.ts'

/** Nearly half of a camera's consecutive events are closer than this. */
const GAP_MS = 45_000
/** Milliseconds since 1970. */
const ID_TIME_BYTES = 6
const ID_RANDOM_BYTES = 6

type Incident = Selectable<Tables['incidents']>
/** The columns that placing reads; it writes `incident_id`. */
export type Placed = Pick<
  Selectable<Tables['detections']>,
  | 'gateway_id'
  | 'id'
  | 'camera'
  | 'label'
  | 'severity'
  | 'score'
  | 'started_at'
  | 'ended_at'
  | 'deterrent'
  | 'incident_id'
  | 'suppressed'
  | 'doubtful'
  | 'snoozed'
> & { hasPicture: boolean }

/**
 * Gives each detection its incident and stores the incidents; the caller stores the detections. An incident that a
 * person has reviewed is unreviewed again once another detection joins it, because nobody has seen that one. Returns
 * the incidents that changed, and those that a detection left because its label changed: `recount` these when the
 * detections are stored.
 */
export async function placeInIncidents(
  transaction: Transaction<Tables>,
  detections: readonly Placed[],
): Promise<{ left: string[]; incidents: Incident[] }> {
  const near = await findNear(transaction, detections)
  const startOf = new Map(near.map(({ id, started_at: start }) => [id, start]))
  const changed = new Set<Incident>()
  const absorbed = new Map<string, Incident>()
  const left: string[] = []
  for (const detection of detections.toSorted((a, b) => a.started_at - b.started_at)) {
    const [first, ...others] = near.filter((incident) => isNear(incident, detection)).toSorted(byStart)
    const incident = first ?? begin(detection)
    if (!first) near.push(incident)
    for (const other of others) {
      absorb(incident, other)
      absorbed.set(other.id, incident)
      changed.delete(other)
      near.splice(near.indexOf(other), 1)
    }
    const before = detection.incident_id
    const isMember = before === incident.id || (before !== null && absorbed.get(before) === incident)
    if (!isMember && before !== null) left.push(before)
    include(incident, detection, isMember)
    detection.incident_id = incident.id
    changed.add(incident)
  }
  await write(transaction, [...changed])
  for (const [from, into] of absorbed) {
    const id = into.id
    for (const detection of detections) if (detection.incident_id === from) detection.incident_id = id
    await transaction.updateTable('detections').set({ incident_id: id }).where('incident_id', '=', from).execute()
    await transaction.deleteFrom('incidents').where('id', '=', from).execute()
    await moveCameras(transaction, from, into)
  }
  await addCameras(transaction, [...changed], detections)
  for (const incident of changed)
    if (incident.started_at < (startOf.get(incident.id) ?? -Infinity)) await setStart(transaction, incident)
  return { left: left.filter((id) => !absorbed.has(id)), incidents: [...changed] }
}

/** Updates incidents to the detections that they still have; deletes those without any. */
export async function recount(transaction: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  for (const id of new Set(ids)) {
    const left = await transaction
      .selectFrom('detections')
      .select(['gateway_id', 'id', 'camera', 'score', 'severity', 'started_at', 'ended_at', 'deterrent', 'doubtful'])
      .select(sql<number>`case when thumbnail is null and thumbnail_bytes is null then 0 else 1 end`.as('has_picture'))
      .where('incident_id', '=', id)
      .execute()
    if (left.length === 0) {
      await transaction.deleteFrom('incidents').where('id', '=', id).execute()
      await removeCameras(transaction, id)
      continue
    }
    const startedAt = Math.min(...left.map((row) => row.started_at))
    const pictured = left.filter((row) => row.has_picture === 1)
    const cover = (pictured.length > 0 ? pictured : left).reduce((best, row) => (row.score > best.score ? row : best))
    await transaction
      .updateTable('incidents')
      .set({
        detections: left.length,
        started_at: startedAt,
        last_at: Math.max(...left.map(lastOf)),
        severity: left.some(({ severity }) => severity === 'alert') ? 'alert' : 'detection',
        fired: Number(left.some(({ deterrent }) => deterrent !== null)),
        doubtful: Number(left.some(({ doubtful }) => doubtful === 1)),
        cover_id: pictured.length > 0 ? cover.id : null,
        camera: cover.camera,
        score: cover.score,
      })
      .where('id', '=', id)
      .execute()
    const incident = { id, gateway_id: cover.gateway_id, started_at: startedAt }
    await setCameras(transaction, incident, new Set(left.map(({ camera }) => camera)))
  }
}

/**
 * Incidents that one of the detections may touch. The stretches are a table of their own, so that each one is a search
 * in an index: with several conditions joined by "or", SQLite reads the gateway's whole history.
 */
async function findNear(transaction: Transaction<Tables>, detections: readonly Placed[]): Promise<Incident[]> {
  if (detections.length === 0) return []
  const near = stretches(detections).map(
    ({ gatewayId, label, from, to }) =>
      sql`(${gatewayId}, ${label}, cast(${from - GAP_MS} as double precision),
          cast(${to + GAP_MS} as double precision))`,
  )
  const { rows } = await sql<Incident>`with near (gateway, label, after, before) as (values ${sql.join(near)})
    select distinct incidents.* from near cross join incidents
    where gateway_id = near.gateway and reported_label = near.label
      and last_at > near.after and started_at < near.before`.execute(transaction)
  return rows
}

type Stretch = { gatewayId: string; label: string; from: number; to: number }

/** The detections' times for each gateway and label, joined where they touch. */
function stretches(detections: readonly Placed[]): Stretch[] {
  const found: Stretch[] = []
  for (const detection of detections.toSorted((a, b) => a.started_at - b.started_at)) {
    const { gateway_id: gatewayId, label, started_at: from } = detection
    const to = lastOf(detection)
    const open = found.findLast((stretch) => stretch.gatewayId === gatewayId && stretch.label === label)
    if (open && from - open.to < GAP_MS) open.to = Math.max(open.to, to)
    else found.push({ gatewayId, label, from, to })
  }
  return found
}

function isNear(incident: Incident, detection: Placed): boolean {
  return (
    incident.gateway_id === detection.gateway_id &&
    incident.reported_label === detection.label &&
    incident.suppressed === detection.suppressed &&
    incident.snoozed === detection.snoozed &&
    detection.started_at - incident.last_at < GAP_MS &&
    incident.started_at - lastOf(detection) < GAP_MS
  )
}

function begin(detection: Placed): Incident {
  return {
    id: newId(detection.started_at),
    gateway_id: detection.gateway_id,
    label: detection.label,
    reported_label: detection.label,
    severity: detection.severity,
    started_at: detection.started_at,
    last_at: detection.started_at,
    detections: 0,
    cover_id: null,
    camera: detection.camera,
    score: detection.score,
    fired: 0,
    verdict: null,
    reviewed_by: null,
    reviewed_at: null,
    suppressed: detection.suppressed,
    doubtful: 0,
    snoozed: detection.snoozed,
  }
}

/**
 * Begins with the time, so that a storm's new rows are neighbours in every index instead of touching pages all over it.
 */
function newId(startedAt: number): string {
  const id = Buffer.alloc(ID_TIME_BYTES + ID_RANDOM_BYTES)
  id.writeUIntBE(Math.max(0, Math.floor(startedAt)), 0, ID_TIME_BYTES)
  randomFillSync(id, ID_TIME_BYTES)
  return id.toString('base64url')
}

function include(incident: Incident, detection: Placed, isMember: boolean): void {
  incident.started_at = Math.min(incident.started_at, detection.started_at)
  incident.last_at = Math.max(incident.last_at, lastOf(detection))
  if (detection.severity === 'alert') incident.severity = 'alert'
  if (detection.deterrent !== null) incident.fired = 1
  if (detection.doubtful === 1) incident.doubtful = 1
  const isBetter = incident.cover_id === null || detection.score > incident.score
  if (detection.hasPicture && (isBetter || incident.cover_id === detection.id)) {
    incident.cover_id = detection.id
    incident.camera = detection.camera
    incident.score = detection.score
  }
  if (isMember) return
  incident.detections += 1
  if (incident.verdict !== null) clearReview(incident)
}

/** `other` becomes part of `incident`. */
function absorb(incident: Incident, other: Incident): void {
  incident.started_at = Math.min(incident.started_at, other.started_at)
  incident.last_at = Math.max(incident.last_at, other.last_at)
  incident.detections += other.detections
  if (other.severity === 'alert') incident.severity = 'alert'
  if (other.fired === 1) incident.fired = 1
  if (other.doubtful === 1) incident.doubtful = 1
  if (other.cover_id !== null && (incident.cover_id === null || other.score > incident.score)) {
    incident.cover_id = other.cover_id
    incident.camera = other.camera
    incident.score = other.score
  }
  if (incident.verdict !== other.verdict || incident.label !== other.label) clearReview(incident)
}

function clearReview(incident: Incident): void {
  incident.label = incident.reported_label
  incident.verdict = null
  incident.reviewed_by = null
  incident.reviewed_at = null
}

async function write(transaction: Transaction<Tables>, incidents: Incident[]): Promise<void> {
  if (incidents.length === 0) return
  await transaction
    .insertInto('incidents')
    .values(incidents)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        label: row.ref('excluded.label'),
        severity: row.ref('excluded.severity'),
        started_at: row.ref('excluded.started_at'),
        last_at: row.ref('excluded.last_at'),
        detections: row.ref('excluded.detections'),
        cover_id: row.ref('excluded.cover_id'),
        camera: row.ref('excluded.camera'),
        score: row.ref('excluded.score'),
        fired: row.ref('excluded.fired'),
        doubtful: row.ref('excluded.doubtful'),
        verdict: row.ref('excluded.verdict'),
        reviewed_by: row.ref('excluded.reviewed_by'),
        reviewed_at: row.ref('excluded.reviewed_at'),
      })),
    )
    .execute()
}

function byStart(a: Incident, b: Incident): number {
  return a.started_at - b.started_at
}

function lastOf({ started_at: start, ended_at: end }: { started_at: number; ended_at: number | null }): number {
  return Math.max(start, end ?? start)
}
