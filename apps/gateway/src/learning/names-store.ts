/** The part of learning's file about names: features of looks, the labels that people saw, and versions of heads. */
import type { DatabaseSync } from 'node:sqlite'
import { LEARNED_NAMES_MAX, learnedHead, type LearnedHead } from '@hedgerow/contract'
import type { Features, NameGlance, NameHead, NameLesson } from '@hedgerow/vision'
import { transact } from '../kernel/sqlite-file.ts'

/** A look that names can be learned from. */
export type NamedLook = NameGlance & {
  id: string
  at: number
  model: string
  /** The label that people saw. */
  label: string
}

export type HeadVersion = {
  number: number
  at: number
  state: 'active' | 'replaced' | 'undone'
  endedAt: number | null
  endedBy: string | null
  /** The gateway that learned it; null for this one. */
  origin: string | null
  model: string
  head: NameHead
  lessons: readonly NameLesson[]
}

export type NamesStore = {
  addFeatures(id: string, features: Features): void
  /** The label that a detection was given instead of the detector's; undefined when it has that. */
  setLabel(id: string, label: string | undefined): void
  /** The newest first. */
  looks(limit: number): NamedLook[]
  /** Undefined when it has no features. */
  look(id: string): NamedLook | undefined
  /** Whether a detector has said this label itself. */
  isDetected(label: string): boolean
  versions(): HeadVersion[]
  /** Replaces the active version of the same origin. */
  begin(version: Pick<HeadVersion, 'at' | 'origin' | 'model' | 'head' | 'lessons'>): number
  /** Ends an active version; the one before it, of the same origin, is active again. False when it is not active. */
  undo(number: number, at: number, by: string): boolean
  /** Of looks that were deleted. */
  trim(): void
}

const VERSIONS_KEPT = 20
const WIDTH = 2

export const NAMES_TABLES = `
  create table if not exists features (id text primary key, model text not null, data blob not null) strict;
  create table if not exists given_labels (id text primary key, label text not null) strict;
  create table if not exists heads (
    number integer primary key autoincrement, at integer not null, state text not null, ended_at integer,
    ended_by text, origin text, head text not null, lessons text not null
  ) strict;
`

export function createNamesStore(database: DatabaseSync): NamesStore {
  const insertFeatures = database.prepare(
    'insert into features (id, model, data) values (?, ?, ?) on conflict do nothing',
  )
  const insertLabel = database.prepare(
    'insert into given_labels (id, label) values (?, ?) on conflict (id) do update set label = excluded.label',
  )
  const deleteLabel = database.prepare('delete from given_labels where id = ?')
  const select = `select looks.id, camera, at, hour, box, model, data,
     coalesce(given_labels.label, looks.label) as label
     from features join looks using (id) left join given_labels using (id)`
  const selectLooks = database.prepare(`${select} order by at desc, looks.id limit ?`)
  const selectLook = database.prepare(`${select} where looks.id = ?`)
  const selectDetected = database.prepare('select 1 from looks where label = ? collate nocase limit 1')
  const selectHeads = database.prepare('select * from heads order by number')
  const insertHead = database.prepare(
    "insert into heads (at, state, origin, head, lessons) values (?, 'active', ?, ?, ?)",
  )
  const endActive = database.prepare(
    `update heads set state = ?, ended_at = ?, ended_by = ? where state = 'active' and origin is ?`,
  )
  const reactivate = database.prepare(
    `update heads set state = 'active', ended_at = null, ended_by = null where number = (
       select max(number) from heads where origin is ? and state = 'replaced' and number < ?)`,
  )
  const deleteOld = database.prepare(
    `delete from heads where state <> 'active' and number not in (
       select number from heads order by number desc limit ${VERSIONS_KEPT})`,
  )
  const versions = () => selectHeads.all().map(toVersion)

  return {
    addFeatures: (id, { model, values }) => void insertFeatures.run(id, model, packed(values)),
    setLabel: (id, label) => void (label === undefined ? deleteLabel.run(id) : insertLabel.run(id, label)),
    looks: (limit) => selectLooks.all(limit).map(toLook),
    look(id) {
      const row = selectLook.get(id)
      return row && toLook(row)
    },
    isDetected: (label) => selectDetected.get(label) !== undefined,
    versions,
    begin({ at, origin, model, head, lessons }) {
      let number = 0
      transact(database, () => {
        endActive.run('replaced', at, null, origin)
        const { lastInsertRowid } = insertHead.run(
          at,
          origin,
          JSON.stringify(toText(head, model)),
          JSON.stringify(lessons),
        )
        number = Number(lastInsertRowid)
        deleteOld.run()
      })
      return number
    },
    undo(number, at, by) {
      const undone = versions().find((one) => one.number === number && one.state === 'active')
      if (!undone) return false
      transact(database, () => {
        endActive.run('undone', at, by, undone.origin)
        reactivate.run(undone.origin, number)
      })
      return true
    },
    trim() {
      database.exec(`delete from features where id not in (select id from looks);
        delete from given_labels where id not in (select id from looks)`)
    },
  }
}

