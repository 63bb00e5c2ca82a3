/**
 * Stored detections. A gateway sends a detection again when it changes, and when it received no answer, so rows are
 * upserted by (gateway, id): nothing doubles, severity only rises, and a threat counts once. The transaction is
 * committed before the gateway gets its answer. The same transactions keep each gateway's totals, so that finding the
 * gateways above their limit does not read all detections.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  detectionDetails,
  type Detection,
  type DetectionDetails,
  type Fact,
  type HubSettings,
} from '@hedgerow/contract'
import { sql, type Insertable, type Kysely, type RawBuilder, type Selectable, type Transaction } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { slices } from '../kernel/slices.ts'
import { record } from '../facts/facts.ts'
import { lockGateways } from '../database/gateway-locks.ts'
import type { SharedCommits } from '../database/shared-commits.ts'
import { deedsOf } from './deeds.ts'
import { storeThumbnails } from './thumbnails.ts'
import { placeInIncidents, recount } from './incidents.ts'

type Row = Selectable<Tables['detections']>

/** A detection with its picture as the hub encoded it: pictures.ts. */
export type PicturedDetection = Omit<Detection, 'thumbnail'> & { jpeg?: Buffer | undefined }

/** Limits of one transaction: other requests are served in between. */
const DETECTIONS_AT_ONCE = 50
const BYTES_AT_ONCE = 256 * 1024
/** How many bytes a row counts without its thumbnail. */
const DETECTION_BYTES = 500
const ROWS_DELETED_AT_ONCE = 200
const FIRED_READ = 20
const PAUSE_MS = 10
const BYTES_PER_MEGABYTE = 1_000_000

/** Some of what one gateway reported at once. `at` is when it was reported, in milliseconds since 1970. */
export type Batch = { gatewayId: string; detections: readonly PicturedDetection[]; at: number }

/** Throws `gateway_unknown` when the gateway was deleted meanwhile. */
export async function storeDetections(
  db: Kysely<Tables>,
  gatewayId: string,
  detections: readonly PicturedDetection[],
  now: number,
  commit: SharedCommits<Batch> = (batch) => storeBatches(db, [batch]),
): Promise<void> {
  for await (const [some] of slices(inSteps(detections), 1))
    await commit({ gatewayId, detections: some!, at: now }, weightOf(some!))
}

/**
 * Stores batches in one transaction, those of different gateways by common statements. Throws `gateway_unknown` and
 * stores nothing when one of the gateways was deleted meanwhile.
 */
export function storeBatches(db: Kysely<Tables>, batches: readonly Batch[]): Promise<void> {
  return inTransaction(
    db,
    async (transaction) => {
      const facts: Fact[] = []
      for (const round of inRounds(batches)) facts.push(...(await storeRound(transaction, round)))
      await record(transaction, ...facts)
    },
    // The gateways' rows are locked, so the transaction need not be serializable.
    'read committed',
  )
}

/** Each gateway is once in a round, its batches in the order in which they came. */
function inRounds(batches: readonly Batch[]): Batch[][] {
  const rounds: Batch[][] = []
  for (const ofOne of Map.groupBy(batches, ({ gatewayId }) => gatewayId).values())
    for (const [round, batch] of ofOne.entries()) (rounds[round] ??= []).push(batch)
  return rounds
}

function weightOf(detections: readonly PicturedDetection[]): number {
  const bytes = detections.reduce((sum, detection) => sum + reportedBytes(detection), 0)
  return Math.min(1, Math.max(detections.length / DETECTIONS_AT_ONCE, bytes / BYTES_AT_ONCE))
}

function inSteps(detections: readonly PicturedDetection[]): PicturedDetection[][] {
  const steps: PicturedDetection[][] = []
  let bytes = Infinity
  for (const detection of detections) {
    bytes += reportedBytes(detection)
    const step = steps.at(-1)
    if (step && step.length < DETECTIONS_AT_ONCE && bytes <= BYTES_AT_ONCE) step.push(detection)
    else {
      steps.push([detection])
      bytes = reportedBytes(detection)
    }
  }
  return steps
}

