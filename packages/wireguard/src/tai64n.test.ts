import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTimestamps, isLater } from './tai64n.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('1970 began at TAI64 label 2^62 + 10', () => {
  expect(hex(createTimestamps()(0))).toBe('400000000000000a00000000')
})

test('the low 24 bits of the nanoseconds are not told', () => {
  expect(hex(createTimestamps()(1_700_000_000_487))).toBe('400000006553f10a1d000000')
})

test('seconds past 2^32 carry into the high word', () => {
  expect(hex(createTimestamps()((2 ** 32 - 10) * 1000))).toBe('400000010000000000000000')
})

test('a clock that stands still still counts up', () => {
  const next = createTimestamps()
  expect([next(1000), next(1000), next(1001)].map(hex)).toEqual([
    '400000000000000b00000000',
    '400000000000000b00000001',
    '400000000000000b00000002',
  ])
})

test('every timestamp is later than the one before, wherever the clock goes', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 4e12, noNaN: true }), { minLength: 2 }), (clock) => {
      const next = createTimestamps()
      const stamps = clock.map(next)
      for (let i = 1; i < stamps.length; i++) {
        expect(isLater(stamps[i]!, stamps[i - 1]!)).toBe(true)
        expect(isLater(stamps[i - 1]!, stamps[i]!)).toBe(false)
        expect(Buffer.from(stamps[i]!).readUInt32BE(8)).toBeLessThan(1e9)
      }
    }),
  )
})

test('a timestamp is not later than itself', () => {
  const stamp = createTimestamps()(5)
  expect(isLater(stamp, stamp)).toBe(false)
})
