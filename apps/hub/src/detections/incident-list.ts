/** Incidents as people read them: a page of them, how many there are, and one with its detections. */
import {
  ANIMAL,
  ANIMAL_KINDS,
  type Incident,
  type IncidentFilter,
  type PageQuery,
  type readIncident,
  type readNeighbours,
  type ResponseOf,
} from '@hedgerow/contract'
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely'
import { gatewaysIn, incidentsIn, type IncidentRow } from '../access/objects.ts'
import type { Scope } from '../access/scope.ts'
import type { Db, Tables } from '../database/tables.ts'
import { hasTag } from '../database/tags.ts'
import { deedsOf } from './deeds.ts'
import { DETECTION_COLUMNS, toStoredDetection } from './detection-list.ts'
import { pageFrom, sendPage, type Headers, type Page } from '../http/pagination.ts'
import { HubError } from '../kernel/hub-error.ts'
import { findSiteId, siteOf } from '../sites/sites.ts'

const SHOWN = 60
const COUNTED_AT_MOST = 10_000
const GROUPS_AT_MOST = 500
const DETECTIONS_AT_MOST = 200
/**
 * Up to this many gateways are read one by one and merged; for more, the newest incidents of the fleet are filtered.
 */
const GATEWAYS_MERGED = 32
/** Up to this many gateways are counted one by one: fewer than for a page, because counting reads more of each. */
const GATEWAYS_COUNTED_ALONE = 8

type Query<O> = SelectQueryBuilder<Tables, 'incidents' | 'incident_cameras', O>
/** The gateways whose incidents are read; undefined for all. */
export type GatewayIds = readonly string[] | undefined

/** A page of the incidents that the caller may see, newest first. */
export async function listIncidents(
  db: Kysely<Tables>,
  scope: Scope,
  { query, reply }: { query: PageQuery & IncidentFilter; reply: Headers },
): Promise<Incident[]> {
  const page = pageFrom(query, ['number', 'string'], SHOWN)
  const gateways = await gatewaysOf(db, scope, query)
  const rows = await newestIncidents(db, { gateways, filter: query }, page)
  const shown = sendPage(reply, rows, page, (row) => [row.started_at, row.id])
  return named(db, shown)
}

/** The incident itself may be outside the filter. */
export async function neighboursOf(
  db: Kysely<Tables>,
  scope: Scope,
  row: IncidentRow,
  filter: IncidentFilter,
): Promise<ResponseOf<typeof readNeighbours>> {
  const gateways = await gatewaysOf(db, scope, filter)
  const page = { after: [row.started_at, row.id], rowsWanted: 1 }
  const [older] = await newestIncidents(db, { gateways, filter }, page)
  const above = await readNewest(gateways, (part) => {
    const { startedAt, id } = indexOf(part, filter)
    return matching(db, part, filter)
      .where(sql<boolean>`(${sql.ref(startedAt)}, ${sql.ref(id)}) > (${row.started_at}, ${row.id})`)
      .orderBy(startedAt)
      .orderBy(id)
      .limit(1)
      .select(['incidents.id', 'incidents.started_at'])
      .execute()
  })
  const [newer] = above.toSorted((a, b) => a.started_at - b.started_at || (a.id < b.id ? -1 : 1))
  return { newer: newer?.id ?? null, older: older?.id ?? null }
}

/** One page of rows, newest first. */
export async function newestIncidents(
  db: Db,
  { gateways, filter }: { gateways: GatewayIds; filter: IncidentFilter },
  page: Page,
): Promise<IncidentRow[]> {
  const rows = await readNewest(gateways, (part) =>
    pageOf(matching(db, part, filter), indexOf(part, filter), page)
      .selectAll('incidents')
      .execute(),
  )
  return rows
    .toSorted((a, b) => b.started_at - a.started_at || (a.id < b.id ? 1 : -1))
    .slice(0, page.rowsWanted ?? SHOWN)
}

export async function countIncidents(db: Kysely<Tables>, scope: Scope, filter: IncidentFilter) {
  const { label: _label, severity: _severity, review: _review, fired: _fired, ...rest } = filter
  const gateways = await gatewaysOf(db, scope, filter)
  const counted = await readNewest(gateways, (part) => countNewest(db, part, rest), GATEWAYS_COUNTED_ALONE)
  const groups = Map.groupBy(counted, (group) => JSON.stringify(COUNTED.map((column) => group[column])))
  const countOf = async (learning: 'hidden' | 'doubtful') => {
    const found = await readNewest(gateways, (part) =>
      matching(db, part, { ...filter, learning })
        .select('incidents.id')
        .limit(COUNTED_AT_MOST)
        .execute(),
    )
    return Math.min(COUNTED_AT_MOST, found.length)
  }
  return {
    hidden: await countOf('hidden'),
    doubtful: await countOf('doubtful'),
    isWhole: counted.every(({ isWhole }) => isWhole),
    groups: [...groups.values()]
      .map((parts) => ({
        label: parts[0]!.label,
        severity: parts[0]!.severity,
        review: parts[0]!.verdict ?? ('none' as const),
        isFired: parts[0]!.fired === 1,
        count: parts.reduce((sum, { count }) => sum + count, 0),
      }))
      .toSorted((a, b) => b.count - a.count)
      .slice(0, GROUPS_AT_MOST),
  }
}

