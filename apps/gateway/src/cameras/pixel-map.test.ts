import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPixelMapReader } from './pixel-map.ts'

const picture = (width: number, height: number, value: number) =>
  Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), Buffer.alloc(width * height * 3, value)])

test('pictures of changing sizes come out whole, in whatever pieces they come', () => {
  const side = fc.integer({ min: 1, max: 20 })
  const sizes = fc.array(fc.tuple(side, side), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(sizes, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (wanted, cuts) => {
      const stream = Buffer.concat(wanted.map(([width, height], i) => picture(width, height, i + 60)))
      const read = createPixelMapReader()
      const found = []
      for (let at = 0, cut = 0; at < stream.length; cut++) {
        const next = at + cuts[cut % cuts.length]!
        found.push(...read(stream.subarray(at, next)))
        at = next
      }
      expect(found.map(({ width, height, data }) => [width, height, data.length, data[0]])).toEqual(
        wanted.map(([width, height], i) => [width, height, width * height * 3, i + 60]),
      )
    }),
  )
})

test('bytes that are no picture, or a huge one, throw', () => {
  expect(() => createPixelMapReader()(Buffer.alloc(100, 'x'))).toThrow('FFmpeg gives no pictures')
  expect(() => createPixelMapReader()(Buffer.from(`P6\n99999 99999\n255\n${'x'.repeat(50)}`))).toThrow('99999 x 99999')
  expect(() => createPixelMapReader()(Buffer.from(`P6\n0 5\n255\n${'x'.repeat(50)}`))).toThrow('0 x 5')
})
