import { expect, test } from 'vitest'
import { createPlane, createRgbImage, lumaOf } from './image.ts'

test('luma weighs red, green and blue as BT.601, and reads no byte beyond a row', () => {
  const data = Uint8Array.of(255, 0, 0, 0, 255, 0, 99, 99, 0, 0, 255, 255, 255, 255, 99, 99)
  const luma = lumaOf({ width: 2, height: 2, stride: 8, data })
  expect([...luma.data]).toEqual([76, 149, 28, 255])
})

test('a picture needs bytes for all of its pixels, and whole ones', () => {
  expect(() => createPlane(4, 4, new Uint8Array(15))).toThrow('a picture of 4 x 4 takes 16 bytes, not 15')
  expect(() => createRgbImage(2, 2, new Uint8Array(11))).toThrow(RangeError)
  expect(() => createPlane(0, 4)).toThrow(RangeError)
  expect(() => createPlane(2.5, 4)).toThrow(RangeError)
  expect(() => createPlane(Number.NaN, 4)).toThrow(RangeError)
})
