/**
 * Joins sightings from picture to picture into tracks: ByteTrack (Zhang et al. 2022). Sightings with a high score are
 * matched first. Those with a low score then continue the remaining tracks and never begin one, so that a half-hidden
 * object keeps its track. Each matching is the best one over all pairs (`assignment.ts`) by overlap with the place that
 * a Kalman filter predicts.
 */
import { assign } from './assignment.ts'
import { centreOf, growBy, isAround, overlapOf, type Box } from './box.ts'
import { BoxFilter } from './kalman.ts'

/** One object in one picture. */
export type Sighting = {
  readonly box: Box
  readonly label: string
  readonly score: number
  readonly features?: Features | undefined
}

/** What a model saw of an object, in numbers, and the SHA-256 of that model. */
export type Features = { readonly model: string; readonly values: Float32Array }

/**
 * `tentative` until seen often enough, then `confirmed`; `lost` while not seen. The update that ends a track returns it
 * once more.
 */
export type TrackState = 'tentative' | 'confirmed' | 'lost'

export type Track<S extends Sighting = Sighting> = {
  /** Counts from 1 within its tracker. */
  readonly id: number
  readonly state: TrackState
  /** The filter's estimate of the box. */
  readonly box: Box
  /** The last sighting. */
  readonly sighting: S
  /** The label with the greatest sum of scores so far. */
  readonly label: string
  /** The best median of its last scores, with as many looks as it takes to confirm a track: no lucky look decides. */
  readonly score: number
  /** In how many pictures it was seen. */
  readonly hits: number
  readonly firstSeenAt: number
  readonly lastSeenAt: number
  /** The greatest distance from where it was first seen, in lengths of its box there on each axis. */
  readonly travel: number
  /** Where it was first seen. */
  readonly origin: Box
}

export type TrackerOptions = {
  /** Sightings from this score on take part in the first association; from `newScore` on they begin new tracks. */
  highScore?: number
  /** Sightings below this score are dropped. */
  lowScore?: number
  newScore?: number
  /** Pictures with the object in a row before its track is confirmed. */
  confirmAfter?: number
  /** A track ends after it was missed for this many milliseconds. At the next look only its own kind continues it. */
  keepLostMs?: number
  /**
   * Boxes are grown by this share of their sides on each side before they are compared, for objects that move by more
   * than their own length between pictures (C-BIoU, Yang et al. 2023). 0 is right at 30 frames a second, 0.3 at 5.
   */
  buffer?: number
}

export type Tracked<S extends Sighting> = {
  /** Confirmed tracks that were seen in this picture, oldest first. */
  readonly seen: readonly Track<S>[]
  /** Confirmed tracks that ended, each once. */
  readonly ended: readonly Track<S>[]
}

/** Least overlap of each association; the paper's limits of 0.8, 0.5 and 0.7 on 1 - overlap. */
const FIRST_OVERLAP = 0.2
const SECOND_OVERLAP = 0.5
const TENTATIVE_OVERLAP = 0.3
/** The median is that of at most so many last scores. */
const SCORES = 9
/** Looks may be far apart: whoever is seen so long after the last time is another one. */
const LATE_MS = 5_000

type Living<S extends Sighting> = { -readonly [K in keyof Track<S>]: Track<S>[K] } & {
  filter: BoxFilter
  /** The sum of scores by label. */
  votes: Map<string, number>
  /** The last scores, newest last. */
  scores: number[]
  /** When it was first missed. */
  lostAt: number
}

export class Tracker<S extends Sighting = Sighting> {
  readonly #options: Required<TrackerOptions>
  #tracks: Living<S>[] = []
  #nextId = 1

  constructor(options: TrackerOptions = {}) {
    const defaults = { highScore: 0.6, lowScore: 0.1, newScore: 0.7, confirmAfter: 2, keepLostMs: 1_000, buffer: 0 }
    this.#options = { ...defaults, ...options }
  }

  /**
   * `now` is in milliseconds of a clock that never goes back; the tracks' times are of the same clock. `looked`: the
   * parts of the picture that were looked at, when it was not the whole; a track elsewhere is not missed.
   */
  update(sightings: readonly S[], now: number, looked?: readonly Box[]): Tracked<S> {
    const { highScore, lowScore, newScore, keepLostMs } = this.#options
    for (const track of this.#tracks) {
      if (track.state === 'lost') track.filter.holdSize()
      track.box = track.filter.predict(now)
    }
    const sure = sightings.filter(({ score }) => score >= highScore)
    const unsure = sightings.filter(({ score }) => score >= lowScore && score < highScore)

    const confirmed = this.#tracks.filter(({ state }) => state !== 'tentative')
    const first = this.#associate(confirmed, sure, FIRST_OVERLAP, now)
    const stillSeen = first.tracks.filter(({ state }) => state === 'confirmed')
    const second = this.#associate(stillSeen, unsure, SECOND_OVERLAP, now)
    const isMissed = ({ box }: Living<S>) => looked?.some((part) => isAround(part, centreOf(box))) ?? true
    for (const track of second.tracks.filter(isMissed)) {
      track.state = 'lost'
      track.lostAt = now
    }

    const tentative = this.#tracks.filter(({ state, lastSeenAt }) => state === 'tentative' && lastSeenAt !== now)
    const third = this.#associate(tentative, first.sightings, TENTATIVE_OVERLAP, now)

    const isOver = (track: Living<S>) =>
      (third.tracks.includes(track) && isMissed(track)) || (track.state === 'lost' && now - track.lostAt >= keepLostMs)
    const ended = this.#tracks.filter((track) => track.state === 'lost' && isOver(track))
    this.#tracks = this.#tracks.filter((track) => !isOver(track))
    for (const sighting of third.sightings)
      if (sighting.score >= newScore) this.#tracks.push(this.#begin(sighting, now))
    const seen = this.#tracks.filter(({ state, lastSeenAt }) => state === 'confirmed' && lastSeenAt === now)
    return { seen: seen.map(publicPart), ended: ended.map(publicPart) }
  }

