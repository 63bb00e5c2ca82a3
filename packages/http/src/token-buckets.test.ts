import { describe, expect, it } from 'vitest'
import { createBuckets } from './token-buckets.ts'

const RATE = { burst: 3, perSecond: 2 }
const one = [{ key: 'one', share: 1 }]

function taken(buckets: ReturnType<typeof createBuckets>, keys: typeof one, now: number): number {
  let count = 0
  while (buckets.waitMs(keys, now) === 0) {
    buckets.add(keys, -1)
    count++
  }
  return count
}

describe('token buckets', () => {
  it('allow a burst, then the rate, and say how long to wait', () => {
    const buckets = createBuckets(RATE, 10)
    expect(taken(buckets, one, 0)).toBe(3)
    expect(buckets.waitMs(one, 0)).toBe(500)
    expect(taken(buckets, one, 1_000)).toBe(2)
    expect(taken(buckets, one, 1_000_000)).toBe(3)
  })

  it('are separate for each key, and larger with a share', () => {
    const buckets = createBuckets(RATE, 10)
    expect(taken(buckets, one, 0)).toBe(3)
    expect(taken(buckets, [{ key: 'other', share: 2 }], 0)).toBe(6)
  })

  it('keep their tokens when the clock is set back', () => {
    const buckets = createBuckets(RATE, 10)
    expect(taken(buckets, one, 1_000_000)).toBe(3)
    expect(taken(buckets, one, 0)).toBe(0)
    expect(taken(buckets, one, 500)).toBe(1)
  })

  it('drop the key used least recently above the capacity', () => {
    const buckets = createBuckets(RATE, 1)
    expect(taken(buckets, one, 0)).toBe(3)
    expect(taken(buckets, [{ key: 'other', share: 1 }], 0)).toBe(3)
    expect(taken(buckets, one, 0)).toBe(3)
  })
})
