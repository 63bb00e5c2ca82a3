import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { contains, coveredShare, maskedCells, zonesOf, type Polygon } from './zones.ts'

const square: Polygon = [
  [0.2, 0.2],
  [0.6, 0.2],
  [0.6, 0.6],
  [0.2, 0.6],
]
/** A five-pointed star drawn in one go: its middle is crossed twice. */
const star: Polygon = [0, 2, 4, 1, 3].map((k) => {
  const turn = (k / 5) * 2 * Math.PI - Math.PI / 2
  return [0.5 + 0.4 * Math.cos(turn), 0.5 + 0.4 * Math.sin(turn)] as const
})

test('a square contains what lies between its sides, whichever way around it is drawn', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(share, share, fc.boolean(), (x, y, isReversed) => {
      const polygon = isReversed ? square.toReversed() : square
      // The border belongs to one side or the other; its points are not tested.
      fc.pre([x, y].every((value) => Math.abs(value - 0.2) > 1e-9 && Math.abs(value - 0.6) > 1e-9))
      expect(contains(polygon, { x, y })).toBe(x > 0.2 && x < 0.6 && y > 0.2 && y < 0.6)
    }),
  )
})

test('the even-odd rule: the middle of a star is outside, its points are inside', () => {
  expect(contains(star, { x: 0.5, y: 0.5 })).toBe(false)
  expect(contains(star, { x: 0.5, y: 0.2 })).toBe(true)
  expect(contains(star, { x: 0.05, y: 0.05 })).toBe(false)
})

test('fewer than three corners contain nothing', () => {
  for (const polygon of [
    [],
    [[0.5, 0.5]],
    [
      [0, 0],
      [1, 1],
    ],
  ] as Polygon[])
    expect(contains(polygon, { x: 0.5, y: 0.5 })).toBe(false)
})

test('an object is in the zones in which it stands, those down to the edge included', () => {
  const zones = {
    rows: [
      [0, 0.4],
      [1, 0.4],
      [1, 1],
      [0, 1],
    ] as const,
    left: [
      [0, 0],
      [0.5, 0],
      [0.5, 1],
      [0, 1],
    ] as const,
  }
  expect(zonesOf(zones, { x: 0.1, y: 0.1, width: 0.2, height: 0.2 })).toEqual(['left'])
  expect(zonesOf(zones, { x: 0.1, y: 0.3, width: 0.2, height: 0.2 })).toEqual(['rows', 'left'])
  expect(zonesOf(zones, { x: 0.7, y: 0.3, width: 0.2, height: 0.2 })).toEqual(['rows'])
  expect(zonesOf(zones, { x: 0.8, y: 0.7, width: 0.1, height: 0.3 })).toEqual(['rows'])
})

test('the covered share of a box', () => {
  expect(coveredShare(square, { x: 0.3, y: 0.3, width: 0.1, height: 0.1 })).toBe(1)
  expect(coveredShare(square, { x: 0.2, y: 0.2, width: 0.8, height: 0.4 })).toBe(0.5)
  expect(coveredShare(square, { x: 0.7, y: 0.7, width: 0.1, height: 0.1 })).toBe(0)
})

test('masked cells are those whose middle is in a mask', () => {
  expect([...maskedCells([square], 5, 3)]).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0])
  expect([...maskedCells([], 2, 2)]).toEqual([0, 0, 0, 0])
})
