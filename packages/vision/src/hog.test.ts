import { expect, test } from 'vitest'
import { HOG_FEATURES, hogOf } from './hog.ts'
import { createPlane, type Plane } from './image.ts'

const draw = (value: (x: number, y: number) => number): Plane => {
  const plane = createPlane(64, 64)
  for (let y = 0; y < 64; y++) for (let x = 0; x < 64; x++) plane.data[y * 64 + x] = value(x, y)
  return plane
}
/** Sums over all blocks and cells, one for each orientation. */
function orientations(plane: Plane): number[] {
  const sums = Array.from({ length: 9 }, () => 0)
  for (const [i, value] of hogOf(plane).entries()) sums[i % 9]! += value
  return sums
}
const strongest = (values: number[]) => values.indexOf(Math.max(...values))

test('1,764 numbers, each 0 to 1; none of a plain crop', () => {
  const features = hogOf(draw((x, y) => (x * y) % 256))
  expect(features).toHaveLength(HOG_FEATURES)
  expect(features.every((value) => value >= 0 && value <= 1)).toBe(true)
  expect(hogOf(draw(() => 128)).every((value) => value === 0)).toBe(true)
})

test('the orientation is that of the gradient: across an upright edge 0, across a level one 90 degrees', () => {
  const upright = orientations(draw((x) => (Math.floor(x / 8) % 2) * 100))
  // 0 degrees lies between the last and the first bin.
  expect([0, 8]).toContain(strongest(upright))
  expect(upright[0]).toBeCloseTo(upright[8]!, 3)
  expect(strongest(orientations(draw((_, y) => (Math.floor(y / 8) % 2) * 100)))).toBe(4)
  const falling = strongest(orientations(draw((x, y) => (Math.floor((x + y) / 8) % 2) * 100)))
  expect(falling).toBe(2)
})

/** Cosine of the angle between two lists of features. */
function likeness(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * y[i]!, 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

test('changes of brightness and contrast, and dark against light, change the features little', () => {
  const shape = (x: number, y: number) => (Math.hypot(x - 32, y - 32) < 18 ? 1 : 0)
  const base = hogOf(draw((x, y) => 40 + 100 * shape(x, y)))
  for (const other of [(v: number) => 90 + 100 * v, (v: number) => 40 + 60 * v, (v: number) => 140 - 100 * v]) {
    const features = hogOf(draw((x, y) => other(shape(x, y))))
    expect(likeness(features, base)).toBeGreaterThan(0.98)
  }
})

test('a shape elsewhere gives other features', () => {
  const at = (cx: number) => hogOf(draw((x, y) => (Math.hypot(x - cx, y - 32) < 12 ? 200 : 50)))
  const [left, right] = [at(20), at(44)]
  expect(likeness(left, right)).toBeLessThan(0.5)
})

test('only crops of 64 x 64', () => {
  expect(() => hogOf(createPlane(32, 64))).toThrow(RangeError)
})
