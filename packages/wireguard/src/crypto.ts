/**
 * The cryptography of the protocol (§5.4). The core only calls it, so that the core has no randomness and no platform
 * code. The Node implementation is `node/crypto.ts`; `seal` and `open` may come from another module, since they cost
 * most per packet.
 */

export type KeyPair = { privateKey: Uint8Array; publicKey: Uint8Array }

/**
 * AEAD(key, counter, plaintext, authtext) of the paper: ChaCha20-Poly1305 whose nonce is 32 zero bits and the counter,
 * little endian.
 */
export type Aead = {
  /**
   * Writes ciphertext and 16-byte tag into `out`, whose length is that of `plaintext` plus 16. Both may begin at the
   * same byte.
   */
  seal(key: Uint8Array, counter: number, plaintext: Uint8Array, ad: Uint8Array, out: Uint8Array): void
  /**
   * Writes plaintext into `out`, whose length is that of `ciphertext` less 16. Both may begin at the same byte. False,
   * and nothing written, when the tag is wrong. `ciphertext` holds at least the tag.
   */
  open(key: Uint8Array, counter: number, ciphertext: Uint8Array, ad: Uint8Array, out: Uint8Array): boolean
}

export type Crypto = Aead & {
  /** X25519. Undefined when the result is all zero, as a low-order point makes it. */
  dh(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array | undefined
  /** A fresh X25519 pair. */
  generate(): KeyPair
  publicKeyOf(privateKey: Uint8Array): Uint8Array
  /** Zeroes a private key and drops everything derived from it. */
  erase(privateKey: Uint8Array): void
  /** BLAKE2s-256 of the two parts, one after the other. */
  hash(first: Uint8Array, second: Uint8Array): Uint8Array
  /** HMAC-BLAKE2s-256. */
  hmac(key: Uint8Array, data: Uint8Array): Uint8Array
  /** Keyed BLAKE2s with 16 bytes of output. */
  mac(key: Uint8Array, data: Uint8Array): Uint8Array
  /** XChaCha20-Poly1305 with a 24-byte nonce; ciphertext and tag, fresh. */
  xseal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, ad: Uint8Array): Uint8Array
  /** The reverse of `xseal`; undefined when the tag is wrong. */
  xopen(key: Uint8Array, nonce: Uint8Array, ciphertext: Uint8Array, ad: Uint8Array): Uint8Array | undefined
  random(length: number): Uint8Array
}

export const TAG_BYTES = 16

/** Takes the same time wherever two arrays of one length differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}
