import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { hchacha20, nodeCrypto, portableCrypto } from './crypto.ts'
import { nativeHandshakeCrypto } from './native-handshake.ts'
import { kdf1, kdf2, kdf3 } from '../noise.ts'

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))
const hex = (value: Uint8Array | undefined) => (value === undefined ? undefined : Buffer.from(value).toString('hex'))
const ascii = (text: string) => new TextEncoder().encode(text)
const counting = Uint8Array.from({ length: 32 }, (_, i) => i)

test('BLAKE2s-256 (RFC 7693, appendix B), in one part or two', () => {
  const expected = '508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982'
  expect(hex(nodeCrypto.hash(ascii('abc'), ascii('')))).toBe(expected)
  expect(hex(nodeCrypto.hash(ascii('a'), ascii('bc')))).toBe(expected)
})

test('keyed BLAKE2s of 16 bytes (computed by Python hashlib)', () => {
  expect(hex(nodeCrypto.mac(counting, ascii('')))).toBe('9536f9b267655743dee97b8a670f9f53')
  expect(hex(nodeCrypto.mac(counting, ascii('abc')))).toBe('61ba5f165c194692e09d12520cc4c74a')
})

test('KDF1, KDF2 and KDF3 (computed by Python hmac)', () => {
  const expected = [
    'c67e0b211ebf48c12c6d41da8fcee207d4c325a8c30f054d97401b14ed212f9f',
    '923b032867c597d1df124053325e553b104bf3b76180a46e0c21b44001ec50f6',
    '73e5eae9c5d230ea6becb29ab8a49f627aff1eb27586b938a71ae090d4c7a184',
  ]
  expect(kdf3(nodeCrypto, counting, ascii('abc')).map(hex)).toEqual(expected)
  expect(kdf2(nodeCrypto, counting, ascii('abc')).map(hex)).toEqual(expected.slice(0, 2))
  expect(kdf1(nodeCrypto, counting, ascii('abc')).map(hex)).toEqual(expected.slice(0, 1))
})

test('X25519, a thousand times over (RFC 7748 §5.2)', () => {
  let scalar = bytes(`09${'00'.repeat(31)}`)
  let point = scalar
  let first: string | undefined
  for (let i = 1; i <= 1000; i++) {
    const result = nodeCrypto.dh(scalar, point) ?? new Uint8Array()
    point = scalar
    scalar = Uint8Array.from(result)
    first ??= hex(scalar)
  }
  expect(first).toBe('422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079')
  expect(hex(scalar)).toBe('684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51')
})

test('the counter fills the last eight nonce bytes, past 32 bits too (computed by Python cryptography)', () => {
  const out = new Uint8Array(21)
  nodeCrypto.seal(counting, 2 ** 32 + 1, ascii('hello'), ascii('ad'), out)
  expect(hex(out)).toBe('37054e45147d07cba9af76f8f0f35f0be39f937a78')
  const plaintext = new Uint8Array(5)
  expect(nodeCrypto.open(counting, 2 ** 32, out, ascii('ad'), plaintext)).toBe(false)
  expect(nodeCrypto.open(counting, 2 ** 32 + 1, out, ascii('da'), plaintext)).toBe(false)
  expect(nodeCrypto.open(counting, 2 ** 32 + 1, out, ascii('ad'), plaintext)).toBe(true)
  expect(plaintext).toEqual(ascii('hello'))
})

test('HChaCha20 (draft-irtf-cfrg-xchacha-03 §2.2.1)', () => {
  const expected = '82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc'
  expect(hex(hchacha20(counting, bytes('000000090000004a0000000031415927')))).toBe(expected)
})

test('XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03 appendix A.3.1)', () => {
  const plaintext = ascii(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would " +
      'be it.',
  )
  const key = counting.map((byte) => byte + 0x80)
  const nonce = Uint8Array.from({ length: 24 }, (_, i) => 0x40 + i)
  const ad = bytes('50515253c0c1c2c3c4c5c6c7')
  const sealed = nodeCrypto.xseal(key, nonce, plaintext, ad)
  expect(hex(sealed)).toBe(
    'bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39' +
      'ae64c6708c54c216cb96b72e' +
      '1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52e' +
      'c0875924c1c7987947deafd8780acf49',
  )
  expect(nodeCrypto.xopen(key, nonce, sealed, ad)).toEqual(plaintext)
  sealed[0] = (sealed[0] ?? 0) ^ 1
  expect(nodeCrypto.xopen(key, nonce, sealed, ad)).toBeUndefined()
})

test('results are plain arrays whose slice copies, as callers of a Uint8Array expect', () => {
  for (const value of [nodeCrypto.hash(counting, counting), nodeCrypto.hmac(counting, counting)]) {
    value.slice().fill(0)
    expect(value.some((byte) => byte !== 0)).toBe(true)
  }
})

test('an erased private key is zero, and its imported key is gone', () => {
  const { privateKey } = nodeCrypto.generate()
  const before = nodeCrypto.dh(privateKey, nodeCrypto.publicKeyOf(counting))
  nodeCrypto.erase(privateKey)
  expect(privateKey).toEqual(new Uint8Array(32))
  privateKey.set(counting)
  const after = nodeCrypto.dh(privateKey, nodeCrypto.publicKeyOf(counting))
  expect(hex(after)).toBe(hex(nodeCrypto.dh(Uint8Array.from(counting), nodeCrypto.publicKeyOf(counting))))
  expect(hex(after)).not.toBe(hex(before))
})

test('no private key stays in the pool that Buffers share', () => {
  /** Small Buffers are slices of one pool, so one of them leads to it. */
  const pool = () => Buffer.from(Buffer.from('a').buffer)
  const before = pool()
  const { privateKey, publicKey } = nodeCrypto.generate()
  nodeCrypto.dh(privateKey, publicKey)
  for (const shared of [before, pool()]) expect(shared.indexOf(privateKey)).toBe(-1)
})

test.runIf(process.platform === 'linux' && /^(x64|arm64)$/.test(process.arch))(
  'this machine has the native calls',
  () => {
    expect(nativeHandshakeCrypto(portableCrypto)).toBeDefined()
  },
)

test('with native calls and without, hashes and keys are the same', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const data = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 3_000, size: 'max' }))
  const macKey = fc.uint8Array({ minLength: 1, maxLength: 32 })
  fc.assert(
    fc.property(key, key, data, macKey, (k, other, message, short) => {
      const results = [nodeCrypto, portableCrypto].map((crypto) =>
        [
          crypto.hash(k, message),
          crypto.hmac(k, message),
          crypto.hmac(message, k),
          crypto.mac(short, message),
          crypto.publicKeyOf(Uint8Array.from(k)),
          crypto.dh(Uint8Array.from(k), other),
        ].map(hex),
      )
      expect(results[0]).toEqual(results[1])
    }),
    { numRuns: 200 },
  )
})

test('a point of low order gives no secret', () => {
  for (const crypto of [nodeCrypto, portableCrypto]) {
    expect(crypto.dh(counting, new Uint8Array(32))).toBeUndefined()
    expect(crypto.dh(counting, Uint8Array.of(1, ...new Uint8Array(31)))).toBeUndefined()
  }
})
