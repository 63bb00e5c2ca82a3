import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { describe, expect, it } from 'vitest'
import {
  answerBytes,
  exchangeKeys,
  generateIdentitySeed,
  identityOfSeed,
  proofOfPossession,
  registrationBytes,
  requestBytes,
  seal,
  signChallenge,
  unseal,
  verifyChallenge,
  verifyProof,
  type Challenge,
} from './index.ts'

const nonceOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')

function bothEnds() {
  const gateway = generateKeyPair()
  const hub = generateKeyPair()
  const nonce = nonceOf(7)
  return {
    gateway,
    hub,
    nonce,
    gatewayKeys: exchangeKeys(gateway.privateKey, hub.publicKey, nonce)!,
    hubKeys: exchangeKeys(hub.privateKey, gateway.publicKey, nonce)!,
  }
}

describe('the exchange', () => {
  it('gives both ends the same two keys, and different keys for another nonce', () => {
    const { gateway, hub, gatewayKeys, hubKeys } = bothEnds()
    expect(gatewayKeys).toEqual(hubKeys)
    expect(gatewayKeys.proof).not.toEqual(gatewayKeys.seal)
    expect(exchangeKeys(gateway.privateKey, hub.publicKey, nonceOf(8))!.seal).not.toEqual(gatewayKeys.seal)
  })

  it.each([
    ['all zero', '00'.repeat(32)],
    ['the point one', `01${'00'.repeat(31)}`],
    ['of order 8', 'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'],
    ['of order 8, the other one', '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157'],
    ['p - 1', `ec${'ff'.repeat(30)}7f`],
    ['zero written as p', `ed${'ff'.repeat(30)}7f`],
  ])('refuses a public key that is %s', (_name, hex) => {
    expect(
      exchangeKeys(generateKeyPair().privateKey, Buffer.from(hex, 'hex').toString('base64'), nonceOf(1)),
    ).toBeUndefined()
  })

  it('accepts no malformed text as key or nonce', () => {
    const { privateKey, publicKey } = generateKeyPair()
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(exchangeKeys(privateKey, text, nonceOf(1))).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(exchangeKeys(privateKey, publicKey, text)).toBeUndefined()
      }),
    )
  })
})

describe('the proof of possession', () => {
  it('verifies for exactly its three keys', () => {
    const { gateway, hub, gatewayKeys, hubKeys } = bothEnds()
    const identity = identityOfSeed(generateIdentitySeed()).publicKey
    const proven = {
      identityPublicKey: identity,
      wireguardPublicKey: gateway.publicKey,
      hubEphemeralPublicKey: hub.publicKey,
    }
    const proof = proofOfPossession(gatewayKeys, proven)
    expect(verifyProof(hubKeys, proven, proof)).toBe(true)
    expect(verifyProof(hubKeys, { ...proven, identityPublicKey: nonceOf(3) }, proof)).toBe(false)
    expect(verifyProof(hubKeys, { ...proven, wireguardPublicKey: nonceOf(3) }, proof)).toBe(false)
    expect(verifyProof(exchangeKeys(hub.privateKey, gateway.publicKey, nonceOf(9))!, proven, proof)).toBe(false)
    fc.assert(fc.property(fc.base64String(), (other) => !verifyProof(hubKeys, proven, other)))
  })
})

describe('sealing', () => {
  it('opens to the same text at the other end', () => {
    const { gatewayKeys, hubKeys } = bothEnds()
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(unseal(hubKeys, seal(gatewayKeys, text))).toBe(text)
      }),
      { numRuns: 50 },
    )
  })

  it('does not open after any bit changed, with other keys, or for text that was never sealed', () => {
    const { gatewayKeys, hubKeys } = bothEnds()
    const sealed = Buffer.from(seal(gatewayKeys, 'DT-0123456789AB'), 'base64')
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(unseal(hubKeys, changed.toString('base64'))).toBeUndefined()
    }
    expect(unseal(bothEnds().hubKeys, sealed.toString('base64'))).toBeUndefined()
    fc.assert(fc.property(fc.string(), (text) => unseal(hubKeys, text) === undefined))
  })
})

describe('the challenge', () => {
  const hub = identityOfSeed(generateIdentitySeed())
  const challenge: Challenge = {
    identityPublicKey: nonceOf(1),
    wireguardPublicKey: nonceOf(2),
    nonce: nonceOf(3),
    hubEphemeralPublicKey: nonceOf(4),
    hubIdentityPublicKey: hub.publicKey,
    serverTime: 1_800_000_000_000,
  }
  const signature = signChallenge(hub, challenge)

  it('verifies as the hub signed it', () => {
    expect(verifyChallenge(challenge, signature)).toBe(true)
  })

  it.each([
    'identityPublicKey',
    'wireguardPublicKey',
    'nonce',
    'hubEphemeralPublicKey',
    'hubIdentityPublicKey',
  ] as const)('is refused with another %s', (field) => {
    expect(verifyChallenge({ ...challenge, [field]: nonceOf(9) }, signature)).toBe(false)
    expect(verifyChallenge({ ...challenge, [field]: '' }, signature)).toBe(false)
  })

  it('is refused with another time, and with a time that is not a whole number', () => {
    for (const serverTime of [challenge.serverTime + 1, -1, 0.5, Number.NaN, Number.MAX_VALUE])
      expect(verifyChallenge({ ...challenge, serverTime }, signature)).toBe(false)
  })

  it('does not verify when bytes move from one field to the next', () => {
    const moved = {
      ...challenge,
      identityPublicKey: Buffer.alloc(31, 1).toString('base64'),
      wireguardPublicKey: Buffer.concat([Buffer.from([1]), Buffer.alloc(32, 2)]).toString('base64'),
    }
    expect(verifyChallenge(moved, signature)).toBe(false)
  })
})

describe('signed messages', () => {
  const request = { method: 'POST', target: '/api/v1/x?y=1', time: '1', nonce: 'n', body: Buffer.from('{}') }

  it('have the bytes of docs/protocol.md', () => {
    expect(Buffer.from(requestBytes(request)).toString()).toBe('hedgerow-request-v1\0POST /api/v1/x?y=1\u00001\0n\0{}')
    expect(Buffer.from(answerBytes('n', Buffer.from('{}'))).toString()).toBe('hedgerow-answer-v1\0n\0{}')
    expect(Buffer.from(registrationBytes(Buffer.from('{}'))).toString()).toBe('hedgerow-register-v1\0{}')
  })

  it('keep a binary body unchanged', () => {
    const body = randomBytes(16)
    expect(Buffer.from(requestBytes({ ...request, body })).subarray(-16)).toEqual(body)
  })
})