  /** Ends everything: for a stream that was interrupted. Returns the confirmed tracks, like `ended`. */
  end(): Track<S>[] {
    const ended = this.#tracks.filter(({ state }) => state !== 'tentative')
    this.#tracks = []
    return ended.map(publicPart)
  }

  /** Matches, corrects the tracks that found a sighting, and returns the tracks without a sighting. */
  #associate(tracks: Living<S>[], sightings: readonly S[], leastOverlap: number, now: number) {
    if (tracks.length === 0 || sightings.length === 0) return { tracks, sightings }
    const { buffer } = this.#options
    const grownTracks = tracks.map(({ box }) => growBy(box, buffer))
    const grownSightings = sightings.map(({ box }) => growBy(box, buffer))
    const isAnother = ({ state, lostAt, lastSeenAt, label }: Living<S>, sighting: S) =>
      state === 'lost' &&
      now - lostAt >= this.#options.keepLostMs &&
      (sighting.label !== label || now - lastSeenAt > LATE_MS)
    const costs = new Float64Array(tracks.length * sightings.length)
    // A forbidden pair costs as much as leaving both unmatched.
    for (const [row, box] of grownTracks.entries())
      for (const [column, other] of grownSightings.entries())
        costs[row * sightings.length + column] = isAnother(tracks[row]!, sightings[column]!)
          ? 1 - leastOverlap
          : Math.min(1 - overlapOf(box, other), 1 - leastOverlap)
    const columns = assign(costs, tracks.length, sightings.length)
    const isMatched = (row: number) => {
      const column = columns[row]!
      return column >= 0 && costs[row * sightings.length + column]! < 1 - leastOverlap
    }
    const taken = new Set<S>()
    const left: Living<S>[] = []
    for (const [row, track] of tracks.entries()) {
      if (!isMatched(row)) {
        left.push(track)
        continue
      }
      const sighting = sightings[columns[row]!]!
      taken.add(sighting)
      this.#continue(track, sighting, now)
    }
    return { tracks: left, sightings: sightings.filter((sighting) => !taken.has(sighting)) }
  }

  #continue(track: Living<S>, sighting: S, now: number): void {
    track.filter.correct(sighting.box)
    track.box = track.filter.box
    track.sighting = sighting
    track.lastSeenAt = now
    track.hits++
    if (track.state === 'lost' || track.hits >= this.#options.confirmAfter) track.state = 'confirmed'
    const centre = centreOf(sighting.box)
    const from = centreOf(track.origin)
    const distance = Math.hypot((centre.x - from.x) / track.origin.width, (centre.y - from.y) / track.origin.height)
    track.travel = Math.max(track.travel, distance)
    this.#vote(track, sighting)
  }

  #begin(sighting: S, now: number): Living<S> {
    const track: Living<S> = {
      id: this.#nextId++,
      state: this.#options.confirmAfter <= 1 ? 'confirmed' : 'tentative',
      box: sighting.box,
      sighting,
      label: sighting.label,
      score: 0,
      hits: 1,
      firstSeenAt: now,
      lastSeenAt: now,
      travel: 0,
      filter: new BoxFilter(sighting.box, now),
      votes: new Map(),
      scores: [],
      lostAt: now,
      origin: sighting.box,
    }
    this.#vote(track, sighting)
    return track
  }

  #vote(track: Living<S>, { label, score }: S): void {
    track.votes.set(label, (track.votes.get(label) ?? 0) + score)
    if (track.votes.get(label)! > track.votes.get(track.label)!) track.label = label
    track.scores = [...track.scores, score].slice(-SCORES)
    if (track.hits >= this.#options.confirmAfter) track.score = Math.max(track.score, medianOf(track.scores))
  }
}

/** The lower one of the two in the middle of an even number. */
function medianOf(scores: readonly number[]): number {
  return scores.toSorted((a, b) => a - b)[Math.floor((scores.length - 1) / 2)]!
}

function publicPart<S extends Sighting>(track: Living<S>): Track<S> {
  const { filter: _filter, votes: _votes, scores: _scores, lostAt: _lostAt, ...rest } = track
  return rest
}
