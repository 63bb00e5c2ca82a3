import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { detection, type Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { DetectedObject, Jpeg } from '../sources/source.ts'
import { CANDIDATE_TABLES, createCandidates, type Candidates } from './candidates.ts'
import { createReviews, REVIEW_TABLES, type Reviews } from './reviews.ts'
import { DataFileError } from '../kernel/durable-file.ts'
import { inWords } from '../kernel/failure.ts'
import { BUSY_TIMEOUT_MS, openSqliteFile, transact, usedBytes } from '../kernel/sqlite-file.ts'
import type { RecordSettings } from './schema.ts'

/**
 * The device's own record of recent detections, their pictures and their reviews: one SQLite file, bounded by days and
 * size. The device's pages and a dry run of the rules read it; the hub's copy goes through the queue, so a lost record
 * loses no detection.
 */
export type DetectionRecord = {
  /**
   * Inserts or updates; fields that the report omits stay. Returns the recorded detection without its `thumbnail`,
   * which `picture` returns.
   */
  put(report: Detection): Detection
  /** Replaces what is known of the objects of a recorded detection. */
  putObjects(id: string, objects: readonly DetectedObject[]): void
  /** Undefined for a detection of one object. */
  objectsOf(id: string): DetectedObject[] | undefined
  find(id: string): Detection | undefined
  /** Newest first. */
  recent(filter: RecordFilter): Detection[]
  picture(id: string): Jpeg | undefined
  /** The cameras that programs have reported, in a status or with detections. */
  programCameras(): string[]
  /** Notes that a program reported this camera; it is forgotten when nothing was noted for `days`. */
  noteProgramCamera(name: string): void
  /** What the newest detections name. */
  seenNames(): SeenNames
  /**
   * Notes that a rule asked deterrents to fire for a detection, or for an object of it. Returns false when it had asked
   * before; an object may be part of several detections.
   */
  markAsked(rule: string, detectionId: string, objectId?: string): boolean
  /** Reviews of the detections by people. */
  reviews: Reviews
  candidates: Candidates
  close(): void
}

export type SeenNames = { cameras: string[]; labels: string[]; zones: string[] }

export type RecordFilter = {
  limit: number
  camera?: string | undefined
  label?: string | undefined
  /** When it began, in milliseconds since 1970: `since` is included, `before` is not. */
  since?: number | undefined
  before?: number | undefined
  /** Detections that learning holds back, or that it asks people about again. */
  learning?: 'hidden' | 'doubtful' | undefined
}

export type RecordOptions = {
  settings(): RecordSettings
  log: Logger
  /** Milliseconds since 1970. */
  clock: () => number
}

/** In the data directory. */
export const RECORD_FILE = 'record.sqlite'

const DAY_MS = 86_400_000
const PRUNE_EVERY_MS = 60_000
/** How many of the oldest are deleted at once when the record is too large. */
const PRUNE_ROWS = 200
const LAYOUT = 1

/** The agent itself wrote them; another version may have written less. */
const detectedObjects = z.array(
  z.object({
    id: z.string(),
    label: z.string(),
    score: z.number(),
    zones: z.array(z.string()),
    startedAt: z.string(),
    endedAt: z.string().exactOptional(),
    isStill: z.boolean(),
  }),
)
const SELECT_OBJECTS = 'select body from objects where id = ?'

const TABLES = `
  pragma auto_vacuum = incremental;
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma foreign_keys = on;
  create table if not exists detections (
    id text primary key, started_at integer not null, camera text not null, label text not null, body text not null
  ) strict;
  create index if not exists detections_by_start on detections (started_at);
  create table if not exists pictures (
    id text primary key references detections (id) on delete cascade, jpeg blob not null
  ) strict;
  create table if not exists asked (
    id text not null references detections (id) on delete cascade, rule text not null, primary key (id, rule)
  ) strict;
  create table if not exists objects (
    id text primary key references detections (id) on delete cascade, body text not null
  ) strict;
  create table if not exists asked_for_objects (
    object text not null, rule text not null, id text not null references detections (id) on delete cascade,
    primary key (object, rule)
  ) strict;
  create index if not exists asked_for_objects_by_detection on asked_for_objects (id);
  create table if not exists program_cameras (name text primary key, heard_at integer not null) strict;
  insert or ignore into program_cameras
    select camera, max(started_at) from detections
    where coalesce(json_extract(body, '$.source'), '') not in ('eye', 'frigate') group by camera;
  ${REVIEW_TABLES}
  ${CANDIDATE_TABLES}
  pragma user_version = ${LAYOUT};
`

/** Renames a damaged file to `PATH.damaged` and starts an empty record. */
export function openRecord(path: string, options: RecordOptions): DetectionRecord {
  const { log, clock, settings } = options
  const database = openSqliteFile(path, TABLES, log)
  const insert = database.prepare(
    `insert into detections (id, started_at, camera, label, body) values (?, ?, ?, ?, ?)
     on conflict (id) do update set started_at = excluded.started_at, camera = excluded.camera,
       label = excluded.label, body = excluded.body`,
  )
  const insertPicture = database.prepare(
    'insert into pictures (id, jpeg) values (?, ?) on conflict (id) do update set jpeg = excluded.jpeg',
  )
  const select = database.prepare('select body from detections where id = ?')
  const selectPicture = database.prepare('select jpeg from pictures where id = ?')
  const insertAsked = database.prepare('insert into asked (id, rule) values (?, ?) on conflict do nothing')
  const insertObjects = database.prepare(
    'insert into objects (id, body) values (?, ?) on conflict (id) do update set body = excluded.body',
  )
  const selectObjects = database.prepare(SELECT_OBJECTS)
  const insertAskedForObject = database.prepare(
    'insert into asked_for_objects (object, rule, id) values (?, ?, ?) on conflict do nothing',
  )
  const insertProgramCamera = database.prepare(
    `insert into program_cameras (name, heard_at) values (?, ?)
     on conflict (name) do update set heard_at = excluded.heard_at`,
  )
  const forgetProgramCameras = database.prepare('delete from program_cameras where heard_at < ?')
  const deleteBefore = database.prepare('delete from detections where started_at < ?')
  const deleteOldest = database.prepare(
    `delete from detections where id in (select id from detections order by started_at limit ${PRUNE_ROWS})`,
  )
  let prunedAt = -Infinity

  function find(id: string): Detection | undefined {
    const row = select.get(id)
    return row && parseBody(row)
  }

  function prune(): void {
    prunedAt = clock()
    const { days, megabytes } = settings()
    deleteBefore.run(prunedAt - days * DAY_MS)
    forgetProgramCameras.run(prunedAt - days * DAY_MS)
    while (usedBytes(database) > megabytes * 1_000_000) if (deleteOldest.run().changes === 0) break
    database.exec('pragma incremental_vacuum')
  }

  prune()
  return {
    put(report) {
      const { thumbnail, ...fields } = report
      const before = find(report.id)
      const merged: Detection = { ...before, ...fields, startedAt: before?.startedAt ?? fields.startedAt }
      transact(database, () => {
        insert.run(merged.id, Date.parse(merged.startedAt), merged.camera, merged.label, JSON.stringify(merged))
        if (thumbnail !== undefined) insertPicture.run(merged.id, Buffer.from(thumbnail, 'base64'))
      })
      if (Math.abs(clock() - prunedAt) >= PRUNE_EVERY_MS) prune()
      return merged
    },
    putObjects: (id, objects) => void insertObjects.run(id, JSON.stringify(objects)),
    objectsOf: (id) => parseObjects(selectObjects.get(id)),
    find,
    recent: (filter) => selectRecent(database, filter),
    picture(id) {
      const jpeg = selectPicture.get(id)?.['jpeg']
      return jpeg instanceof Uint8Array ? Buffer.from(jpeg) : undefined
    },
    programCameras: () => selectProgramCameras(database),
    noteProgramCamera: (name) => void insertProgramCamera.run(name, clock()),
    seenNames: () => selectSeenNames(database),
    markAsked: (rule, id, object) =>
      (object === undefined ? insertAsked.run(id, rule) : insertAskedForObject.run(object, rule, id)).changes === 1,
    reviews: createReviews(database, (action) => transact(database, action)),
    candidates: createCandidates(database, clock),
    close: () => database.close(),
  }
}

/**
 * For a command that runs beside the agent: the detections, newest first, and the objects of those that have several.
 * Undefined when there is no record yet; throws DataFileError for a damaged one.
 */
export function readRecord(
  path: string,
  filter: RecordFilter,
): { detections: Detection[]; objects: Map<string, DetectedObject[]> } | undefined {
  return readOnly(path, (database) => {
    const detections = selectRecent(database, filter)
    const select = hasTable(database, 'objects') ? database.prepare(SELECT_OBJECTS) : undefined
    const found = detections.map(({ id }) => [id, parseObjects(select?.get(id))] as const)
    return { detections, objects: new Map(found.filter((entry): entry is [string, DetectedObject[]] => !!entry[1])) }
  })
}

/** The same for the cameras that programs have reported, and for all names in detections. */
export function readNames(path: string): { programs: string[]; seen: SeenNames } | undefined {
  return readOnly(path, (database) => ({
    programs: hasTable(database, 'program_cameras') ? selectProgramCameras(database) : [],
    seen: selectSeenNames(database),
  }))
}

/** A record of an earlier version lacks a table before the agent starts. */
function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare('select 1 from sqlite_schema where name = ?').get(name) !== undefined
}

