/** Keys as text: canonical base64 of 32 bytes, 44 characters, with branded types so that they cannot be mixed up. */

declare const publicKeyBrand: unique symbol
declare const privateKeyBrand: unique symbol
declare const presharedKeyBrand: unique symbol

export type PublicKey = string & { readonly [publicKeyBrand]: true }
export type PrivateKey = string & { readonly [privateKeyBrand]: true }
export type PresharedKey = string & { readonly [presharedKeyBrand]: true }

export const KEY_BYTES = 32

/** 32 bytes leave two unused bits in the last character; only the spelling with both zero is canonical. */
const canonicalKey = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

/** Returns undefined unless `text` is the one canonical base64 spelling of 32 bytes. */
export function parsePublicKey(text: string): PublicKey | undefined {
  return canonicalKey.test(text) ? (text as PublicKey) : undefined
}

/**
 * Returns undefined unless `text` is the one canonical base64 spelling of 32 bytes. Any 32 bytes are a private key:
 * X25519 clamps.
 */
export function parsePrivateKey(text: string): PrivateKey | undefined {
  return canonicalKey.test(text) ? (text as PrivateKey) : undefined
}

/** Returns undefined unless `text` is the one canonical base64 spelling of 32 bytes. */
export function parsePresharedKey(text: string): PresharedKey | undefined {
  return canonicalKey.test(text) ? (text as PresharedKey) : undefined
}

/** `bytes` must be 32 long. */
export function encodePublicKey(bytes: Uint8Array): PublicKey {
  return bytes.toBase64() as PublicKey
}

/** `bytes` must be 32 long. */
export function encodePrivateKey(bytes: Uint8Array): PrivateKey {
  return bytes.toBase64() as PrivateKey
}

/** `bytes` must be 32 long. */
export function encodePresharedKey(bytes: Uint8Array): PresharedKey {
  return bytes.toBase64() as PresharedKey
}

/**
 * Coordinates u whose order divides 8, little-endian and canonical or not; the top bit does not count (RFC 7748 §5).
 */
const LOW_ORDER = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
])

/** Whether every DH with this public key gives zero. `bytes` must be 32 long. */
export function isLowOrder(bytes: Uint8Array): boolean {
  const top = bytes[KEY_BYTES - 1]! & 0x7f
  return LOW_ORDER.has(bytes.subarray(0, KEY_BYTES - 1).toHex() + top.toString(16).padStart(2, '0'))
}

/** Returns a fresh array that the caller owns and may zero. */
export function keyBytes(key: PublicKey | PrivateKey | PresharedKey): Uint8Array {
  return Uint8Array.fromBase64(key)
}