const COUNTED = ['label', 'severity', 'verdict', 'fired'] as const

/** Groups of the newest that are counted; `isWhole` when there are no older ones. */
async function countNewest(db: Db, gateways: GatewayIds, filter: IncidentSelection) {
  const newest = matching(db, gateways, filter)
    .select(COUNTED)
    .orderBy(indexOf(gateways, filter).startedAt, 'desc')
    .limit(COUNTED_AT_MOST)
  const groups = await db
    .selectFrom(newest.as('newest'))
    .select(COUNTED)
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .groupBy(COUNTED)
    .execute()
  const counted = groups.map((group) => ({ ...group, count: Number(group.count) }))
  const isWhole = counted.reduce((sum, { count }) => sum + count, 0) < COUNTED_AT_MOST
  return counted.map((group) => ({ ...group, isWhole }))
}

/** Throws `incident_not_found` for one whose gateway is gone. */
export async function readIncidentOf(db: Kysely<Tables>, row: IncidentRow): Promise<ResponseOf<typeof readIncident>> {
  const [incident] = await named(db, [row])
  if (!incident) throw new HubError('incident_not_found')
  const rows = await db
    .selectFrom('detections')
    .select(DETECTION_COLUMNS)
    .where('incident_id', '=', row.id)
    .orderBy('started_at')
    .orderBy('id')
    .limit(DETECTIONS_AT_MOST)
    .execute()
  const list = rows.map(toStoredDetection)
  return { ...incident, list, deeds: await deedsOf(db, incident.gatewayId, list) }
}

