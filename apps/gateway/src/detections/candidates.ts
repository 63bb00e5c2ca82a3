/** Detections that other settings of a camera would have given in the last days: a part of the record. */
import type { DatabaseSync } from 'node:sqlite'
import type { Candidate } from '../sources/source.ts'

/** `at`: when it began, in milliseconds since 1970. */
export type NotedCandidate = Candidate & { at: number }

export type Candidates = {
  add(camera: string, candidate: NotedCandidate): void
  /** The newest that began at `since` or later. */
  list(camera: string, filter: { since: number; limit: number }): NotedCandidate[]
}

const DAYS = 2
const DAY_MS = 86_400_000
const CANDIDATES_MAX = 20_000
const TRIM_EVERY = 100

export const CANDIDATE_TABLES = `
  create table if not exists candidates (
    camera text not null, at integer not null, label text not null, score real not null, seconds real not null
  ) strict;
  create index if not exists candidates_by_camera on candidates (camera, at);
  create index if not exists candidates_by_time on candidates (at);
`

export function createCandidates(database: DatabaseSync, clock: () => number): Candidates {
  const insert = database.prepare('insert into candidates (camera, at, label, score, seconds) values (?, ?, ?, ?, ?)')
  const select = database.prepare(
    'select at, label, score, seconds from candidates where camera = ? and at >= ? order by at desc limit ?',
  )
  const deleteOld = database.prepare('delete from candidates where at < ?')
  const deleteMost = database.prepare(
    'delete from candidates where rowid in ' +
      `(select rowid from candidates order by at desc limit -1 offset ${CANDIDATES_MAX})`,
  )
  let added = 0

  return {
    add(camera, { at, label, score, seconds }) {
      insert.run(camera, at, label, score, seconds)
      if (added++ % TRIM_EVERY !== 0) return
      deleteOld.run(clock() - DAYS * DAY_MS)
      deleteMost.run()
    },
    list: (camera, { since, limit }) =>
      select.all(camera, since, limit).map((row) => ({
        at: Number(row['at']),
        label: String(row['label']),
        score: Number(row['score']),
        seconds: Number(row['seconds']),
      })),
  }
}
