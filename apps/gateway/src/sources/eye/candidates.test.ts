import { Tracker, type Sighting } from '@hedgerow/vision'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Candidate } from '../source.ts'
import { createCandidateWatch } from './candidates.ts'
import { HIGH_SHARE, TRACKING } from './tracking.ts'

const LOOK_MS = 200
const box = { x: 0.4, y: 0.4, width: 0.2, height: 0.2 }
/** The result of one look; a score of 0 means no object. */
const sightings = (score: number): Sighting[] => (score === 0 ? [] : [{ box, label: 'deer', score }])

function noted(scores: readonly number[], isMoving = true): Candidate[] {
  const candidates: Candidate[] = []
  const watch = createCandidateWatch((candidate) => candidates.push(candidate))
  for (const [look, score] of scores.entries()) watch.see(sightings(score), () => isMoving, look * LOOK_MS)
  watch.end()
  return candidates
}

/** Whether the eye itself would make a detection of these scores. */
function isDetected(scores: readonly number[], minimumScore: number): boolean {
  // A share of a score is rounded: 0.8 of 0.55 is more than 0.44.
  const highScore = minimumScore * HIGH_SHARE - 1e-9
  const tracker = new Tracker({ ...TRACKING, newScore: minimumScore, highScore })
  return scores.some((score, look) => tracker.update(sightings(score), look * LOOK_MS).seen.length > 0)
}

test('the noted score is the highest `minimumScore` with which the eye makes a detection of it', () => {
  const hundredths = fc.integer({ min: 10, max: 100 }).map((score) => score / 100)
  const looks = fc.array(fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: hundredths }), {
    maxLength: 30,
  })
  fc.assert(
    fc.property(looks, hundredths, (scores, minimumScore) => {
      const least = minimumScore - 1e-9
      const isFound = noted(scores).some(
        ({ score, seconds }) => score >= least && seconds * 1_000 >= 2 * LOOK_MS - 1e-6,
      )
      expect(isFound).toBe(isDetected(scores, minimumScore))
    }),
  )
})

test('an object seen twice is noted with the time between, and one that never moved is not', () => {
  expect(noted([0.7, 0.6, 0])).toEqual([{ label: 'deer', score: 0.7, seconds: 0.2 }])
  expect(noted([0.7])).toEqual([])
  expect(noted([0.7, 0.7, 0.7, 0.7], false)).toEqual([])
})

test('a storm of things is noted in part', () => {
  const one = [0.9, 0.9, 0.9, ...Array.from({ length: 8 }, () => 0)]
  expect(noted(Array.from({ length: 400 }, () => one).flat())).toHaveLength(300)
})
