import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jpegSize } from './jpeg.ts'

const boar = readFileSync(join(import.meta.dirname, '../../../../scripts/demo-frames/boar.jpg'))

/** The same file with another size in its frame header. */
function claiming(width: number, height: number): Buffer {
  const copy = Buffer.from(boar)
  let at = 2
  while (![0xc0, 0xc1, 0xc2].includes(copy[at + 1]!)) at += 2 + copy.readUInt16BE(at + 2)
  copy.writeUInt16BE(height, at + 5)
  copy.writeUInt16BE(width, at + 7)
  return copy
}

test('a picture of a camera has its size', () => {
  expect(jpegSize(boar)).toEqual({ width: expect.any(Number), height: expect.any(Number) })
  expect(jpegSize(claiming(8_000, 4_000))).toEqual({ width: 8_000, height: 4_000 })
})

test.each([
  ['a start without a picture', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['half of a file', boar.subarray(0, boar.length / 2)],
  ['a page behind the first bytes of a JPEG', Buffer.concat([boar.subarray(0, 3), Buffer.from('<script>')])],
  ['a claim of 65,535 by 65,535 pixels', claiming(65_535, 65_535)],
  ['a claim of 8,000 by 8,000 pixels', claiming(8_000, 8_000)],
  ['a picture without height', claiming(640, 0)],
  ['nothing', Buffer.alloc(0)],
])('%s is none', (_what, bytes) => {
  expect(jpegSize(bytes)).toBeUndefined()
})

test('any bytes get an answer', () => {
  const pixels = (bytes: Uint8Array) => {
    const size = jpegSize(bytes)
    return size ? size.width * size.height : 1
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: boar.length }), (noise, at) => {
      const mixed = Buffer.concat([boar.subarray(0, at), noise, Buffer.from([0xff, 0xd9])])
      expect(pixels(mixed)).toBeGreaterThan(0)
      expect(pixels(mixed)).toBeLessThanOrEqual(34_000_000)
    }),
  )
})