/** The incidents with these ids that the scope has, in the order of the ids. */
export async function listIncidentsById(db: Db, scope: Scope, ids: readonly string[]): Promise<Incident[]> {
  if (ids.length === 0) return []
  const found = new Map((await named(db, await visibleIncidents(db, scope, ids))).map((one) => [one.id, one]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** The rows of these incidents that exist and that the scope has. */
export function visibleIncidents(db: Db, scope: Scope, ids: readonly string[]): Promise<IncidentRow[]> {
  return incidentsIn(db, scope).selectAll('incidents').where('incidents.id', 'in', ids).execute()
}

/** The scope's gateways that the filter names. */
export async function gatewaysOf(
  db: Db,
  scope: Scope,
  { site, tag, gateway }: Pick<IncidentFilter, 'site' | 'tag' | 'gateway'>,
): Promise<GatewayIds> {
  if (scope.isWhole && [site, tag, gateway].every((part) => part === undefined)) return undefined
  let gateways = gatewaysIn(db, scope).select('gateways.id')
  if (site !== undefined) {
    const id = await findSiteId(db, site)
    if (id !== undefined) gateways = gateways.where('site_id', '=', id)
    // Addresses of before sites had ids name a location.
    else gateways = gateways.where('site_id', 'is', null).where('location', '=', site)
  }
  if (tag !== undefined) gateways = gateways.where(hasTag(tag))
  if (gateway !== undefined) gateways = gateways.where('gateways.id', '=', gateway)
  return (await gateways.execute()).map(({ id }) => id)
}

/** Whether the scope still has each of these gateways. */
export async function hasAll(db: Db, scope: Scope, gateways: GatewayIds): Promise<boolean> {
  const visible = await gatewaysOf(db, scope, {})
  return visible === undefined || (gateways !== undefined && gateways.every((id) => visible.includes(id)))
}

/** One index scan for each gateway while they are few; else one scan by time. */
async function readNewest<T>(
  gateways: GatewayIds,
  read: (part: GatewayIds) => Promise<T[]>,
  merged = GATEWAYS_MERGED,
): Promise<T[]> {
  if (gateways === undefined || gateways.length > merged) return read(gateways)
  const found: T[] = []
  for (const id of gateways) found.push(...(await read([id])))
  return found
}

type IncidentSelection = Omit<IncidentFilter, 'site' | 'tag' | 'gateway'>

/** The columns whose index has the incidents by time: of one camera, an index of its own. */
const BY_TIME = { startedAt: 'incidents.started_at', id: 'incidents.id' } as const
const BY_CAMERA = { startedAt: 'incident_cameras.started_at', id: 'incident_cameras.incident_id' } as const

function indexOf(gateways: GatewayIds, { camera }: IncidentSelection): typeof BY_TIME | typeof BY_CAMERA {
  return camera !== undefined && gateways?.length === 1 ? BY_CAMERA : BY_TIME
}

function matching(db: Db, gateways: GatewayIds, filter: IncidentSelection): Query<object> {
  const { label, severity, review, fired, from, to, camera, learning, alert } = filter
  const index = indexOf(gateways, filter)
  let query: Query<object> = db.selectFrom('incidents')
  if (index === BY_CAMERA)
    query = db
      .selectFrom('incident_cameras')
      .innerJoin('incidents', 'incidents.id', 'incident_cameras.incident_id')
      .where('incident_cameras.gateway_id', '=', gateways![0]!)
      .where('incident_cameras.camera', '=', camera!)
  else {
    if (gateways?.length === 1) query = query.where('incidents.gateway_id', '=', gateways[0]!)
    // The cast keeps SQLite, which knows nothing of the numbers of rows, from sorting all incidents of these gateways.
    else if (gateways) query = query.where(sql`cast(incidents.gateway_id as text)`, 'in', gateways)
    if (camera !== undefined)
      query = query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('incident_cameras as seen')
            .select('seen.camera')
            .whereRef('seen.incident_id', '=', 'incidents.id')
            .where('seen.camera', '=', camera),
        ),
      )
  }
  if (alert !== undefined)
    query = query.where(
      'incidents.id',
      'in',
      db.selectFrom('alerted_incidents').select('incident_id').where('alert_id', '=', alert),
    )
  // What an alert told of is listed, whether or not learning holds it back since.
  if (learning === 'doubtful') query = query.where('doubtful', '=', 1)
  else if (learning === 'hidden' || alert === undefined)
    query = query.where('suppressed', '=', learning === 'hidden' ? 1 : 0)
  if (label?.length) query = query.where('label', 'in', label.includes(ANIMAL) ? [...label, ...ANIMAL_KINDS] : label)
  if (severity) query = query.where('severity', '=', severity)
  if (review === 'none') query = query.where('verdict', 'is', null)
  else if (review) query = query.where('verdict', '=', review)
  if (fired) query = query.where('fired', '=', 1)
  if (from !== undefined) query = query.where(index.startedAt, '>=', Date.parse(from))
  if (to !== undefined) query = query.where(index.startedAt, '<', Date.parse(to))
  return query
}

function pageOf<O>(query: Query<O>, { startedAt, id }: ReturnType<typeof indexOf>, page: Page): Query<O> {
  const { after, rowsWanted } = page
  const following = after
    ? query.where(sql<boolean>`(${sql.ref(startedAt)}, ${sql.ref(id)}) < (${after[0]}, ${after[1]})`)
    : query
  return following
    .orderBy(startedAt, 'desc')
    .orderBy(id, 'desc')
    .limit(rowsWanted ?? SHOWN)
}

/** Leaves out incidents whose gateway is gone. */
async function named(db: Db, rows: readonly IncidentRow[]): Promise<Incident[]> {
  if (rows.length === 0) return []
  const ids = [...new Set(rows.map((row) => row.gateway_id))]
  const gateways = await db
    .selectFrom('gateways')
    .leftJoin('sites', 'sites.id', 'gateways.site_id')
    .select(['gateways.id', 'gateways.name', 'location', 'site_id', 'sites.name as site_name'])
    .where('gateways.id', 'in', ids)
    .execute()
  const byId = new Map(gateways.map((gateway) => [gateway.id, gateway]))
  return rows.flatMap((row) => {
    const gateway = byId.get(row.gateway_id)
    return gateway ? [toIncident(row, gateway)] : []
  })
}

function toIncident(
  row: IncidentRow,
  gateway: { name: string; location: string } & Parameters<typeof siteOf>[0],
): Incident {
  return {
    id: row.id,
    gatewayId: row.gateway_id,
    gatewayName: gateway.name,
    location: gateway.location,
    site: siteOf(gateway),
    label: row.label,
    reportedLabel: row.reported_label,
    severity: row.severity,
    startedAt: new Date(row.started_at).toISOString(),
    lastAt: new Date(row.last_at).toISOString(),
    detections: row.detections,
    camera: row.camera,
    score: row.score,
    coverId: row.cover_id,
    isFired: row.fired === 1,
    isSuppressed: row.suppressed === 1,
    isDoubtful: row.doubtful === 1,
    isSnoozed: row.snoozed === 1,
    review:
      row.verdict === null
        ? null
        : { verdict: row.verdict, by: row.reviewed_by ?? '', at: new Date(row.reviewed_at ?? 0).toISOString() },
  }
}
