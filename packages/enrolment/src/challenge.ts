import { decodeBase64, verifySignature, type Identity } from './identity.ts'

export type Challenge = {
  identityPublicKey: string
  wireguardPublicKey: string
  nonce: string
  hubEphemeralPublicKey: string
  hubIdentityPublicKey: string
  /** Milliseconds since 1970. */
  serverTime: number
}

/**
 * The bytes that the hub signs:
 *
 *     "hedgerow-challenge-v1" 0x00 | identity 32 | WireGuard 32 | nonce 32 | hub ephemeral 32 | hub identity 32
 *     | time 8
 *
 * `time` is big-endian. Every field of the request and of the answer is in it. Undefined when a field has another
 * length, since two challenges could then have the same bytes.
 */
function challengeBytes(challenge: Challenge): Uint8Array | undefined {
  if (!Number.isSafeInteger(challenge.serverTime) || challenge.serverTime < 0) return undefined
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(challenge.serverTime))
  const keys = [
    challenge.identityPublicKey,
    challenge.wireguardPublicKey,
    challenge.nonce,
    challenge.hubEphemeralPublicKey,
    challenge.hubIdentityPublicKey,
  ].map((text) => decodeBase64(text, 32))
  if (!keys.every((key) => key !== undefined)) return undefined
  return Buffer.concat([Buffer.from('hedgerow-challenge-v1\0'), ...keys, time])
}

/** The hub's side. Returns the signature as base64. Throws when a key or the nonce is not 32 bytes as base64. */
export function signChallenge(hub: Identity, challenge: Challenge): string {
  const bytes = challengeBytes(challenge)
  if (!bytes) throw new Error('A challenge has keys and a nonce of 32 bytes')
  return hub.sign(bytes)
}

/** The gateway's side: whether the hub that owns `hubIdentityPublicKey` made exactly this challenge. */
export function verifyChallenge(challenge: Challenge, signature: string): boolean {
  const bytes = challengeBytes(challenge)
  return bytes !== undefined && verifySignature(challenge.hubIdentityPublicKey, bytes, signature)
}
