import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Aead } from '../crypto.ts'
import { nodeAead } from './node-aead.ts'
import { fastestAead, nativeAead } from './native-aead.ts'

const hex = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString('hex'))

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const counter = fc.oneof(fc.nat(), fc.maxSafeNat())
const data = fc.oneof(fc.uint8Array({ maxLength: 80 }), fc.uint8Array({ maxLength: 2000, size: 'max' }))
/** Limbs of Poly1305 that are all ones or all zeros are where its carries and its last subtraction go wrong. */
const edgy = fc.array(fc.constantFrom(0, 0xff, 0xfb, 0x7f), { maxLength: 200 }).map((bytes) => Uint8Array.from(bytes))
const ad = fc.uint8Array({ maxLength: 200 })
function sealed(aead: typeof nodeAead, ...[k, n, plaintext, a]: [Uint8Array, number, Uint8Array, Uint8Array]) {
  const out = new Uint8Array(plaintext.length + 16)
  aead.seal(k, n, plaintext, a, out)
  return out
}

/** The plaintext, or undefined when the tag is wrong, and then the memory for it stays as it was. */
function opened(aead: Aead, k: Uint8Array, n: number, message: Uint8Array, a: Uint8Array): Uint8Array | undefined {
  const out = new Uint8Array(message.length - 16).fill(0xa5)
  if (aead.open(k, n, message, a, out)) return out
  expect(out.every((byte) => byte === 0xa5)).toBe(true)
  return undefined
}

test.runIf(process.platform === 'linux' && /^(x64|arm64)$/.test(process.arch))(
  'this machine has the native calls',
  () => {
    expect(nativeAead()).toBeDefined()
  },
)

describe('what is used beside node:crypto', () => {
  const aead = fastestAead
  const aeads = fc.constantFrom([nodeAead, aead] as const, [aead, nodeAead] as const)

  test('both seal to the same bytes, and each opens what the other sealed', () => {
    fc.assert(
      fc.property(key, counter, fc.oneof(data, edgy), ad, aeads, (k, n, plaintext, a, [one, other]) => {
        const message = sealed(one, k, n, plaintext, a)
        expect(hex(message)).toBe(hex(sealed(other, k, n, plaintext, a)))
        expect(hex(opened(other, k, n, message, a))).toBe(hex(plaintext))
      }),
      { numRuns: 1500 },
    )
  })

  test('sealing in place gives the same bytes', () => {
    fc.assert(
      fc.property(key, counter, data, ad, fc.constantFrom(nodeAead, aead), (k, n, plaintext, a, either) => {
        const message = new Uint8Array(plaintext.length + 16)
        message.set(plaintext)
        either.seal(k, n, message.subarray(0, plaintext.length), a, message)
        expect(hex(message)).toBe(hex(sealed(nodeAead, k, n, plaintext, a)))
      }),
    )
  })

  test('opening in place gives the plaintext, and changes nothing when the tag is wrong', () => {
    fc.assert(
      fc.property(key, counter, data, ad, fc.constantFrom(nodeAead, aead), (k, n, plaintext, a, either) => {
        const message = sealed(nodeAead, k, n, plaintext, a)
        const untouched = hex(message)
        expect(either.open(k, n + 1, message, a, message.subarray(0, plaintext.length))).toBe(false)
        expect(hex(message)).toBe(untouched)
        expect(either.open(k, n, message, a, message.subarray(0, plaintext.length))).toBe(true)
        expect(hex(message.subarray(0, plaintext.length))).toBe(hex(plaintext))
      }),
    )
  })

  test('every length from nothing to 2,000 bytes', () => {
    const k = Uint8Array.from({ length: 32 }, (_, i) => i * 7)
    const whole = Uint8Array.from({ length: 2000 }, (_, i) => i % 251)
    const none = new Uint8Array(0)
    for (let length = 0; length <= whole.length; length++) {
      const message = sealed(aead, k, length, whole.subarray(0, length), none)
      expect(Buffer.compare(message, sealed(nodeAead, k, length, whole.subarray(0, length), none))).toBe(0)
      expect(Buffer.compare(opened(aead, k, length, message, none) ?? none, whole.subarray(0, length))).toBe(0)
    }
  })

  test('whatever bit is changed, both refuse, and neither then refuses the truth', () => {
    fc.assert(
      fc.property(key, counter, data, ad, fc.nat(), fc.nat(7), (k, n, plaintext, a, at, bit) => {
        const message = sealed(aead, k, n, plaintext, a)
        const forged = Uint8Array.from(message)
        const offset = at % forged.length
        forged[offset] = (forged[offset] ?? 0) ^ (1 << bit)
        expect(opened(aead, k, n, forged, a)).toBeUndefined()
        expect(opened(nodeAead, k, n, forged, a)).toBeUndefined()
        expect(opened(aead, k, n, message, Uint8Array.from([...a, 0]))).toBeUndefined()
        expect(opened(aead, k, n === 0 ? 1 : n - 1, message, a)).toBeUndefined()
        expect(hex(opened(aead, k, n, message, a))).toBe(hex(plaintext))
      }),
      { numRuns: 500 },
    )
  })

  test('every bit of the tag counts', () => {
    const k = new Uint8Array(32).fill(3)
    const none = new Uint8Array(0)
    const message = sealed(aead, k, 1, Uint8Array.of(1, 2, 3), none)
    for (let bit = 0; bit < 128; bit++) {
      const forged = Uint8Array.from(message)
      const at = 3 + (bit >> 3)
      forged[at] = (forged[at] ?? 0) ^ (1 << (bit & 7))
      expect(opened(aead, k, 1, forged, none)).toBeUndefined()
    }
  })

  test('data larger than the native memory is sealed and opened too', () => {
    const k = new Uint8Array(32).fill(9)
    const none = new Uint8Array(0)
    for (const length of [65_535, 65_536, 200_000]) {
      const plaintext = new Uint8Array(length).fill(length)
      const message = sealed(aead, k, 1, plaintext, none)
      expect(Buffer.compare(message, sealed(nodeAead, k, 1, plaintext, none))).toBe(0)
      expect(Buffer.compare(opened(aead, k, 1, message, none) ?? none, plaintext)).toBe(0)
    }
  })
})
