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
  return toBase64(bytes) as PublicKey
}

/** `bytes` must be 32 long. */
export function encodePrivateKey(bytes: Uint8Array): PrivateKey {
  return toBase64(bytes) as PrivateKey
}

/** `bytes` must be 32 long. */
export function encodePresharedKey(bytes: Uint8Array): PresharedKey {
  return toBase64(bytes) as PresharedKey
}

/** Returns a fresh array that the caller owns and may zero. */
export function keyBytes(key: PublicKey | PrivateKey | PresharedKey): Uint8Array {
  return Uint8Array.from(atob(key), (character) => character.charCodeAt(0))
}

/** Uses btoa, because Node 24 has no `toBase64` on arrays. */
function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}
