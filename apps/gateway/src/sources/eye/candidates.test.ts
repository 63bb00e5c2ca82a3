import { Tracker, type Sighting, type Track } from '@hedgerow/vision'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { camerasSettings } from '../../cameras/schema.ts'
import type { Candidate } from '../source.ts'
import { createCandidateWatch } from './candidates.ts'
import { eyeSettings } from './schema.ts'
import { TRACKING } from './tracking.ts'
import { createWanted } from './wanted.ts'

const LOOK_MS = 200
const box = { x: 0.4, y: 0.4, width: 0.2, height: 0.2 }
/** The result of one look; a score of 0 means no object. */
const sightings = (score: number): Sighting[] => (score === 0 ? [] : [{ box, label: 'deer', score }])

/** What is noted of the scores, and whether the eye makes a detection of them with this `minimumScore`. */
function follow(scores: readonly number[], minimumScore = 0.6) {
  const candidates: Candidate[] = []
  const note = createCandidateWatch((candidate) => candidates.push(candidate))
  const tracker = new Tracker(TRACKING)
  const url = 'http://127.0.0.1/'
  const camera = { ...camerasSettings.parse({ a: { url, minimumScore } })['a']!, url }
  const wanted = createWanted(camera, eyeSettings.parse({ cameras: ['a'] }), () => undefined)
  let isDetected = false
  const end = (tracks: readonly Track[]) => tracks.forEach(note)
  for (const [look, score] of scores.entries()) {
    const { seen, ended } = tracker.update(sightings(score), look * LOOK_MS)
    isDetected ||= seen.some(wanted.track)
    end(ended)
  }
  end(tracker.end())
  return { candidates, isDetected }
}

test('the noted score is the highest `minimumScore` with which the eye makes a detection of it', () => {
  const hundredths = fc.integer({ min: 10, max: 100 }).map((score) => score / 100)
  const looks = fc.array(fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: hundredths }), {
    maxLength: 30,
  })
  fc.assert(
    fc.property(looks, hundredths, (scores, minimumScore) => {
      const { candidates, isDetected } = follow(scores, minimumScore)
      const isFound = candidates.some(
        ({ score, seconds }) => score >= minimumScore && seconds * 1_000 >= 2 * LOOK_MS - 1e-6,
      )
      expect(isFound).toBe(isDetected)
    }),
  )
})

test('one lucky look makes no detection, and an object seen twice is noted with the time between', () => {
  expect(follow([0.3, 0.99, 0.3, 0.3])).toMatchObject({ isDetected: false, candidates: [{ score: 0.3 }] })
  expect(follow([0.7, 0.6]).candidates).toEqual([{ label: 'deer', score: 0.6, seconds: 0.2 }])
  expect(follow([0.7]).candidates).toEqual([])
})

test('a storm of things is noted in part', () => {
  const one = [0.9, 0.9, 0.9, ...Array.from({ length: 12 }, () => 0)]
  expect(follow(Array.from({ length: 400 }, () => one).flat()).candidates).toHaveLength(300)
})
