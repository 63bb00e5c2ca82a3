import { afterEach, expect, test, vi } from 'vitest'
import { nodeCrypto } from './crypto.ts'
import { generateKeyPair, publicKeyOf, sharedSecret } from './keys.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('both sides of a pair of keys come to the same secret', () => {
  const [one, other] = [generateKeyPair(), generateKeyPair()]
  expect(publicKeyOf(one.privateKey)).toBe(one.publicKey)
  expect(sharedSecret(one.privateKey, other.publicKey)).toEqual(sharedSecret(other.privateKey, one.publicKey))
})

test('the bytes behind the text of a private key are erased', () => {
  const { privateKey, publicKey } = generateKeyPair()
  const erase = vi.spyOn(nodeCrypto, 'erase')
  const erasedBy = (work: () => unknown) => {
    erase.mockClear()
    work()
    for (const [bytes] of erase.mock.calls) expect(bytes).toEqual(new Uint8Array(32))
    return erase.mock.calls.length
  }
  expect(erasedBy(() => publicKeyOf(privateKey))).toBe(1)
  expect(erasedBy(() => sharedSecret(privateKey, publicKey))).toBe(1)
  // Once where it is made, once where its public key is.
  expect(erasedBy(generateKeyPair)).toBe(2)
})
