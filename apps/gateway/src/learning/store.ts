/**
 * The data of learning: one SQLite file, bounded in size. It holds the crop of the first look at each detection,
 * because that look decides; the versions of verifiers by camera and label; the reports of the last night.
 */
import type { LearningUndo } from '@hedgerow/contract'
import {
  createRgbImage,
  CROP_PIXELS,
  type Box,
  type Calibration,
  type Features,
  type RgbImage,
  type Verifier,
} from '@hedgerow/vision'
import { DatabaseSync } from 'node:sqlite'
import type { Logger } from 'pino'
import { z } from 'zod'
import { BUSY_TIMEOUT_MS, openSqliteFile, transact, usedBytes } from '../kernel/sqlite-file.ts'
import { createNamesStore, NAMES_TABLES, type NamesStore } from './names-store.ts'

/** In the data directory. */
export const LEARNING_FILE = 'learning.sqlite'

/** One look at a detection. */
export type Look = {
  id: string
  camera: string
  label: string
  /** When the detection began, in milliseconds since 1970. */
  at: number
  score: number
  /** The time of day at the site, 0 to 24. */
  hour: number
  /** From the beginning of the detection to the look. */
  seconds: number
  /** How far the object moved, in its own lengths. */
  travel: number
  box: Box | undefined
  /** 64 x 64 pixels. */
  crop: RgbImage
  features?: Features | undefined
}

/** A look without its picture. */
export type LookFacts = Omit<Look, 'crop' | 'features'> & {
  isHeld: boolean
  /** A version held it back, and a person called it right. */
  isMissed: boolean
}

export type VersionState = 'active' | 'replaced' | 'undone'

/** A verifier of one camera and label that took over. */
export type Version = {
  number: number
  camera: string
  label: string
  at: number
  state: VersionState
  /** When it was replaced or undone; null while it is active. */
  endedAt: number | null
  /** Who undid it: a person's name, or `misses`. */
  endedBy: string | null
  verifier: Verifier
}

/** A night's report about one camera and label, as JSON. */
export type Report = { camera: string; label: string; body: string }

export type LearningStore = {
  /** Keeps the first look of each detection. */
  addLook(look: Look): void
  hasLook(id: string): boolean
  /** Renames the label of a detection. */
  rename(id: string, label: string): void
  /** Marks a look as held back by a version, also after a miss; undefined removes the mark. */
  setHeld(id: string, version: number | undefined): void
  /** The detections that a version holds back. */
  heldBy(version: number): string[]
  /** Marks a held-back detection as shown, because a person called it right. */
  addMiss(version: number, id: string): void
  missedBy(version: number): string[]
  /** Ids of the detections of a camera and label that began at `since` or later. */
  idsSince(camera: string, label: string, since: number): string[]
  cameras(): string[]
  /** The newest looks of a camera that began between `since` and `until`, both included; oldest first. */
  looks(camera: string, filter: { since: number; until: number; limit: number }): LookFacts[]
  crop(id: string): RgbImage
  /** Ids of detections whose review people were asked to look at again. */
  questions(): Set<string>
  markAsked(id: string): void
  versions(): Version[]
  /** Ends the active version of its camera and label, and begins this one. */
  begin(camera: string, label: string, at: number, verifier: Verifier): Version
  /**
   * Ends the active version and earlier ones down to `to`, which becomes active again. Null: none becomes active. Left
   * out: the one before the active one does. Undefined when none is active, or `to` is not possible.
   */
  undo(
    { camera, label, to }: LearningUndo,
    at: number,
    by: string,
  ): { undone: Version; active: Version | undefined } | undefined
  recalibrate(number: number, calibration: Calibration): void
  putReports(reports: readonly Report[]): void
  reports(): Report[]
  get(key: string): string | undefined
  set(key: string, value: string): void
  /** Deletes the oldest looks beyond this size. */
  trim(megabytes: number): void
  names: NamesStore
  close(): void
}

export function keyOf({ camera, label }: { camera: string; label: string }): string {
  return JSON.stringify([camera, label])
}

const LAYOUT = 1
const VERSIONS_KEPT = 10
const LOOKS_DELETED_AT_ONCE = 100
const BYTES_A_MEGABYTE = 1_000_000

const LOOK_COLUMNS = 'id, camera, label, at, score, hour, seconds, travel, box, held_by, missed_by'

