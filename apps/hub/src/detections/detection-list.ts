import type { DetectionDetails, SearchQuery, StoredDetection } from '@hedgerow/contract'
import type { FastifyReply } from 'fastify'
import { sql, type Selectable } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { holding } from '../database/holding.ts'
import { pageFrom, SEARCHED_AT_MOST, sendPage } from '../http/pagination.ts'

const DETECTIONS_SHOWN = 50

/** All columns but the pictures. */
export const DETECTION_COLUMNS = [
  'id',
  'camera',
  'label',
  'severity',
  'score',
  'started_at',
  'ended_at',
  'validated',
  'false_positive',
  'deterrent',
  'details',
  'incident_id',
  'suppressed',
  'doubtful',
  'snoozed',
  sql<number>`case when thumbnail is null and thumbnail_bytes is null then 0 else 1 end`.as('has_thumbnail'),
] as const

/** A gateway's newest detections, or a page of them, newest first; read by an index, without thumbnails. */
export async function listDetections(
  db: Db,
  gatewayId: string,
  { query, reply }: { query: SearchQuery; reply: FastifyReply },
): Promise<StoredDetection[]> {
  const page = pageFrom(query, ['number', 'string'], DETECTIONS_SHOWN)
  const { q } = query
  const newest = db
    .selectFrom('detections')
    .where('gateway_id', '=', gatewayId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
  let selection = newest.select(DETECTION_COLUMNS)
  if (q) {
    // At most this many are searched, so that nobody makes the hub read a whole history.
    const last = await newest.select(['started_at', 'id']).offset(SEARCHED_AT_MOST).limit(1).executeTakeFirst()
    if (last) selection = selection.where(sql<boolean>`(started_at, id) > (${last.started_at}, ${last.id})`)
    selection = selection.where(holding(q, ['label', 'camera']))
  }
  if (page.after) selection = selection.where(sql<boolean>`(started_at, id) < (${page.after[0]}, ${page.after[1]})`)
  const rows = await selection.limit(page.rowsWanted ?? DETECTIONS_SHOWN).execute()
  return sendPage(reply, rows, page, (row) => [row.started_at, row.id]).map(toStoredDetection)
}

type DetectionRow = Pick<
  Selectable<Tables['detections']>,
  | 'id'
  | 'camera'
  | 'label'
  | 'severity'
  | 'score'
  | 'started_at'
  | 'ended_at'
  | 'validated'
  | 'false_positive'
  | 'deterrent'
  | 'details'
  | 'incident_id'
  | 'suppressed'
  | 'doubtful'
  | 'snoozed'
> & { has_thumbnail: number }

export function toStoredDetection(row: DetectionRow): StoredDetection {
  return {
    id: row.id,
    camera: row.camera,
    label: row.label,
    severity: row.severity,
    score: row.score,
    startedAt: new Date(row.started_at).toISOString(),
    endedAt: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
    hasThumbnail: row.has_thumbnail === 1,
    validated: row.validated === null ? null : row.validated === 1,
    falsePositive: row.false_positive === null ? null : row.false_positive === 1,
    deterrent: row.deterrent,
    incidentId: row.incident_id,
    ...(row.details !== null && (JSON.parse(row.details) as DetectionDetails)),
    ...(row.suppressed === 1 && { suppressed: true }),
    ...(row.doubtful === 1 && { doubtful: true }),
    ...(row.snoozed === 1 && { snoozed: true }),
  }
}
