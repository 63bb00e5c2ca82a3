import { expect, test } from 'vitest'
import { equalBytes } from './crypto.ts'

/** Counts how often a byte of `bytes` is read. */
function counting(bytes: Uint8Array): { bytes: Uint8Array; reads(): number } {
  let reads = 0
  const proxy = new Proxy(bytes, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++
      return Reflect.get(target, key, target)
    },
  })
  return { bytes: proxy, reads: () => reads }
}

test('a comparison reads every byte, wherever the first difference is', () => {
  const secret = Uint8Array.from({ length: 16 }, (_, i) => i)
  for (let differsAt = 0; differsAt <= secret.length; differsAt++) {
    const guess = Uint8Array.from(secret)
    if (differsAt < guess.length) guess[differsAt] = 0xff
    const [one, other] = [counting(secret), counting(guess)]
    expect(equalBytes(one.bytes, other.bytes)).toBe(differsAt === secret.length)
    expect([one.reads(), other.reads()]).toEqual([16, 16])
  }
})

test('arrays of different lengths are not equal', () => {
  expect(equalBytes(new Uint8Array(16), new Uint8Array(15))).toBe(false)
})
