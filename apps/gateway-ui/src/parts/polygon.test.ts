import fc from 'fast-check'
import { expect, test } from 'vitest'
import { insertCorner, middleOf, moveCorner, newPolygon, removeCorner, type Polygon } from './polygon.ts'

const triangle: Polygon = [
  [0, 0],
  [1, 0],
  [1, 0.5],
]

test('a corner moves to a thousandth, and no farther than the edge of the picture', () => {
  expect(moveCorner(triangle, 1, [0.51239, 0.25])).toEqual([
    [0, 0],
    [0.512, 0.25],
    [1, 0.5],
  ])
  expect(moveCorner(triangle, 0, [-3, 1.2])[0]).toEqual([0, 1])
})

test('a corner is added halfway to the next, the last joined to the first, up to 100', () => {
  expect(insertCorner(triangle, 2)).toEqual([...triangle, [0.5, 0.25]])
  const most: Polygon = Array.from({ length: 100 }, (_, index) => [index / 100, 0.5])
  expect(insertCorner(most, 0)).toBe(most)
})

test('a polygon keeps three corners', () => {
  expect(removeCorner(triangle, 1)).toBe(triangle)
  expect(removeCorner(insertCorner(triangle, 0), 1)).toEqual(triangle)
})

test('after any edits, gateway.yaml accepts the polygon', () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('move' as const),
      at: fc.nat(),
      to: fc.tuple(fc.double({ noNaN: true }), fc.double({ noNaN: true })),
    }),
    fc.record({ do: fc.constantFrom('insert' as const, 'remove' as const), at: fc.nat() }),
  )
  fc.assert(
    fc.property(fc.nat(20), fc.array(step, { maxLength: 60 }), (others, steps) => {
      let polygon = newPolygon(others)
      for (const one of steps) {
        const at = one.at % polygon.length
        if (one.do === 'move') polygon = moveCorner(polygon, at, one.to)
        else polygon = one.do === 'insert' ? insertCorner(polygon, at) : removeCorner(polygon, at)
      }
      expect(polygon.length).toBeGreaterThanOrEqual(3)
      expect(polygon.length).toBeLessThanOrEqual(100)
      for (const share of [...polygon, middleOf(polygon, 0)].flat()) {
        expect(share).toBeGreaterThanOrEqual(0)
        expect(share).toBeLessThanOrEqual(1)
      }
    }),
  )
})
