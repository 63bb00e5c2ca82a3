import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { areaOf, centreOf, clipToPicture, footOf, growBy, intersectionOf, overlapOf, type Box } from './box.ts'

const side = fc.double({ min: -1, max: 2, noNaN: true })
const length = fc.double({ min: 0.001, max: 2, noNaN: true })
const boxes = fc.record({ x: side, y: side, width: length, height: length })

const box = (x: number, y: number, width: number, height: number): Box => ({ x, y, width, height })

test('intersection over union, by hand', () => {
  expect(overlapOf(box(0, 0, 0.2, 0.2), box(0.1, 0, 0.2, 0.2))).toBeCloseTo(1 / 3)
  expect(overlapOf(box(0, 0, 0.2, 0.2), box(0.2, 0, 0.2, 0.2))).toBe(0)
  expect(overlapOf(box(0, 0, 0.4, 0.4), box(0.1, 0.1, 0.2, 0.2))).toBeCloseTo(0.25)
  expect(overlapOf(box(0.5, 0.5, 0, 0), box(0.5, 0.5, 0, 0))).toBe(0)
})

test('overlap is symmetric, 1 only with itself, and within 0 and 1', () => {
  fc.assert(
    fc.property(boxes, boxes, (a, b) => {
      expect(overlapOf(a, b)).toBe(overlapOf(b, a))
      expect(overlapOf(a, b)).toBeGreaterThanOrEqual(0)
      expect(overlapOf(a, b)).toBeLessThanOrEqual(1)
      expect(overlapOf(a, a)).toBeCloseTo(1)
    }),
  )
})

test('the intersection is in each', () => {
  fc.assert(
    fc.property(boxes, boxes, (a, b) => {
      expect(intersectionOf(a, b)).toBeLessThanOrEqual(Math.min(areaOf(a), areaOf(b)) * (1 + 1e-9))
    }),
  )
})

test('a clipped box is inside the picture and loses only what was outside', () => {
  fc.assert(
    fc.property(boxes, (whole) => {
      const clipped = clipToPicture(whole)
      expect(clipped.x).toBeGreaterThanOrEqual(0)
      expect(clipped.y).toBeGreaterThanOrEqual(0)
      expect(clipped.x + clipped.width).toBeLessThanOrEqual(1 + 1e-12)
      expect(clipped.y + clipped.height).toBeLessThanOrEqual(1 + 1e-12)
      expect(areaOf(clipped)).toBeCloseTo(intersectionOf(whole, box(0, 0, 1, 1)))
    }),
  )
})

test('a box grows about its centre; its foot is the middle of its lower edge', () => {
  const grown = growBy(box(0.4, 0.4, 0.2, 0.1), 0.5)
  expect(centreOf(grown).x).toBeCloseTo(0.5)
  expect(centreOf(grown).y).toBeCloseTo(0.45)
  expect([grown.width, grown.height]).toEqual([0.4, 0.2])
  expect(footOf(box(0.4, 0.4, 0.2, 0.1))).toEqual({ x: 0.5, y: 0.5 })
})