function readOnly<T>(path: string, read: (database: DatabaseSync) => T): T | undefined {
  if (!existsSync(path)) return undefined
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    // A start on a full disk leaves an empty file.
    return hasTable(database, 'detections') ? read(database) : undefined
  } catch (error) {
    if (!(error instanceof SyntaxError) && (error as { errcode?: number }).errcode === undefined) throw error
    throw new DataFileError(`The record of detections cannot be read: ${inWords(error)} (${path}).`)
  } finally {
    database?.close()
  }
}

function parseObjects(row: Record<string, unknown> | undefined): DetectedObject[] | undefined {
  const parsed = row && detectedObjects.safeParse(JSON.parse(String(row['body'])))
  return parsed?.data
}

const CAMERAS_MAX = 256
/** Older detections are not read for their names: that takes too long. */
const NAMED_MAX = 2_000

function selectProgramCameras(database: DatabaseSync): string[] {
  return database
    .prepare('select name from program_cameras order by heard_at desc limit ?')
    .all(CAMERAS_MAX)
    .map((row) => String(row['name']))
}

function selectSeenNames(database: DatabaseSync): SeenNames {
  const rows = database
    .prepare(
      `select distinct camera, label, json_extract(body, '$.zone') as zone
       from (select * from detections order by started_at desc limit ${NAMED_MAX})`,
    )
    .all()
  const all = (key: string) => [...new Set(rows.flatMap((row) => (row[key] === null ? [] : [String(row[key])])))]
  return { cameras: all('camera'), labels: all('label'), zones: all('zone') }
}

function selectRecent(database: DatabaseSync, filter: RecordFilter): Detection[] {
  const { limit, camera, label, since, before, learning } = filter
  const conditions: [string, SQLInputValue | undefined][] = [
    ['camera = ?', camera],
    ['label = ?', label],
    ['started_at >= ?', since],
    ['started_at < ?', before],
    ['json_extract(body, ?)', learning && (learning === 'hidden' ? '$.suppressed' : '$.doubtful')],
  ]
  const given = conditions.filter(([, value]) => value !== undefined) as [string, SQLInputValue][]
  const where = given.length === 0 ? '' : `where ${given.map(([condition]) => condition).join(' and ')}`
  const rows = database
    .prepare(`select body from detections ${where} order by started_at desc, id desc limit ?`)
    .all(...given.map(([, value]) => value), limit)
  return rows.flatMap((row) => parseBody(row) ?? [])
}

/** Undefined for a row of another version of the agent. */
function parseBody(row: Record<string, unknown>): Detection | undefined {
  const parsed = detection.safeParse(JSON.parse(String(row['body'])))
  return parsed.success ? parsed.data : undefined
}
