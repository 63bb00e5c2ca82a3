/**
 * The entries of the dashboard's activity panel: those of a scope's gateways, and for the whole fleet everything.
 * followers/activity-entries.ts writes them.
 */
import {
  HISTORY_KINDS,
  type ActivityEntry,
  type FactKind,
  type HistoryPart,
  type SearchQuery,
} from '@hedgerow/contract'
import { sql, type Kysely, type Selectable } from 'kysely'
import { gatewayIdsIn } from '../access/objects.ts'
import type { Scope } from '../access/scope.ts'
import type { Db, Tables } from '../database/tables.ts'
import { findDetections } from '../detections/detections.ts'
import { holding } from '../database/holding.ts'
import { pageFrom, SEARCHED_AT_MOST, sendPage, type Headers, type Page } from '../http/pagination.ts'

const ENTRIES_SHOWN = 50

type ActivityQuery = SearchQuery & { gateway?: string | undefined; part?: HistoryPart | undefined }

/** The newest entries that the caller may see, or a page of them, newest first. */
export async function recentActivity(
  db: Kysely<Tables>,
  scope: Scope,
  { query, reply }: { query: ActivityQuery; reply: Headers },
): Promise<ActivityEntry[]> {
  const page = pageFrom(query, ['number', 'number'], ENTRIES_SHOWN)
  const gateways = await gatewayIdsIn(db, scope)
  const wanted = { page, q: query.q }
  const rows = query.gateway
    ? await historyOf(db, { ...wanted, gatewayId: query.gateway, part: query.part }, gateways)
    : gateways
      ? await newestOf(db, wanted, gateways)
      : await newestEntries(db, wanted)
  const shown = sendPage(reply, rows, page, (row) => [row.at, row.id])
  const existing = await existingGateways(db, shown)
  const detections = await detectionsOf(db, shown)
  return shown.map((row) => ({
    id: String(row.id),
    message: row.message,
    timestamp: new Date(row.at).toISOString(),
    type: row.type,
    gatewayId: row.gateway_id !== null && existing.has(row.gateway_id) ? row.gateway_id : null,
    kind: row.kind,
    detection: detections.get(`${row.gateway_id} ${row.detection_id}`) ?? null,
  }))
}

/** Nothing of a gateway that the scope does not have. */
function historyOf(
  db: Db,
  { part, ...wanted }: Wanted & { gatewayId: string; part: HistoryPart | undefined },
  gateways: ReadonlySet<string> | undefined,
): Promise<Entry[]> | Entry[] {
  if (gateways && !gateways.has(wanted.gatewayId)) return []
  return newestEntries(db, { ...wanted, kinds: part === undefined ? EVERY_KIND : HISTORY_KINDS[part] })
}

const EVERY_KIND: readonly FactKind[] = Object.values(HISTORY_KINDS).flat()

type Entry = Selectable<Tables['activity']>

/** The entries of one gateway, or of all. */
type Wanted = {
  page: Page
  q: string | undefined
  gatewayId?: string
  /** Only entries of these kinds. */
  kinds?: readonly FactKind[]
  /** How many of the newest entries to search for `q`. */
  searched?: number
}

/** Reads by an index and stops at the page's size, however many entries there are. */
async function newestEntries(
  db: Db,
  { page, q, gatewayId, kinds, searched = SEARCHED_AT_MOST }: Wanted,
): Promise<Entry[]> {
  let entries = db.selectFrom('activity').orderBy('at', 'desc').orderBy('id', 'desc')
  if (gatewayId !== undefined) entries = entries.where('gateway_id', '=', gatewayId)
  let selection = entries.selectAll()
  if (kinds) selection = selection.where('kind', 'in', kinds)
  if (q) {
    // A search reads a limited number of entries: nobody makes the hub read a whole history.
    const last = await entries.select(['at', 'id']).offset(searched).limit(1).executeTakeFirst()
    if (last) selection = selection.where(sql<boolean>`(at, id) > (${last.at}, ${last.id})`)
    selection = selection.where(holding(q, ['message']))
  }
  if (page.after) selection = selection.where(sql<boolean>`(at, id) < (${page.after[0]}, ${page.after[1]})`)
  return selection.limit(page.rowsWanted ?? ENTRIES_SHOWN).execute()
}

/**
 * The newest entries of each gateway, merged: one index scan for each. A text search reads no more entries than one of
 * the whole fleet.
 */
async function newestOf(db: Db, wanted: Wanted, gateways: ReadonlySet<string>): Promise<Entry[]> {
  const entries: Entry[] = []
  const searched = Math.ceil(SEARCHED_AT_MOST / gateways.size)
  for (const gatewayId of gateways) entries.push(...(await newestEntries(db, { ...wanted, gatewayId, searched })))
  return entries.toSorted((a, b) => b.at - a.at || b.id - a.id).slice(0, wanted.page.rowsWanted)
}

async function existingGateways(db: Db, entries: readonly Entry[]): Promise<Set<string>> {
  const ids = [...new Set(entries.flatMap(({ gateway_id }) => gateway_id ?? []))]
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom('gateways').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}

/** The entries' detections that are not deleted, by gateway and id. */
async function detectionsOf(
  db: Db,
  entries: readonly Entry[],
): Promise<Map<string, NonNullable<ActivityEntry['detection']>>> {
  const sought = entries.flatMap(({ gateway_id: gatewayId, detection_id: id }) =>
    gatewayId !== null && id !== null ? [{ gatewayId, id }] : [],
  )
  const found = await findDetections(db, sought)
  return new Map(found.map(({ gatewayId, ...detection }) => [`${gatewayId} ${detection.id}`, detection]))
}
