/** Key material for callers of the Node edge, as branded base64. */

import { randomFillSync } from 'node:crypto'
import type { PresharedKey, PrivateKey, PublicKey } from '../keys.ts'
import { KEY_BYTES, encodePresharedKey, encodePrivateKey, encodePublicKey, keyBytes } from '../keys.ts'
import { nodeCrypto } from './crypto.ts'

/** A fresh X25519 pair; the private key is clamped, as `wg genkey` prints it. */
export function generateKeyPair(): { privateKey: PrivateKey; publicKey: PublicKey } {
  const bytes = randomFillSync(new Uint8Array(KEY_BYTES))
  bytes[0] = (bytes[0] ?? 0) & 0xf8
  bytes[31] = ((bytes[31] ?? 0) & 0x7f) | 0x40
  const privateKey = encodePrivateKey(bytes)
  nodeCrypto.erase(bytes)
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

export function generatePresharedKey(): PresharedKey {
  const bytes = randomFillSync(new Uint8Array(KEY_BYTES))
  const presharedKey = encodePresharedKey(bytes)
  bytes.fill(0)
  return presharedKey
}

export function publicKeyOf(privateKey: PrivateKey): PublicKey {
  const bytes = keyBytes(privateKey)
  const publicKey = encodePublicKey(nodeCrypto.publicKeyOf(bytes))
  nodeCrypto.erase(bytes)
  return publicKey
}

/** X25519, 32 bytes that the caller owns. Undefined on an all-zero result, which a low-order public key makes. */
export function sharedSecret(privateKey: PrivateKey, publicKey: PublicKey): Uint8Array | undefined {
  const bytes = keyBytes(privateKey)
  const secret = nodeCrypto.dh(bytes, keyBytes(publicKey))
  nodeCrypto.erase(bytes)
  return secret
}
