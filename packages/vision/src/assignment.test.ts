import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { assign } from './assignment.ts'

/** The least sum over all ways to give the rows different columns, found by trying all of them. */
function leastSum(costs: number[][]): number {
  const [row, ...others] = costs
  if (!row) return 0
  const spare = costs.length > row.length ? leastSum(others) : Infinity
  return row.reduce((least, cost, column) => {
    const rest = others.map((other) => other.filter((_, index) => index !== column))
    return Math.min(least, cost + leastSum(rest))
  }, spare)
}

const sumOf = (costs: number[][], columns: Int32Array) =>
  costs.reduce((sum, row, index) => sum + (columns[index] === -1 ? 0 : row[columns[index]!]!), 0)

test('an assignment that a greedy choice would miss', () => {
  expect([...assign(Float64Array.of(1, 2, 1, 100), 2, 2)]).toEqual([1, 0])
})

test('the sum is minimal, with as many pairs as possible', () => {
  const matrices = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 })).chain(([rows, columns]) =>
    fc.array(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: columns, maxLength: columns }), {
      minLength: rows,
      maxLength: rows,
    }),
  )
  fc.assert(
    fc.property(matrices, (costs) => {
      const [rows, columns] = [costs.length, costs[0]!.length]
      const assigned = assign(Float64Array.from(costs.flat()), rows, columns)
      const taken = [...assigned].filter((column) => column !== -1)
      expect(taken.length).toBe(Math.min(rows, columns))
      expect(new Set(taken).size).toBe(taken.length)
      // Positive costs, so that the search by trial never leaves a row without a column.
      const shifted = costs.map((row) => row.map((cost) => cost + 10))
      const transposed = shifted[0]!.map((_, column) => shifted.map((row) => row[column]!))
      const best = rows <= columns ? leastSum(shifted) : leastSum(transposed)
      expect(sumOf(shifted, assigned)).toBe(best)
    }),
  )
})

test('nothing to assign', () => {
  expect([...assign(new Float64Array(0), 0, 0)]).toEqual([])
  expect([...assign(new Float64Array(0), 0, 3)]).toEqual([])
  expect([...assign(new Float64Array(0), 2, 0)]).toEqual([-1, -1])
})
