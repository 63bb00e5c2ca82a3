/**
 * Candidates: objects that other settings would have made detections. What moves is tracked from the lowest score on
 * that is worth a track, and the score of a track is the highest `minimumScore` with which it would have been a
 * detection. So a person who tunes a camera sees what another setting would have changed.
 */
import type { Track } from '@hedgerow/vision'
import type { Candidate } from '../source.ts'

/** The most candidates that are noted in an hour: rain and leaves would give too many. */
const NOTED_AN_HOUR = 300
const HOUR_MS = 3_600_000

/** Takes tracks that moved, when they end. */
export function createCandidateWatch(note: (candidate: Candidate, beganAtMs: number) => void) {
  let notedAt: number[] = []
  return ({ label, score, firstSeenAt, lastSeenAt }: Track): void => {
    notedAt = notedAt.filter((at) => lastSeenAt - at < HOUR_MS)
    if (notedAt.length >= NOTED_AN_HOUR) return
    notedAt.push(lastSeenAt)
    note({ label, score: Math.min(1, score), seconds: (lastSeenAt - firstSeenAt) / 1_000 }, firstSeenAt)
  }
}
