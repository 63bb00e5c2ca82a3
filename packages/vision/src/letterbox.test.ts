import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRgbImage } from './image.ts'
import { drawLetterboxed, letterboxOf, toSource, toTarget } from './letterbox.ts'

const pixels = fc.integer({ min: 1, max: 4_096 })
const sizes = fc.record({ width: pixels, height: pixels })
const targets = fc.constantFrom({ width: 416, height: 416 }, { width: 640, height: 640 }, { width: 640, height: 384 })
const fits = fc.constantFrom('top-left' as const, 'centre' as const, 'stretch' as const)
const share = fc.double({ min: 0, max: 1, noNaN: true })
const boxes = fc.record({ x: share, y: share, width: share, height: share })

test('a wide and a high picture, by hand', () => {
  const target = { width: 416, height: 416 }
  expect(letterboxOf({ width: 1_920, height: 1_080 }, target, 'top-left')).toEqual({
    target,
    left: 0,
    top: 0,
    width: 416,
    height: 234,
  })
  expect(letterboxOf({ width: 1_080, height: 1_920 }, target, 'centre')).toEqual({
    target,
    left: 91,
    top: 0,
    width: 234,
    height: 416,
  })
})

test('the picture is inside the target, touches two of its sides, and keeps its shape to half a pixel', () => {
  fc.assert(
    fc.property(sizes, targets, fits, (source, target, fit) => {
      const { left, top, width, height } = letterboxOf(source, target, fit)
      expect(left).toBeGreaterThanOrEqual(0)
      expect(top).toBeGreaterThanOrEqual(0)
      expect(left + width).toBeLessThanOrEqual(target.width)
      expect(top + height).toBeLessThanOrEqual(target.height)
      expect(width === target.width || height === target.height).toBe(true)
      const scale = Math.min(target.width / source.width, target.height / source.height)
      const isKept = (drawn: number, original: number) =>
        drawn === Math.max(1, drawn) && Math.abs(drawn - Math.max(1, original * scale)) <= 0.5
      expect(fit === 'stretch' || (isKept(width, source.width) && isKept(height, source.height))).toBe(true)
    }),
  )
})

test('a box comes back from the target where it was in the source, at every shape', () => {
  fc.assert(
    fc.property(sizes, targets, fits, boxes, (source, target, fit, box) => {
      const letterbox = letterboxOf(source, target, fit)
      const back = toSource(letterbox, toTarget(letterbox, box))
      for (const key of ['x', 'y', 'width', 'height'] as const) expect(back[key]).toBeCloseTo(box[key], 9)
    }),
  )
})

test('the drawn picture is where the coordinates say, to a pixel, and the rest is grey', () => {
  const side = fc.integer({ min: 1, max: 90 })
  fc.assert(
    fc.property(fc.record({ width: side, height: side }), fits, (source, fit) => {
      const image = createRgbImage(source.width, source.height)
      image.data.fill(255)
      const target = { width: 48, height: 32 }
      const letterbox = letterboxOf(source, target, fit)
      const drawn = drawLetterboxed(image, letterbox)
      const whole = toTarget(letterbox, { x: 0, y: 0, width: 1, height: 1 })
      const isInside = (x: number, y: number) =>
        x + 0.5 > whole.x * 48 &&
        x + 0.5 < (whole.x + whole.width) * 48 &&
        y + 0.5 > whole.y * 32 &&
        y + 0.5 < (whole.y + whole.height) * 32
      for (let y = 0; y < 32; y++)
        for (let x = 0; x < 48; x++) expect(drawn.data[y * drawn.stride + x * 3]).toBe(isInside(x, y) ? 255 : 114)
    }),
    { numRuns: 40 },
  )
})