function toLook(row: Record<string, unknown>): NamedLook {
  return {
    id: String(row['id']),
    camera: String(row['camera']),
    at: Number(row['at']),
    hour: Number(row['hour']),
    model: String(row['model']),
    label: String(row['label']),
    box: row['box'] === null ? undefined : (JSON.parse(String(row['box'])) as NameGlance['box']),
    features: unpacked(row['data'] as Uint8Array),
  }
}

function toVersion(row: Record<string, unknown>): HeadVersion {
  const { model, head } = fromText(learnedHead.parse(JSON.parse(String(row['head']))))!
  return {
    number: Number(row['number']),
    at: Number(row['at']),
    state: row['state'] as HeadVersion['state'],
    endedAt: row['ended_at'] === null ? null : Number(row['ended_at']),
    endedBy: row['ended_by'] === null ? null : String(row['ended_by']),
    origin: row['origin'] === null ? null : String(row['origin']),
    model,
    head,
    lessons: JSON.parse(String(row['lessons'])) as NameLesson[],
  }
}

/** As a head is stored, and as it goes to another gateway. */
export function toText({ names, cameras, thresholds, classifier }: NameHead, model: string): LearnedHead {
  const numbers = new Float32Array(classifier.weights.length + classifier.classes)
  numbers.set(classifier.weights)
  numbers.set(classifier.biases, classifier.weights.length)
  const { features } = classifier
  return {
    model,
    names: [...names],
    cameras: [...cameras],
    thresholds: [...thresholds],
    features,
    weights: base64(numbers),
  }
}

/** Undefined when its parts do not belong together. */
export function fromText(text: LearnedHead): { model: string; head: NameHead } | undefined {
  const { model, names, cameras, thresholds, features, weights } = text
  const classes = names.length + 1
  const numbers = unpacked(Uint8Array.fromBase64(weights))
  const isWhole =
    names.length <= LEARNED_NAMES_MAX &&
    thresholds.length === names.length &&
    numbers.length === classes * (features + 1) &&
    numbers.every((value) => Number.isFinite(value))
  if (!isWhole) return undefined
  const classifier = {
    classes,
    features,
    weights: numbers.subarray(0, classes * features),
    biases: numbers.subarray(classes * features),
  }
  return { model, head: { names, cameras, thresholds, classifier } }
}

const base64 = (values: Float32Array) => packed(values).toBase64()

/** As 16-bit floats, in the byte order of all usual processors. */
function packed(values: Float32Array): Uint8Array {
  return new Uint8Array(Float16Array.from(values).buffer)
}

function unpacked(bytes: Uint8Array): Float32Array {
  const own = bytes.slice(0, bytes.length - (bytes.length % WIDTH))
  return Float32Array.from(new Float16Array(own.buffer))
}
