import { expect, test } from 'vitest'
import { LayoutError } from '../layouts/tensor.ts'
import { pooled } from './pooled.ts'

/** Two by two places with two features each. */
const map = { data: Float32Array.from([4, 0, 0, 9, 0, 0, NaN, -1]), shape: [1, 2, 2, 2] }

test('the features of a box are those of the places that it covers, weighed, at length 1', () => {
  expect([...pooled(map, { x: 0, y: 0, width: 0.5, height: 0.5 })]).toEqual([1, 0])
  const [first, second] = pooled(map, { x: 0.25, y: 0, width: 0.5, height: 0.5 })
  expect([first! / second!, Math.hypot(first!, second!)]).toEqual([expect.closeTo(2 / 3), expect.closeTo(1)])
})

test('a box beside the map, and numbers that are none, give nothing; another shape is refused', () => {
  expect([...pooled(map, { x: 2, y: 2, width: 1, height: 1 })]).toEqual([0, 0])
  expect([...pooled(map, { x: 0.5, y: 0.5, width: 0.5, height: 0.5 })]).toEqual([0, 0])
  expect(() => pooled({ ...map, shape: [1, 8] }, { x: 0, y: 0, width: 1, height: 1 })).toThrow(LayoutError)
})
