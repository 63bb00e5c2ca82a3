/**
 * Estimates what a camera's settings would have found: applies the rule by which a track becomes a detection to the
 * noted candidates.
 */

export type Candidate = { label: string; score: number; seconds: number }
export type Settings = { framesPerSecond: number; minimumScore: number }

/** A detection takes three looks; the first and the last are this many pictures apart. */
const PICTURES_APART = 2
/** Times are noted in milliseconds, and pictures arrive a little early or late. */
const SLACK = 0.9

export function wouldBeFound({ score, seconds }: Candidate, { framesPerSecond, minimumScore }: Settings): boolean {
  return score >= minimumScore && seconds * framesPerSecond >= PICTURES_APART * SLACK
}

/** `5: 3 deer, 2 boar`, the most frequent first. */
export function foundInWords(candidates: readonly Candidate[], settings: Settings): string {
  const labels = Map.groupBy(
    candidates.filter((candidate) => wouldBeFound(candidate, settings)),
    ({ label }) => label,
  )
  const counts = [...labels].map(([label, { length }]) => ({ label, length })).toSorted((a, b) => b.length - a.length)
  const total = counts.reduce((sum, { length }) => sum + length, 0)
  return total === 0 ? 'none' : `${total}: ${counts.map(({ label, length }) => `${length} ${label}`).join(', ')}`
}
