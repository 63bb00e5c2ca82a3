/**
 * ChaCha20-Poly1305 by Node's own module: what native calls are held against, their replacement where they are missing,
 * and the base of the rare XChaCha20 of cookie replies. It takes raw keys: a KeyObject costs half as much again per
 * packet.
 */

import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Aead } from '../crypto.ts'
import { TAG_BYTES } from '../crypto.ts'

const AEAD = 'chacha20-poly1305'
const AEAD_OPTIONS = { authTagLength: TAG_BYTES }

/** Written anew for each packet; the ciphers copy it before they return. */
const nonceBytes = Buffer.alloc(12)

function nonceOf(counter: number): Buffer {
  nonceBytes.writeUInt32LE(counter % 2 ** 32, 4)
  nonceBytes.writeUInt32LE(Math.floor(counter / 2 ** 32), 8)
  return nonceBytes
}

export const nodeAead: Aead = {
  seal(key, counter, plaintext, ad, out) {
    sealWith(key, nonceOf(counter), { plaintext, ad, out })
  },
  open(key, counter, ciphertext, ad, out) {
    return openWith(key, nonceOf(counter), { ciphertext, ad, out })
  },
}

/** `nonce` is 12 bytes; `out` is as long as `plaintext` and its tag. */
export function sealWith(
  key: Uint8Array,
  nonce: Uint8Array,
  { plaintext, ad, out }: { plaintext: Uint8Array; ad: Uint8Array; out: Uint8Array },
): void {
  const cipher = createCipheriv(AEAD, key, nonce, AEAD_OPTIONS)
  if (ad.length > 0) cipher.setAAD(ad)
  if (plaintext.length > 0) out.set(cipher.update(plaintext))
  cipher.final()
  out.set(cipher.getAuthTag(), plaintext.length)
}

/**
 * `nonce` is 12 bytes; `out` is as long as `ciphertext` without its tag, and is written only if the tag is right;
 * returns whether it was.
 */
export function openWith(
  key: Uint8Array,
  nonce: Uint8Array,
  { ciphertext, ad, out }: { ciphertext: Uint8Array; ad: Uint8Array; out: Uint8Array },
): boolean {
  const length = ciphertext.length - TAG_BYTES
  const decipher = createDecipheriv(AEAD, key, nonce, AEAD_OPTIONS)
  if (ad.length > 0) decipher.setAAD(ad)
  decipher.setAuthTag(ciphertext.subarray(length))
  const plaintext = decipher.update(ciphertext.subarray(0, length))
  try {
    decipher.final()
  } catch {
    return false
  }
  out.set(plaintext)
  return true
}

/** The same memory as a plain Uint8Array, whose `slice` copies, unlike Buffer's. */
export function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}