async function storeRound(transaction: Transaction<Tables>, batches: readonly Batch[]): Promise<Fact[]> {
  const gateways = await lockGateways(
    transaction,
    batches.map(({ gatewayId }) => gatewayId),
  )
  if (gateways.size < batches.length) throw new HubError('gateway_unknown')
  const stored = Map.groupBy(await findStored(transaction, batches), (row) => row.gateway_id)
  const changes = batches.map((batch) => changeOf(batch, stored.get(batch.gatewayId) ?? []))
  const rows = changes.flatMap((change) => [...change.rows.values()])
  const placed = rows.map((row) => ({ ...row, hasPicture: row.thumbnail !== null || row.thumbnail_bytes !== null }))
  const { left, incidents } = await placeInIncidents(transaction, placed)
  for (const [index, row] of rows.entries()) row.incident_id = placed[index]!.incident_id
  await upsert(transaction, rows)
  await storeThumbnails(
    transaction,
    batches.map(({ gatewayId, detections }) => ({
      gatewayId,
      pictures: new Map(detections.flatMap(({ id, jpeg }) => (jpeg ? [[id, jpeg] as const] : []))),
    })),
  )
  await recount(transaction, [...left, ...changes.flatMap(seenElsewhere)])
  await addToTotals(transaction, changes.map(growthOf))
  const incidentsOf = Map.groupBy(incidents.filter(isAnnounced), (incident) => incident.gateway_id)
  return changes.map((change) =>
    factOf(change, {
      gatewayName: gateways.get(change.batch.gatewayId)!.name,
      incidents: incidentsOf.get(change.batch.gatewayId) ?? [],
    }),
  )
}

async function findStored(transaction: Transaction<Tables>, batches: readonly Batch[]): Promise<Row[]> {
  const keys = batches.flatMap(({ gatewayId, detections }) =>
    [...new Set(detections.map(({ id }) => id))].map((id) => ({ gatewayId, id })),
  )
  return transaction.selectFrom('detections').selectAll().where(isOneOf(keys)).execute()
}

function isOneOf(keys: readonly { gatewayId: string; id: string }[]): RawBuilder<boolean> {
  return sql`(gateway_id, id) in (values ${sql.join(keys.map(({ gatewayId, id }) => sql`(${gatewayId}, ${id})`))})`
}

/** The rows before and, by id, after a batch; `threats` are those that became one. */
type Change = { batch: Batch; stored: readonly Row[]; rows: Map<string, Row>; threats: Row[] }

function changeOf(batch: Batch, stored: readonly Row[]): Change {
  const rows = new Map(stored.map((row) => [row.id, row]))
  const threats: Row[] = []
  for (const detection of batch.detections) {
    const before = rows.get(detection.id)
    const after = merge(before, detection, batch)
    rows.set(detection.id, after)
    if (isThreat(after) && !(before && isThreat(before))) threats.push(after)
  }
  return { batch, stored, rows, threats }
}

/** The incidents of detections whose camera is another one now. */
function seenElsewhere({ stored, rows }: Change): string[] {
  return stored.flatMap((before) => {
    const after = rows.get(before.id)!
    return after.camera === before.camera || after.incident_id === null ? [] : [after.incident_id]
  })
}

function growthOf({ batch, stored, rows }: Change): Growth {
  const bytes = (all: Iterable<Row>) => [...all].reduce((sum, row) => sum + bytesOf(row), 0)
  return {
    gatewayId: batch.gatewayId,
    detections: rows.size - stored.length,
    bytes: bytes(rows.values()) - bytes(stored),
  }
}

function factOf(
  { batch: { gatewayId, detections, at }, rows, threats }: Change,
  { gatewayName, incidents }: { gatewayName: string; incidents: readonly Selectable<Tables['incidents']>[] },
): Fact<'detection.reported'> {
  const validated = new Set([...rows.values()].flatMap((row) => (row.validated === 1 ? [row.incident_id] : [])))
  return {
    kind: 'detection.reported',
    at,
    actor: { name: 'gateway' },
    target: gatewayId,
    gatewayId,
    data: {
      count: detections.length,
      gatewayName,
      alerts: threats.map(toAlert),
      incidents: incidents.map((incident) => ({
        id: incident.id,
        label: incident.reported_label,
        severity: incident.severity,
        camera: incident.camera,
        coverId: incident.cover_id,
        startedAt: incident.started_at,
        isValidated: validated.has(incident.id),
      })),
    },
  }
}

function isThreat(row: Row): boolean {
  return row.severity === 'alert' && isShown(row)
}

/** A detection that is held back notifies nobody. */
function isShown({ suppressed }: { suppressed: number }): boolean {
  return suppressed === 0
}

/** Nor does one of a snoozed camera; unlike the other it counts as a threat. */
function isAnnounced(incident: { suppressed: number; snoozed: number }): boolean {
  return isShown(incident) && incident.snoozed === 0
}

