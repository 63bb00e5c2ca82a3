/**
 * Candidates: objects that other settings would have made detections. Every moving object is tracked with the lowest
 * `minimumScore` that gateway.yaml allows, and the highest one with which it would have been a detection is noted. So a
 * person who tunes a camera sees what another setting would have changed.
 */
import { Tracker, type Sighting, type Track } from '@hedgerow/vision'
import { MINIMUM_SCORE_LEAST } from '../../cameras/schema.ts'
import type { Candidate } from '../source.ts'
import { HIGH_SHARE, TRACKING } from './tracking.ts'

type Run = {
  /** The scores of consecutive looks, newest last. */
  scores: number[]
  seenAt: number
  /** The highest `minimumScore` that consecutive looks reached, over as many as a detection needs, and over two. */
  best: number
  bestOfTwo: number
  /** The time between the two looks, in milliseconds. */
  twoApartMs: number
  hasMoved: boolean
}

export type CandidateWatch = {
  see(sightings: readonly Sighting[], isMoving: (sighting: Sighting) => boolean, atMs: number): void
  /** Ends all tracks. */
  end(): void
}

/** The most candidates that are noted in an hour: rain and leaves would give too many. */
const NOTED_AN_HOUR = 300
const HOUR_MS = 3_600_000

export function createCandidateWatch(note: (candidate: Candidate, beganAtMs: number) => void): CandidateWatch {
  const least = MINIMUM_SCORE_LEAST * HIGH_SHARE
  const tracker = new Tracker({
    ...TRACKING,
    confirmAfter: 1,
    newScore: MINIMUM_SCORE_LEAST,
    highScore: least,
    lowScore: least,
  })
  const runs = new Map<number, Run>()
  let lookedAt = -Infinity
  let notedAt: number[] = []

  function finish({ id, label, firstSeenAt, lastSeenAt }: Track): void {
    const run = runs.get(id)
    runs.delete(id)
    const score = run && (run.best || run.bestOfTwo)
    if (!run?.hasMoved || !score) return
    notedAt = notedAt.filter((at) => lastSeenAt - at < HOUR_MS)
    if (notedAt.length >= NOTED_AN_HOUR) return
    notedAt.push(lastSeenAt)
    const seconds = (run.best > 0 ? lastSeenAt - firstSeenAt : run.twoApartMs) / 1_000
    note({ label, score: Math.min(1, score), seconds }, firstSeenAt)
  }

  function add(track: Track, isMoving: boolean, atMs: number): void {
    const run = runs.get(track.id) ?? newRun()
    runs.set(track.id, run)
    const isNext = run.seenAt === lookedAt
    const { score } = track.sighting
    run.scores = [...(isNext ? run.scores : []), score].slice(-TRACKING.confirmAfter)
    if (run.scores.length > 1 && bestOf(run.scores.slice(-2)) > run.bestOfTwo) {
      run.bestOfTwo = bestOf(run.scores.slice(-2))
      run.twoApartMs = atMs - run.seenAt
    }
    if (run.scores.length === TRACKING.confirmAfter) run.best = Math.max(run.best, bestOf(run.scores))
    run.seenAt = atMs
    run.hasMoved ||= isMoving
  }

  return {
    see(sightings, isMoving, atMs) {
      const { seen, ended } = tracker.update(sightings, atMs)
      for (const track of seen) add(track, isMoving(track.sighting), atMs)
      for (const track of ended) finish(track)
      lookedAt = atMs
    },
    end() {
      for (const track of tracker.end()) finish(track)
      runs.clear()
    },
  }
}

function newRun(): Run {
  return { scores: [], seenAt: Number.NaN, best: 0, bestOfTwo: 0, twoApartMs: 0, hasMoved: false }
}

/** The first score of a track has to reach `minimumScore`, the following ones a share of it. */
function bestOf([first = 0, ...following]: readonly number[]): number {
  return Math.min(first, ...following.map((score) => score / HIGH_SHARE))
}
