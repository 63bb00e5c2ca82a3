import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { PrivateKey, PublicKey } from '@hedgerow/wireguard'
import { sharedSecret } from '@hedgerow/wireguard/node'
import { decodeBase64, isWireguardKey } from './identity.ts'

/** Keys that only the two ends of one exchange know, one per purpose. */
export type ExchangeKeys = {
  proof: Buffer
  seal: Buffer
}

/**
 * shared = X25519(own private, the other's public); keys = HKDF-SHA-256(shared, salt = nonce, info = "hedgerow-v1 " +
 * purpose), 32 bytes each. Undefined when the other's key or the nonce is malformed, or the shared value is all zero (a
 * low-order point).
 */
export function exchangeKeys(ownPrivateKey: string, otherPublicKey: string, nonce: string): ExchangeKeys | undefined {
  const salt = decodeBase64(nonce, 32)
  if (!salt || !isWireguardKey(otherPublicKey)) return undefined
  const shared = sharedSecret(ownPrivateKey as PrivateKey, otherPublicKey as PublicKey)
  if (!shared) return undefined
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', shared, salt, `hedgerow-v1 ${purpose}`, 32))
  return { proof: derive('proof'), seal: derive('seal') }
}

export type ProvenKeys = { identityPublicKey: string; wireguardPublicKey: string; hubEphemeralPublicKey: string }

/**
 * HMAC-SHA-256(keys.proof, SHA-256(identity | WireGuard | hub ephemeral)) as base64: possession of the WireGuard key.
 */
export function proofOfPossession(keys: ExchangeKeys, proven: ProvenKeys): string {
  const digest = createHash('sha256')
  for (const key of [proven.identityPublicKey, proven.wireguardPublicKey, proven.hubEphemeralPublicKey])
    digest.update(Buffer.from(key, 'base64'))
  return createHmac('sha256', keys.proof).update(digest.digest()).digest('base64')
}

/** Compares in constant time. */
export function verifyProof(keys: ExchangeKeys, proven: ProvenKeys, proof: string): boolean {
  const given = decodeBase64(proof, 32)
  return given !== undefined && timingSafeEqual(given, Buffer.from(proofOfPossession(keys, proven), 'base64'))
}
