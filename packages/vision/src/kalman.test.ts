import { expect, test } from 'vitest'
import type { Box } from './box.ts'
import { BoxFilter } from './kalman.ts'

type Matrix = number[][]
const times = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) => b[0]!.map((_, column) => row.reduce((sum, value, k) => sum + value * b[k]![column]!, 0)))
const plus = (a: Matrix, b: Matrix, sign = 1): Matrix => a.map((row, i) => row.map((v, j) => v + sign * b[i]![j]!))
const transposed = (a: Matrix): Matrix => a[0]!.map((_, column) => a.map((row) => row[column]!))
const diagonal = (values: number[]): Matrix => values.map((value, i) => values.map((_, j) => (i === j ? value : 0)))

/** The same filter as in the papers: eight states, whole matrices, noise for one frame at a time. */
function eightStateFilter(first: number[]) {
  const noise = (position: number, velocity: number) => [
    ...[0, 1, 2, 3].map((i) => (position * state[i < 2 ? i + 2 : i]![0]!) ** 2),
    ...[0, 1, 2, 3].map((i) => (velocity * state[i < 2 ? i + 2 : i]![0]!) ** 2),
  ]
  let state: Matrix = [...first, 0, 0, 0, 0].map((value) => [value])
  let covariance = diagonal(noise(2 / 20, 10 / 160))
  const step = diagonal(Array.from({ length: 8 }, () => 1))
  for (let i = 0; i < 4; i++) step[i]![i + 4] = 1
  const seen = diagonal(Array.from({ length: 8 }, () => 1)).slice(0, 4)
  return {
    predict() {
      const process = diagonal(noise(1 / 20, 1 / 160))
      state = times(step, state)
      covariance = plus(times(times(step, covariance), transposed(step)), process)
      return state.slice(0, 4).flat()
    },
    correct(measured: number[]) {
      const total = plus(times(times(seen, covariance), transposed(seen)), diagonal(noise(1 / 20, 0).slice(0, 4)))
      // `total` is diagonal, so its inverse is one of numbers.
      const gain = times(times(covariance, transposed(seen)), diagonal(total.map((row, i) => 1 / row[i]!)))
      const innovation = plus(
        measured.map((value) => [value]),
        times(seen, state),
        -1,
      )
      state = plus(state, times(gain, innovation))
      covariance = plus(covariance, times(times(gain, seen), covariance), -1)
      return state.slice(0, 4).flat()
    },
  }
}

const boxOf = ([x, y, width, height]: number[]): Box => ({
  x: x! - width! / 2,
  y: y! - height! / 2,
  width: width!,
  height: height!,
})

test('four filters of two states give the numbers of one of eight', () => {
  const measurements = Array.from({ length: 12 }, (_, i) => [
    0.2 + 0.01 * i + 0.003 * (i % 3),
    0.5,
    0.2,
    0.1 + 0.002 * i,
  ])
  const ours = new BoxFilter(boxOf(measurements[0]!), 0)
  const theirs = eightStateFilter(measurements[0]!)
  for (const [i, measured] of measurements.entries()) {
    const expected = boxOf(theirs.predict())
    const predicted = ours.predict(((i + 1) * 1_000) / 30)
    for (const key of ['x', 'y', 'width', 'height'] as const) expect(predicted[key]).toBeCloseTo(expected[key], 10)
    const corrected = boxOf(theirs.correct(measured))
    ours.correct(boxOf(measured))
    for (const key of ['x', 'y', 'width', 'height'] as const) expect(ours.box[key]).toBeCloseTo(corrected[key], 10)
  }
})

test('it learns a velocity and moves the box while nothing is seen, whatever the frame rate', () => {
  for (const frameMs of [33, 200, 500]) {
    const at = (now: number) => boxOf([0.1 + (0.2 * now) / 1_000, 0.5, 0.1, 0.1])
    const filter = new BoxFilter(at(0), 0)
    for (let now = frameMs; now <= 2_000; now += frameMs) {
      filter.predict(now)
      filter.correct(at(now))
    }
    expect(filter.predict(2_500).x).toBeCloseTo(at(2_500).x, 1)
    expect(Math.abs(filter.box.x - at(2_500).x)).toBeLessThan(0.02)
  }
})

test('a box never loses its sides, and a clock that stands still moves nothing', () => {
  const filter = new BoxFilter({ x: 0.5, y: 0.5, width: 0, height: 0 }, 1_000)
  expect(filter.predict(1_000)).toEqual(filter.box)
  expect(filter.predict(900)).toEqual(filter.box)
  filter.correct({ x: 0.5, y: 0.5, width: 0, height: 0 })
  expect(filter.predict(60_000).width).toBeGreaterThan(0)
  expect(filter.box.height).toBeGreaterThan(0)
})