function toAlert({ id, camera, label, started_at: startedAt }: Row) {
  return { id, camera, label, startedAt }
}

/**
 * The row after this report. Its start stays as first reported, and is never in the future: a gateway whose clock is
 * ahead must not have threats of tomorrow.
 */
function merge(before: Row | undefined, detection: PicturedDetection, { gatewayId, at: now }: Batch): Row {
  return {
    gateway_id: gatewayId,
    id: detection.id,
    camera: detection.camera,
    label: detection.label,
    severity: before?.severity === 'alert' ? 'alert' : detection.severity,
    score: detection.score,
    started_at: before?.started_at ?? Math.min(Date.parse(detection.startedAt), now),
    ended_at:
      detection.endedAt === undefined ? (before?.ended_at ?? null) : Math.min(Date.parse(detection.endedAt), now),
    thumbnail: detection.jpeg ? null : (before?.thumbnail ?? null),
    thumbnail_bytes: detection.jpeg?.length ?? before?.thumbnail_bytes ?? null,
    details: mergeDetails(before?.details ?? null, detection),
    validated: flag(detection.validated) ?? before?.validated ?? null,
    false_positive: flag(detection.falsePositive) ?? before?.false_positive ?? null,
    deterrent: detection.deterrent ?? before?.deterrent ?? null,
    received_at: before?.received_at ?? now,
    incident_id: before?.incident_id ?? null,
    // A detection that was shown once stays shown.
    suppressed: Number(before?.suppressed !== 0 && (detection.suppressed ?? before?.suppressed === 1)),
    doubtful: flag(detection.doubtful) ?? before?.doubtful ?? 0,
    snoozed: before?.snoozed ?? flag(detection.snoozed) ?? 0,
  }
}

function flag(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value)
}

async function upsert(transaction: Transaction<Tables>, rows: Insertable<Tables['detections']>[]): Promise<void> {
  await transaction
    .insertInto('detections')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['gateway_id', 'id']).doUpdateSet((row) => ({
        camera: row.ref('excluded.camera'),
        label: row.ref('excluded.label'),
        severity: row.ref('excluded.severity'),
        score: row.ref('excluded.score'),
        ended_at: row.ref('excluded.ended_at'),
        thumbnail: row.ref('excluded.thumbnail'),
        thumbnail_bytes: row.ref('excluded.thumbnail_bytes'),
        details: row.ref('excluded.details'),
        validated: row.ref('excluded.validated'),
        false_positive: row.ref('excluded.false_positive'),
        deterrent: row.ref('excluded.deterrent'),
        incident_id: row.ref('excluded.incident_id'),
        suppressed: row.ref('excluded.suppressed'),
        doubtful: row.ref('excluded.doubtful'),
        snoozed: row.ref('excluded.snoozed'),
      })),
    )
    .execute()
}

function bytesOf({ thumbnail, thumbnail_bytes: bytes, details }: Row): number {
  return DETECTION_BYTES + (thumbnail?.length ?? 0) + (bytes ?? 0) + (details?.length ?? 0)
}

/** How many bytes a reported detection counts at most once it is stored. */
export function reportedBytes(detection: PicturedDetection): number {
  return DETECTION_BYTES + (detection.jpeg?.length ?? 0) + (mergeDetails(null, detection)?.length ?? 0)
}

const DETAIL_NAMES = Object.keys(detectionDetails.shape) as (keyof DetectionDetails)[]