const TABLES = `
  pragma auto_vacuum = incremental;
  pragma journal_mode = wal;
  pragma synchronous = normal;
  create table if not exists looks (
    id text primary key, camera text not null, label text not null, at integer not null, score real not null,
    hour real not null, seconds real not null, travel real not null, box text, crop blob not null,
    held_by integer, missed_by integer
  ) strict;
  create index if not exists looks_by_camera on looks (camera, at);
  create index if not exists looks_by_version on looks (held_by) where held_by is not null;
  create index if not exists looks_by_miss on looks (missed_by) where missed_by is not null;
  create table if not exists asked (id text primary key) strict;
  create table if not exists versions (
    number integer primary key autoincrement, camera text not null, label text not null, at integer not null,
    state text not null, ended_at integer, ended_by text, verifier text not null
  ) strict;
  create table if not exists reports (
    camera text not null, label text not null, body text not null, primary key (camera, label)
  ) strict;
  create table if not exists facts (key text primary key, value text not null) strict;
  ${NAMES_TABLES}
  pragma user_version = ${LAYOUT};
`

const box = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })
const storedVerifier = z.object({
  weights: z.string(),
  bias: z.number(),
  calibration: z.object({ slope: z.number(), offset: z.number() }),
  threshold: z.object({ logit: z.number(), bound: z.number(), needed: z.number() }),
})

