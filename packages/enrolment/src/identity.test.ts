import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  base32,
  decodeBase64,
  fingerprint,
  generateIdentitySeed,
  identityOfSeed,
  isIdentityKey,
  isWireguardKey,
  verifySignature,
} from './index.ts'

const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
const message = Buffer.from('a message')

describe('an identity', () => {
  it('is the same after its seed is read again', () => {
    const seed = generateIdentitySeed()
    expect(identityOfSeed(seed).publicKey).toBe(identityOfSeed(seed).publicKey)
    expect(identityOfSeed(generateIdentitySeed()).publicKey).not.toBe(identityOfSeed(seed).publicKey)
  })

  it('has the public key and the signature of RFC 8032 section 7.1, test 1', () => {
    const identity = identityOfSeed(base64('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'))
    expect(identity.publicKey).toBe(base64('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'))
    expect(identity.sign(new Uint8Array())).toBe(
      base64(
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
          '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      ),
    )
  })

  it('refuses a seed that is not 32 bytes of canonical base64', () => {
    for (const seed of ['', 'AAAA', generateIdentitySeed().replace(/=$/, '')])
      expect(() => identityOfSeed(seed)).toThrow('32 bytes')
  })

  it('verifies what it signed, and no changed message', () => {
    const identity = identityOfSeed(generateIdentitySeed())
    const signature = identity.sign(message)
    expect(verifySignature(identity.publicKey, message, signature)).toBe(true)
    expect(verifySignature(identity.publicKey, Buffer.from('a massage'), signature)).toBe(false)
    expect(verifySignature(identityOfSeed(generateIdentitySeed()).publicKey, message, signature)).toBe(false)
    expect(
      verifySignature(
        identity.publicKey,
        message,
        signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')),
      ),
    ).toBe(false)
  })

  it('answers false, without an exception, for any text as key and signature', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (key, signature) => {
        expect(verifySignature(key, message, signature)).toBe(false)
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
        const signature = Buffer.alloc(64, 1).toString('base64')
        expect(verifySignature(Buffer.from(key).toString('base64'), message, signature)).toBe(false)
      }),
    )
  })
})

describe('an identity key of low order', () => {
  const order4 = '00'.repeat(32)
  const identityPoint = `01${'00'.repeat(31)}`

  it('never verifies a forged signature', () => {
    const forged = Buffer.concat([Buffer.from(identityPoint, 'hex'), Buffer.alloc(32)])
    expect(verifySignature(base64(identityPoint), message, forged.toString('base64'))).toBe(false)
  })

  it.each([
    ['of order 1', identityPoint],
    ['of order 2', `ec${'ff'.repeat(30)}7f`],
    ['of order 4', order4],
    ['of order 4, the other sign', `${'00'.repeat(31)}80`],
    ['of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85'],
    ['of order 8, the other one', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
    ['0 written as p', `ed${'ff'.repeat(30)}7f`],
    ['1 written as p + 1', `ee${'ff'.repeat(30)}ff`],
  ])('is refused: %s', (_name, hex) => {
    expect(isIdentityKey(base64(hex))).toBe(false)
  })

  it('is never generated', () => {
    for (let i = 0; i < 50; i++) expect(isIdentityKey(identityOfSeed(generateIdentitySeed()).publicKey)).toBe(true)
  })
})

describe('a WireGuard key', () => {
  it('has one spelling: the ignored top bit is clear and the number is below the prime', () => {
    expect(isWireguardKey(base64(`${'ab'.repeat(31)}7e`))).toBe(true)
    expect(isWireguardKey(base64(`${'ab'.repeat(31)}fe`))).toBe(false)
    expect(isWireguardKey(base64(`ec${'ff'.repeat(30)}7f`))).toBe(true)
    expect(isWireguardKey(base64(`ed${'ff'.repeat(30)}7f`))).toBe(false)
    expect(isWireguardKey(base64('ab'.repeat(31)))).toBe(false)
  })
})

describe('text forms', () => {
  it('shows a fingerprint as 8 groups of 4 upper-case base32 characters', () => {
    expect(fingerprint(identityOfSeed(generateIdentitySeed()).publicKey)).toMatch(/^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/)
    expect(fingerprint(Buffer.from('abc').toString('base64'))).toBe('XJ4B NP4P AHH6 UQKB IDPF 3LRC EOYA GYND')
  })

  it.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('writes %j as RFC 4648 section 10 does, in lower case and unpadded', (text, expected) => {
    expect(base32(Buffer.from(text))).toBe(expected)
  })

  it('accepts only canonical base64', () => {
    expect(decodeBase64('AAA=', 2)).toEqual(Buffer.alloc(2))
    for (const other of ['AAB=', 'AAA', 'AA A=', 'AAA=\n', 'AA-_', 'AAAA'])
      expect(decodeBase64(other, 2)).toBeUndefined()
  })
})
