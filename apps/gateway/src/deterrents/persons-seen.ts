/** When a person was last seen on each camera, by the monotonic clock: rule 4 keeps water and sirens off meanwhile. */
import { monoOf, type Instant, type SavedState } from './saved-state.ts'

/** How long a person who was seen keeps water and sirens off, unless the source says for how long. */
const PERSON_MS = 60_000
/** How often the presence of a person is written to disk; after a restart it lasts this much longer. */
const PERSON_SAVED_MS = 10_000
/** The most cameras that are remembered: detections may name any. */
const CAMERAS_MAX = 256

export type PersonsSeen = {
  /** When the last person on the cameras that count stops to count, by the monotonic clock; undefined for none. */
  until(counts: (camera: string) => boolean, now: Instant): number | undefined
  /** A person is on this camera now, and counts for `holdMs`. Returns whether that should be written to disk. */
  note(camera: string, now: Instant, holdMs?: number): boolean
  /** The cameras and times, for the saved state. */
  entries(): Iterable<[camera: string, mono: number]>
}

export function createPersonsSeen(saved: SavedState | undefined, boot: string, start: Instant): PersonsSeen {
  const seen = new Map<string, number>()
  const savedAt = new Map<string, number>()
  if (saved)
    for (const [camera, at] of Object.entries(saved.persons))
      seen.set(camera, Math.min(start.mono, monoOf(at, saved.boot, boot, start) + PERSON_SAVED_MS))

  return {
    until(counts, now) {
      const ends = [...seen].flatMap(([camera, at]) => (counts(camera) ? [at + PERSON_MS] : []))
      const last = Math.max(...ends)
      return last > now.mono ? last : undefined
    },

    note(camera, now, holdMs = PERSON_MS) {
      for (const [name, at] of seen) if (now.mono - at > PERSON_MS) seen.delete(name)
      if (seen.size >= CAMERAS_MAX && !seen.has(camera)) seen.delete(seen.keys().next().value!)
      // A longer hold is a later time: it never ends before that of another source.
      seen.set(camera, Math.max(now.mono + holdMs - PERSON_MS, seen.get(camera) ?? -Infinity))
      if (now.mono - (savedAt.get(camera) ?? -Infinity) < PERSON_SAVED_MS) return false
      savedAt.set(camera, now.mono)
      for (const name of savedAt.keys()) if (!seen.has(name)) savedAt.delete(name)
      return true
    },

    entries: () => seen,
  }
}
