/**
 * One ZIP with everything that the filters of Threats select: the pictures, a table (CSV) and COCO JSON for training.
 * It is written while it is read, a page at a time; only the table's lines stay in memory, and the number of detections
 * is bounded.
 */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { EXPORT_DETECTIONS_MAX, type DetectionDetails, type IncidentFilter } from '@hedgerow/contract'
import { CSV_START, csvLine, type CsvValue } from '@hedgerow/contract/csv'
import { createConnectionLimits } from '@hedgerow/http'
import { makeZip } from 'client-zip'
import type { Kysely } from 'kysely'
import { customerOf } from '../access/networks.ts'
import { scopeOf } from '../access/scope.ts'
import type { Act } from '../facts/facts.ts'
import type { Db, Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { IncidentRow } from '../access/objects.ts'
import { placeOf } from '../sites/sites.ts'
import { loadSharp } from './sharp.ts'
import { newestIncidents, type GatewayIds } from './incident-list.ts'

/** Part of the file, because a person who trains with it may have nothing else. */
const BOXES =
  'The box of the object where the picture is the whole frame. Where the picture shows the object with its ' +
  "surroundings, as those of Frigate and of the gateway's own detector do, or where the box is unknown: the " +
  'whole picture.'
const INCIDENTS_AT_ONCE = 50
/** Managers and admins have places of their own, which nobody else can fill. */
const EXPORTS_AT_ONCE = 4
const FROM_ONE_SOURCE = 2

type Wanted = { gateways: GatewayIds; filter: IncidentFilter; now: number }
type ZipEntry = { name: string; lastModified: Date; input: Uint8Array | string }

export type Exports = {
  /** Throws `export_busy`. */
  open(act: Act, wanted: Omit<Wanted, 'now'>): Readable
}

export function createExports({ db }: { db: Kysely<Tables> }): Exports {
  const places = () =>
    createConnectionLimits({ total: EXPORTS_AT_ONCE, perSource: FROM_ONE_SOURCE, sourceOf: customerOf })
  const [ofUsers, ofManagers] = [places(), places()]
  const exporting = new Set<string>()

  return {
    open({ actor, sourceIp, now }, wanted) {
      if (exporting.has(actor.userId)) throw new HubError('export_busy')
      const zip = Readable.fromWeb(makeZip(entries(db, { ...wanted, now })) as NodeReadableStream)
      if ((scopeOf(actor).isWhole ? ofManagers : ofUsers).admit(zip, sourceIp)) {
        zip.destroy()
        throw new HubError('export_busy')
      }
      exporting.add(actor.userId)
      zip.once('close', () => exporting.delete(actor.userId))
      return zip
    },
  }
}

async function* entries(db: Kysely<Tables>, { gateways, filter, now }: Wanted): AsyncGenerator<ZipEntry> {
  const lastModified = new Date(now)
  const table = [CSV_START + csvLine(COLUMNS)]
  const coco = createCoco(now)
  let isWhole = true
  for await (const one of selected(db, gateways, filter)) {
    if (table.length > EXPORT_DETECTIONS_MAX) {
      isWhole = false
      break
    }
    const { gatewayId, row, jpeg } = one
    const file = jpeg ? `pictures/${gatewayId}/${fileName(row.id)}-${table.length}.jpg` : ''
    table.push(lineOf(one, file))
    if (!jpeg) continue
    await coco.add(one, file, jpeg)
    yield { name: file, lastModified: new Date(row.started_at), input: jpeg }
  }
  yield { name: 'detections.csv', lastModified, input: table.join('') }
  yield { name: 'coco.json', lastModified, input: coco.toJson(isWhole) }
}

type Selected = {
  gatewayId: string
  gatewayName: string
  site: string
  incident: IncidentRow
  row: Row
  jpeg: Uint8Array | undefined
}
type Row = {
  id: string
  camera: string
  label: string
  severity: string
  score: number
  started_at: number
  ended_at: number | null
  deterrent: string | null
  details: string | null
}

/** The detections of the incidents, newest incident first. */
async function* selected(db: Kysely<Tables>, gateways: GatewayIds, filter: IncidentFilter): AsyncGenerator<Selected> {
  let after: readonly [number, string] | undefined
  for (;;) {
    const incidents = await newestIncidents(db, { gateways, filter }, { after, rowsWanted: INCIDENTS_AT_ONCE })
    const names = await namesOf(db, incidents)
    for (const incident of incidents) {
      const gateway = names.get(incident.gateway_id)
      if (gateway) yield* detectionsOf(db, incident, { gatewayId: incident.gateway_id, ...gateway })
    }
    const last = incidents.at(-1)
    if (!last || incidents.length < INCIDENTS_AT_ONCE) return
    after = [last.started_at, last.id]
  }
}

async function* detectionsOf(
  db: Db,
  incident: IncidentRow,
  gateway: Pick<Selected, 'gatewayId' | 'gatewayName' | 'site'>,
): AsyncGenerator<Selected> {
  const rows = await db
    .selectFrom('detections')
    .select([
      'id',
      'camera',
      'label',
      'severity',
      'score',
      'started_at',
      'ended_at',
      'deterrent',
      'details',
      'thumbnail_bytes',
    ])
    .where('incident_id', '=', incident.id)
    .orderBy('started_at')
    .orderBy('id')
    .limit(EXPORT_DETECTIONS_MAX + 1)
    .execute()
  for (const row of rows) {
    const picture =
      row.thumbnail_bytes === null
        ? undefined
        : await db
            .selectFrom('thumbnails')
            .select('jpeg')
            .where('gateway_id', '=', gateway.gatewayId)
            .where('detection_id', '=', row.id)
            .executeTakeFirst()
    yield { ...gateway, incident, row, jpeg: picture && new Uint8Array(picture.jpeg) }
  }
}

async function namesOf(db: Db, incidents: readonly IncidentRow[]) {
  const ids = [...new Set(incidents.map((incident) => incident.gateway_id))]
  if (ids.length === 0) return new Map<string, { gatewayName: string; site: string }>()
  const rows = await db
    .selectFrom('gateways')
    .leftJoin('sites', 'sites.id', 'gateways.site_id')
    .select(['gateways.id', 'gateways.name', 'location', 'sites.name as site_name'])
    .where('gateways.id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, { gatewayName: row.name, site: placeOf(row) }]))
}

const COLUMNS = [
  'detection',
  'incident',
  'gateway',
  'site',
  'camera',
  'zone',
  'label',
  'reported_label',
  'score',
  'severity',
  'started_at',
  'ended_at',
  'review',
  'reviewed_by',
  'deterrent',
  'picture',
] as const

function lineOf({ gatewayName, site, incident, row }: Selected, file: string): string {
  const { zone } = detailsOf(row)
  const ended = row.ended_at === null ? '' : new Date(row.ended_at).toISOString()
  const values: readonly CsvValue[] = [
    row.id,
    incident.id,
    gatewayName,
    site,
    row.camera,
    zone ?? '',
    incident.label,
    row.label,
    row.score,
    row.severity,
    new Date(row.started_at).toISOString(),
    ended,
    incident.verdict,
    incident.reviewed_by,
    row.deterrent,
    file,
  ]
  return csvLine(values)
}

/** Their thumbnails show the object with its surroundings, but their boxes are parts of the whole frame. */
const CROPPED: ReadonlySet<string | undefined> = new Set(['frigate', 'eye'])

/**
 * COCO's object detection format: cocodataset.org/#format-data. A false alarm without another label is a picture
 * without annotations, a negative example. Where the box is unknown, or the picture is a crop, it is the whole picture.
 */
function createCoco(now: number) {
  const images: object[] = []
  const annotations: object[] = []
  const categories = new Map<string, number>()
  return {
    async add({ gatewayName, incident, row }: Selected, file: string, jpeg: Uint8Array): Promise<void> {
      const sharp = await loadSharp()
      const { width = 0, height = 0 } = await sharp(jpeg)
        .metadata()
        .catch(() => ({}) as { width?: number; height?: number })
      const id = images.length + 1
      const taken = new Date(row.started_at).toISOString()
      images.push({
        id,
        file_name: file,
        width,
        height,
        date_captured: taken,
        gateway: gatewayName,
        camera: row.camera,
      })
      if (incident.verdict === 'wrong' && incident.label === incident.reported_label) return
      const category = categories.get(incident.label) ?? categories.size + 1
      categories.set(incident.label, category)
      const { box, source } = detailsOf(row)
      const part = box && !CROPPED.has(source) ? box : { x: 0, y: 0, width: 1, height: 1 }
      const bbox = [part.x * width, part.y * height, part.width * width, part.height * height]
      const rounded = bbox.map((value) => Math.round(value * 100) / 100)
      annotations.push({
        id: annotations.length + 1,
        image_id: id,
        category_id: category,
        bbox: rounded,
        area: Math.round((rounded[2] ?? 0) * (rounded[3] ?? 0)),
        iscrowd: 0,
        score: row.score,
        reviewed: incident.verdict !== null,
      })
    },
    toJson(isWhole: boolean): string {
      const description = isWhole
        ? 'All that the filter selects'
        : `The newest ${EXPORT_DETECTIONS_MAX} detections of what the filter selects`
      const info = { description, boxes: BOXES, date_created: new Date(now).toISOString() }
      const named = [...categories].map(([name, id]) => ({ id, name }))
      return JSON.stringify({ info, images, annotations, categories: named })
    },
  }
}

function detailsOf({ details }: Row): DetectionDetails {
  return details === null ? {} : (JSON.parse(details) as DetectionDetails)
}

/** A detection's id may hold any character. */
function fileName(id: string): string {
  return id.replaceAll(/[^\w.-]/g, '_').replace(/^\.+/, '_')
}