/** Each detail replaces the former one. In ASCII, so that both databases count the same length. */
function mergeDetails(before: string | null, detection: PicturedDetection): string | null {
  const reported = DETAIL_NAMES.flatMap((name) => (detection[name] === undefined ? [] : [[name, detection[name]]]))
  if (reported.length === 0) return before
  const stored = before === null ? {} : (JSON.parse(before) as DetectionDetails)
  return JSON.stringify({ ...stored, ...Object.fromEntries(reported) }).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

type Growth = { gatewayId: string; detections: number; bytes: number }

/** Runs in the transaction that changed the rows; each gateway is named once. */
export async function addToTotals(transaction: Transaction<Tables>, growths: readonly Growth[]): Promise<void> {
  const rows = growths.filter(({ detections, bytes }) => detections !== 0 || bytes !== 0)
  if (rows.length === 0) return
  await transaction
    .insertInto('detection_totals')
    .values(rows.map(({ gatewayId, ...growth }) => ({ gateway_id: gatewayId, ...growth })))
    .onConflict((conflict) =>
      conflict.column('gateway_id').doUpdateSet((row) => ({
        detections: row('detection_totals.detections', '+', row.ref('excluded.detections')),
        bytes: row('detection_totals.bytes', '+', row.ref('excluded.bytes')),
      })),
    )
    .execute()
}

/** The given detections that belong to an incident, with the incident and whether they have a picture. */
export async function findDetections(
  db: Db,
  sought: readonly { gatewayId: string; id: string }[],
): Promise<{ gatewayId: string; id: string; incidentId: string; hasThumbnail: boolean }[]> {
  if (sought.length === 0) return []
  const rows = await db
    .selectFrom('detections')
    .select(['gateway_id', 'id', 'incident_id'])
    .select(sql<number>`case when thumbnail is null and thumbnail_bytes is null then 0 else 1 end`.as('has_picture'))
    .where(isOneOf(sought))
    .execute()
  return rows.flatMap(({ gateway_id: gatewayId, id, incident_id: incidentId, has_picture: picture }) =>
    incidentId === null ? [] : [{ gatewayId, id, incidentId, hasThumbnail: picture === 1 }],
  )
}

/** Deletes one batch, oldest first, and returns how many rows it deleted: fewer than a batch when no more are left. */
export function deleteOldDetections(
  db: Kysely<Tables>,
  condition: RawBuilder<unknown>,
  limit = ROWS_DELETED_AT_ONCE,
): Promise<{ deleted: number; isLast: boolean }> {
  return inTransaction(db, async (transaction) => {
    const { rows } = await sql<{ gateway_id: string; id: string; incident_id: string | null; bytes: number }>`
      delete from detections
      where (gateway_id, id) in (select gateway_id, id from detections where ${condition}
        order by started_at limit ${sql.lit(limit)})
      returning gateway_id, id, incident_id, ${sql.lit(DETECTION_BYTES)} + length(coalesce(thumbnail, ''))
        + coalesce(thumbnail_bytes, 0) + length(coalesce(details, '')) as bytes`.execute(transaction)
    const byGateway = [...Map.groupBy(rows, (row) => row.gateway_id)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [gatewayId, theirs] of byGateway) {
      const bytes = theirs.reduce((sum, row) => sum + row.bytes, 0)
      const ids = theirs.map(({ id }) => id)
      await transaction
        .deleteFrom('thumbnails')
        .where('gateway_id', '=', gatewayId)
        .where('detection_id', 'in', ids)
        .execute()
      await addToTotals(transaction, [{ gatewayId, detections: -theirs.length, bytes: -bytes }])
    }
    await recount(
      transaction,
      rows.flatMap((row) => row.incident_id ?? []),
    )
    return { deleted: rows.length, isLast: rows.length < limit }
  })
}

/** Deletes detections above the settings' limits, in small batches with pauses. */
export async function trimDetections(
  db: Kysely<Tables>,
  { detectionsKept, detectionMegabytesKept }: Pick<HubSettings, 'detectionsKept' | 'detectionMegabytesKept'>,
  signal: AbortSignal,
): Promise<void> {
  const bytesKept = detectionMegabytesKept * BYTES_PER_MEGABYTE
  while (!signal.aborted) {
    const totals = await db.selectFrom('detection_totals').selectAll().execute()
    const over = totals.find(({ detections }) => detections > detectionsKept)
    const bytes = totals.reduce((sum, total) => sum + total.bytes, 0)
    const [largest] = totals.toSorted((a, b) => b.bytes - a.bytes)
    const trimmed = over ?? (bytes > bytesKept ? largest : undefined)
    if (!trimmed || trimmed.detections <= 0) return
    const limit = over ? Math.min(ROWS_DELETED_AT_ONCE, over.detections - detectionsKept) : ROWS_DELETED_AT_ONCE
    const { deleted } = await deleteOldDetections(db, sql`gateway_id = ${trimmed.gateway_id}`, limit)
    if (deleted === 0) return
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}

/** What deterrents did about an incident. */
export async function readDeeds(db: Db, { gatewayId, incidentId }: { gatewayId: string; incidentId: string }) {
  const rows = await db
    .selectFrom('detections')
    .select(['id', 'details'])
    .where('incident_id', '=', incidentId)
    .where('details', 'like', '%"firings"%')
    .orderBy('started_at')
    .limit(FIRED_READ)
    .execute()
  const fired = rows.map(({ id, details }) => ({ id, ...(JSON.parse(details ?? '{}') as DetectionDetails) }))
  return deedsOf(db, gatewayId, fired)
}
