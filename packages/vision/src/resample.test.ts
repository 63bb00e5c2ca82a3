import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPlane, createRgbImage } from './image.ts'
import { resamplePlane, resampleRgb } from './resample.ts'

const whole = ({ width, height }: { width: number; height: number }) => ({ x: 0, y: 0, width, height })

test('at the same size nothing changes', () => {
  const plane = createPlane(3, 2, Uint8Array.of(1, 2, 3, 200, 250, 255))
  expect([...resamplePlane(plane, whole(plane), 3, 2).data]).toEqual([1, 2, 3, 200, 250, 255])
})

test('shrinking is the mean of the covered area, with fractions of pixels', () => {
  const plane = createPlane(4, 2, Uint8Array.of(0, 100, 50, 50, 100, 0, 50, 250))
  expect([...resamplePlane(plane, whole(plane), 2, 1).data]).toEqual([50, 100])
  const three = createPlane(3, 1, Uint8Array.of(0, 90, 180))
  expect([...resamplePlane(three, whole(three), 2, 1).data]).toEqual([30, 150])
})

test('enlarging is linear between the middles of pixels, and repeats the outermost ones', () => {
  const plane = createPlane(2, 1, Uint8Array.of(0, 200))
  expect([...resamplePlane(plane, whole(plane), 4, 1).data]).toEqual([0, 50, 150, 200])
  expect([...resamplePlane(plane, { x: -2, y: 0, width: 6, height: 1 }, 6, 1).data]).toEqual([0, 0, 0, 200, 200, 200])
})

test('each channel by itself, and only the window of a larger picture', () => {
  const image = createRgbImage(2, 1, Uint8Array.of(10, 20, 30, 30, 40, 50))
  expect([...resampleRgb(image, whole(image), 1, 1).data]).toEqual([20, 30, 40])
  const window = { width: 1, height: 2, stride: 3, data: Uint8Array.of(7, 99, 99, 9, 99, 99) }
  expect([...resamplePlane(window, whole(window), 1, 1).data]).toEqual([8])
})

test('no result is outside the range of its source values, whatever the region', () => {
  const plane = createPlane(
    5,
    4,
    Uint8Array.from({ length: 20 }, (_, i) => 60 + i * 3),
  )
  const place = fc.double({ min: -20, max: 20, noNaN: true })
  const size = fc.double({ min: 0.1, max: 30, noNaN: true })
  fc.assert(
    fc.property(place, place, size, size, fc.integer({ min: 1, max: 9 }), (x, y, width, height, side) => {
      for (const value of resamplePlane(plane, { x, y, width, height }, side, side).data) {
        expect(value).toBeGreaterThanOrEqual(60)
        expect(value).toBeLessThanOrEqual(117)
      }
    }),
  )
})
