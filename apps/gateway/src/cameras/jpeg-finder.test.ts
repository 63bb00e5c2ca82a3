import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { jpegSize } from '../kernel/jpeg.ts'
import { CameraError } from './camera-error.ts'
import { createJpegFinder, PICTURE_BYTES_MAX, type FoundJpeg } from './jpeg-finder.ts'

const folder = join(import.meta.dirname, '../../../../scripts/demo-frames')
const [boar, fox] = ['boar', 'fox'].map((name) => readFileSync(join(folder, `${name}.jpg`))) as [Buffer, Buffer]
const HEAD = Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2])
const END = Buffer.from([0xff, 0xd9])

function find(stream: Buffer, lengths: readonly number[]): FoundJpeg[] {
  const finder = createJpegFinder()
  const found: FoundJpeg[] = []
  for (let at = 0, piece = 0; at < stream.length; piece++) {
    const next = at + lengths[piece % lengths.length]!
    found.push(...finder.take(stream.subarray(at, next)))
    at = next
  }
  return [...found, ...finder.rest()]
}

test('the pictures are the same in whatever pieces they come, and whatever stands between them', () => {
  const between = fc.uint8Array({ maxLength: 60 }).filter((noise) => !Buffer.from(noise).includes(0xff))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(between, fc.constantFrom(boar, fox)), { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 20 }),
      (parts, lengths) => {
        const stream = Buffer.concat(parts.flatMap(([noise, jpeg]) => [Buffer.from(noise), jpeg]))
        expect(find(stream, lengths)).toEqual(parts.map(([, jpeg]) => ({ jpeg, isCut: false })))
      },
    ),
    { numRuns: 50 },
  )
})

test('any bytes after a picture end, and the next picture but one is found', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: boar.length }), (noise, at) => {
      // A wrong length of a segment swallows 64 KiB at most.
      const rest = Buffer.concat([Buffer.alloc(65_536), fox])
      const found = find(Buffer.concat([boar.subarray(0, at), noise, rest]), [1_000])
      expect(found.at(-1)).toEqual({ jpeg: fox, isCut: false })
    }),
  )
})

test('a picture without an end marker gets one, and loses the headers of the next part', () => {
  const open = boar.subarray(0, -2)
  const between = Buffer.from('\r\n--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 1\r\n\r\n')
  for (const length of [1, 7, 100_000])
    expect(find(Buffer.concat([open, between, open, between, fox]), [length])).toEqual([
      { jpeg: boar, isCut: true },
      { jpeg: boar, isCut: true },
      { jpeg: fox, isCut: false },
    ])
  expect(jpegSize(find(Buffer.concat([open, Buffer.from([0xff])]), [10])[0]!.jpeg)).toEqual(jpegSize(boar))
})

test('a long picture is copied a few times, however many pieces it comes in', () => {
  const body = Buffer.concat([HEAD, Buffer.alloc(4 * 1024 * 1024, 'x'), END])
  const set = vi.spyOn(Uint8Array.prototype, 'set')
  onTestFinished(() => void vi.restoreAllMocks())
  const found = find(body, [16_384])
  const copied = set.mock.calls.reduce((sum, [from]) => sum + from.length, 0)
  expect(found.map(({ jpeg }) => jpeg.length)).toEqual([body.length])
  expect(copied).toBeLessThan(4 * body.length)
})

test('a picture without an end throws and does not fill the memory', () => {
  const finder = createJpegFinder()
  finder.take(HEAD)
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  expect(() => {
    for (let i = 0; i <= PICTURE_BYTES_MAX / chunk.length; i++) finder.take(chunk)
  }).toThrow('it sends a picture of more than 8 MB')
})

test.each([
  ['beginnings in beginnings', Buffer.from('ffd8ffe1ffff', 'hex')],
  ['fill bytes', Buffer.from([0xff])],
  ['fill bytes in scans', Buffer.from(`ffda0002${'ff'.repeat(60)}00`, 'hex')],
  ['cut pictures', Buffer.from('ffd8ff00', 'hex')],
  ['empty segments', Buffer.from('ffe00002', 'hex')],
])('a second of the fastest hostile camera takes no second: %s', (_what, pattern) => {
  const bytes = Buffer.concat([HEAD.subarray(0, 2), Buffer.alloc(7 * 1024 * 1024, pattern)])
  const begun = performance.now()
  try {
    createJpegFinder().take(bytes)
  } catch (error) {
    if (!(error instanceof CameraError)) throw error
  }
  // A reader that looked at bytes again and again would take minutes.
  expect(performance.now() - begun).toBeLessThan(10_000)
})