/** `read-only`: for a thread beside the agent. */
export function openLearningStore(path: string, log: Logger | 'read-only'): LearningStore {
  const database =
    log === 'read-only'
      ? new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
      : openSqliteFile(path, TABLES, log)
  const insertLook = database.prepare(
    `insert into looks (id, camera, label, at, score, hour, seconds, travel, box, crop)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  )
  const selectLook = database.prepare('select 1 from looks where id = ?')
  const updateLabel = database.prepare('update looks set label = ? where id = ? and label <> ?')
  const updateHeld = database.prepare('update looks set held_by = ?, missed_by = null where id = ?')
  const selectHeld = database.prepare('select id from looks where held_by = ?')
  const setMiss = database.prepare('update looks set held_by = null, missed_by = ? where id = ?')
  const selectMissed = database.prepare('select id from looks where missed_by = ?')
  const selectSince = database.prepare('select id from looks where camera = ? and label = ? and at >= ?')
  const selectCameras = database.prepare('select distinct camera from looks order by camera')
  const selectLooks = database.prepare(
    `select * from (select ${LOOK_COLUMNS} from looks where camera = ? and at >= ? and at <= ?
       order by at desc, id limit ?)
     order by at, id`,
  )
  const selectCrop = database.prepare('select crop from looks where id = ?')
  const selectVersions = database.prepare('select * from versions order by number')
  const endActive = database.prepare(
    "update versions set state = ?, ended_at = ?, ended_by = ? where camera = ? and label = ? and state = 'active'",
  )
  const insertVersion = database.prepare(
    "insert into versions (camera, label, at, state, verifier) values (?, ?, ?, 'active', ?)",
  )
  const deleteOldVersions = database.prepare(
    `delete from versions where camera = ? and label = ? and state <> 'active' and number not in (
       select number from versions where camera = ? and label = ? order by number desc limit ${VERSIONS_KEPT})`,
  )
  const reactivate = database.prepare(
    `update versions set state = 'active', ended_at = null, ended_by = null where number = (
       select max(number) from versions where camera = ? and label = ? and state = 'replaced' and number < ?)`,
  )
  const setVerifier = database.prepare('update versions set verifier = ? where number = ?')
  const insertReport = database.prepare(
    `insert into reports (camera, label, body) values (?, ?, ?)
     on conflict (camera, label) do update set body = excluded.body`,
  )
  const selectFact = database.prepare('select value from facts where key = ?')
  const insertFact = database.prepare(
    'insert into facts (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
  )
  const deleteOldest = database.prepare(
    `delete from looks where id in (select id from looks order by at limit ${LOOKS_DELETED_AT_ONCE})`,
  )

  const names = createNamesStore(database)
  const versions = () => selectVersions.all().map(toVersion)
  const activeOf = (camera: string, label: string) =>
    versions().find((one) => one.camera === camera && one.label === label && one.state === 'active')

  return {
    addLook(look) {
      const { id, camera, label, at, score, hour, seconds, travel, box: place, crop, features } = look
      const pixels = Buffer.from(crop.data.buffer, crop.data.byteOffset, crop.data.byteLength)
      const where = place ? JSON.stringify(place) : null
      insertLook.run(id, camera, label, at, score, hour, seconds, travel, where, pixels)
      if (features) names.addFeatures(id, features)
    },
    hasLook: (id) => selectLook.get(id) !== undefined,
    rename: (id, label) => void updateLabel.run(label, id, label),
    setHeld: (id, version) => void updateHeld.run(version ?? null, id),
    heldBy: (version) => selectHeld.all(version).map((row) => String(row['id'])),
    addMiss: (version, id) => void setMiss.run(version, id),
    missedBy: (version) => selectMissed.all(version).map((row) => String(row['id'])),
    idsSince: (camera, label, since) => selectSince.all(camera, label, since).map((row) => String(row['id'])),
    cameras: () => selectCameras.all().map((row) => String(row['camera'])),
    looks: (camera, { since, until, limit }) => selectLooks.all(camera, since, until, limit).map(toLook),
    crop(id) {
      const bytes = selectCrop.get(id)?.['crop']
      return createRgbImage(CROP_PIXELS, CROP_PIXELS, bytes instanceof Uint8Array ? bytes : undefined)
    },
    questions: () =>
      new Set(
        database
          .prepare('select id from asked')
          .all()
          .map((row) => String(row['id'])),
      ),
    markAsked: (id) => void database.prepare('insert into asked (id) values (?) on conflict do nothing').run(id),
    versions,
    begin(camera, label, at, verifier) {
      transact(database, () => {
        endActive.run('replaced', at, null, camera, label)
        insertVersion.run(camera, label, at, packVerifier(verifier))
        deleteOldVersions.run(camera, label, camera, label)
      })
      return activeOf(camera, label)!
    },
    undo({ camera, label, to }, at, by) {
      const undone = activeOf(camera, label)
      if (!undone) return undefined
      const earlier = versions().filter(
        (one) => one.camera === camera && one.label === label && one.state === 'replaced' && one.number < undone.number,
      )
      if (typeof to === 'number' && !earlier.some(({ number }) => number === to)) return undefined
      const goal = to === undefined ? earlier.at(-1)?.number : (to ?? undefined)
      transact(database, () => {
        let ending: Version | undefined = undone
        while (ending && ending.number !== goal) {
          endActive.run('undone', at, by, camera, label)
          reactivate.run(camera, label, ending.number)
          ending = activeOf(camera, label)
        }
      })
      return { undone, active: activeOf(camera, label) }
    },
    recalibrate(number, calibration) {
      const version = versions().find((one) => one.number === number)
      if (version) setVerifier.run(packVerifier({ ...version.verifier, calibration }), number)
    },
    putReports(reports) {
      transact(database, () => {
        database.exec('delete from reports')
        for (const { camera, label, body } of reports) insertReport.run(camera, label, body)
      })
    },
    reports: () =>
      database
        .prepare('select camera, label, body from reports order by camera, label')
        .all()
        .map((row) => ({ camera: String(row['camera']), label: String(row['label']), body: String(row['body']) })),
    get(key) {
      const value = selectFact.get(key)?.['value']
      return value === undefined ? undefined : String(value)
    },
    set: (key, value) => void insertFact.run(key, value),
    trim(megabytes) {
      while (usedBytes(database) > megabytes * BYTES_A_MEGABYTE) {
        if (deleteOldest.run().changes === 0) break
        names.trim()
      }
      database.exec('delete from asked where id not in (select id from looks); pragma incremental_vacuum')
    },
    names,
    close: () => database.close(),
  }
}

function toLook(row: Record<string, unknown>): LookFacts {
  return {
    id: String(row['id']),
    camera: String(row['camera']),
    label: String(row['label']),
    at: Number(row['at']),
    score: Number(row['score']),
    hour: Number(row['hour']),
    seconds: Number(row['seconds']),
    travel: Number(row['travel']),
    box: row['box'] === null ? undefined : box.parse(JSON.parse(String(row['box']))),
    isHeld: row['held_by'] !== null,
    isMissed: row['missed_by'] !== null,
  }
}

function toVersion(row: Record<string, unknown>): Version {
  const { weights, ...rest } = storedVerifier.parse(JSON.parse(String(row['verifier'])))
  const bytes = Uint8Array.fromBase64(weights)
  return {
    number: Number(row['number']),
    camera: String(row['camera']),
    label: String(row['label']),
    at: Number(row['at']),
    state: row['state'] as VersionState,
    endedAt: row['ended_at'] === null ? null : Number(row['ended_at']),
    endedBy: row['ended_by'] === null ? null : String(row['ended_by']),
    verifier: { ...rest, weights: new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4) },
  }
}

/** The weights as 32-bit floats in base64, in the byte order of the device. */
function packVerifier({ weights, ...rest }: Verifier): string {
  const bytes = new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength)
  return JSON.stringify({ ...rest, weights: bytes.toBase64() })
}
