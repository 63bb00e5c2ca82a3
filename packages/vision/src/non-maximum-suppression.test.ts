import { expect, test } from 'vitest'
import { suppressNonMaxima } from './non-maximum-suppression.ts'

const at = (x: number, score: number, classIndex = 0) => ({
  box: { x, y: 0, width: 0.2, height: 0.2 },
  score,
  classIndex,
})

test('of boxes at one place the surest stays, each class by itself', () => {
  const candidates = [at(0, 0.5), at(0.01, 0.9), at(0.02, 0.7, 1), at(0.6, 0.3)]
  expect(suppressNonMaxima(candidates)).toEqual([candidates[1], candidates[2], candidates[3]])
})

test('a suppressed box suppresses nothing itself', () => {
  const candidates = [at(0, 0.9), at(0.06, 0.8), at(0.12, 0.7)]
  expect(suppressNonMaxima(candidates, 0.4)).toEqual([candidates[0], candidates[2]])
})

test('the limit is exclusive', () => {
  const candidates = [at(0, 0.9), at(0.1, 0.8)]
  expect(suppressNonMaxima(candidates, 0.34)).toEqual(candidates)
  expect(suppressNonMaxima(candidates, 0.3)).toEqual([candidates[0]])
})
