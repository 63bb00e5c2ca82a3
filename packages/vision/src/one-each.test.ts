import { expect, test } from 'vitest'
import { oneEach } from './one-each.ts'
import type { Sighting } from './tracker.ts'

const WHOLE = { x: 0, y: 0, width: 1, height: 1 }
const LEFT = { x: 0, y: 0, width: 0.5, height: 1 }
const RIGHT = { x: 0.4, y: 0, width: 0.6, height: 1 }
const seen = (label: string, score: number, x: number, width = 0.1, height = 0.2, y = 0.4): Sighting => ({
  box: { x, y, width, height },
  label,
  score,
})
const scoresOf = (sightings: readonly Sighting[]) => sightings.map(({ label, score }) => `${label} ${score}`)

test('one object under two labels is one sighting, the surer one', () => {
  const found = [seen('dog', 0.6, 0.3), seen('cat', 0.7, 0.305), seen('person', 0.5, 0.8)]
  expect(scoresOf(oneEach([{ part: WHOLE, found }]))).toEqual(['cat 0.7', 'person 0.5'])
})

test('of boxes of one label within each other one stays; a box around several objects is none', () => {
  const inner = seen('person', 0.8, 0.32, 0.05, 0.1)
  expect(scoresOf(oneEach([{ part: WHOLE, found: [inner, seen('person', 0.7, 0.3)] }]))).toEqual(['person 0.7'])
  expect(scoresOf(oneEach([{ part: WHOLE, found: [inner, seen('person', 0.3, 0.3)] }]))).toEqual(['person 0.8'])
  expect(oneEach([{ part: WHOLE, found: [seen('dog', 0.8, 0.32, 0.05, 0.1), seen('person', 0.7, 0.3)] }])).toHaveLength(
    2,
  )
  const cattle = [seen('cow', 0.9, 0.3), seen('cow', 0.8, 0.45), seen('cow', 0.85, 0.28, 0.3, 0.3, 0.35)]
  expect(scoresOf(oneEach([{ part: WHOLE, found: cattle }]))).toEqual(['cow 0.9', 'cow 0.8'])
})

test('an object that is cut off at the edge of a part is the whole one of another part', () => {
  const cut = seen('boar', 0.9, 0.42, 0.08)
  const whole = seen('boar', 0.6, 0.42, 0.16)
  const looks = [
    { part: LEFT, found: [cut] },
    { part: RIGHT, found: [whole] },
  ]
  expect(scoresOf(oneEach(looks))).toEqual(['boar 0.6'])
  // At the edge of the picture nothing goes on.
  expect(scoresOf(oneEach([{ part: LEFT, found: [seen('boar', 0.9, 0, 0.08)] }]))).toEqual(['boar 0.9'])
})
