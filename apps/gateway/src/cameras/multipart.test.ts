import * as fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPartReader, delimiterOf, PART_BYTES_MAX } from './multipart.ts'

const part = (body: string | Buffer, headers = `content-length: ${body.length}\r\n`) =>
  Buffer.concat([
    Buffer.from(`--frame\r\ncontent-type: image/jpeg\r\n${headers}\r\n`),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ])
const end = Buffer.from('--frame\r\n')
const readAll = (bytes: Buffer) => createPartReader('--frame')(bytes).map(String)

test('the delimiter as cameras write it', () => {
  expect(delimiterOf('multipart/x-mixed-replace; boundary=frame')).toBe('--frame')
  expect(delimiterOf('multipart/x-mixed-replace;boundary="--my frame"')).toBe('--my frame')
  expect(delimiterOf('Multipart/X-Mixed-Replace; boundary=--frame; a=b')).toBe('--frame')
  expect(delimiterOf('image/jpeg')).toBeUndefined()
  expect(delimiterOf('multipart/x-mixed-replace')).toBeUndefined()
  expect(delimiterOf(undefined)).toBeUndefined()
})

test('the parts are the same in whatever pieces they come', () => {
  const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(bodies, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (contents, cuts) => {
      fc.pre(contents.every((content) => !Buffer.from(content).includes('--frame')))
      const stream = Buffer.concat([...contents.map((content) => part(Buffer.from(content))), end])
      const read = createPartReader('--frame')
      const found: Buffer[] = []
      for (let at = 0, cut = 0; at < stream.length; cut++) {
        const next = at + cuts[cut % cuts.length]!
        found.push(...read(stream.subarray(at, next)))
        at = next
      }
      expect(found).toEqual(contents.map((content) => Buffer.from(content)))
    }),
  )
})

test('a length that is too long or missing changes nothing; a shorter one cuts the padding off', () => {
  expect(readAll(Buffer.concat([part('abc', 'content-length: 99999999\r\n'), part('def', ''), end]))).toEqual([
    'abc',
    'def',
  ])
  expect(readAll(Buffer.concat([part('abc  ', 'content-length: 3\r\n'), end]))).toEqual(['abc'])
  expect(readAll(Buffer.concat([part('abc', 'content-length: -5\r\n'), end]))).toEqual(['abc'])
})

test('a long part is copied a few times, however many pieces it comes in', () => {
  const body = Buffer.alloc(4 * 1024 * 1024, 'x')
  const stream = Buffer.concat([part(body), end])
  const concat = vi.spyOn(Buffer, 'concat')
  const set = vi.spyOn(Uint8Array.prototype, 'set')
  onTestFinished(() => void vi.restoreAllMocks())
  const read = createPartReader('--frame')
  const found: Buffer[] = []
  for (let at = 0; at < stream.length; at += 16_384) found.push(...read(stream.subarray(at, at + 16_384)))
  const copied =
    concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0) +
    set.mock.calls.reduce((sum, [from]) => sum + from.length, 0)
  expect(found.map(({ length }) => length)).toEqual([body.length])
  expect(copied).toBeLessThan(4 * stream.length)
})

test('single bytes are joined as they come and not kept as a list', () => {
  const stream = Buffer.concat([part(Buffer.alloc(20_000, 'x')), end])
  const concat = vi.spyOn(Buffer, 'concat')
  onTestFinished(() => void vi.restoreAllMocks())
  const read = createPartReader('--frame')
  const found = Array.from(stream, (_, at) => read(stream.subarray(at, at + 1))).flat()
  expect(found.map(({ length }) => length)).toEqual([20_000])
  expect(Math.max(...concat.mock.calls.map(([pieces]) => pieces.length))).toBe(2)
})

test('a part without an end or without headers throws and does not fill the memory', () => {
  const read = createPartReader('--frame')
  read(Buffer.from('--frame\r\n\r\n'))
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  expect(() => {
    for (let i = 0; i <= PART_BYTES_MAX / chunk.length; i++) read(chunk)
  }).toThrow('it sends a picture of more than 8 MB')
  expect(() => readAll(Buffer.concat([Buffer.from('--frame'), Buffer.alloc(10_000, 'y'), end]))).toThrow(
    'it sends parts without headers',
  )
})
