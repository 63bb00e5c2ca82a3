/** The fastest ChaCha20-Poly1305 that this machine has. */

import type { Aead } from '../crypto.ts'
import { nativeAead } from './native-aead.ts'
import { wasmAead } from './wasm-aead.ts'

/** Without native calls. */
export const portableAead = wasmAead()

/** Native calls are first looked for when they are needed, so that a device that does without never loads them. */
const fastest = (): Aead => nativeAead() ?? portableAead

export const fastestAead: Aead = {
  seal: (key, counter, plaintext, ad, out) => fastest().seal(key, counter, plaintext, ad, out),
  open: (key, counter, ciphertext, ad, out) => fastest().open(key, counter, ciphertext, ad, out),
}
