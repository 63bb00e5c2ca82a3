/**
 * ChaCha20-Poly1305 by the SIMD module of `aead/`, which costs less than half of a call into OpenSSL for a full packet
 * and a tenth for a small one. The layout of its memory is in `aead/layout.as`. Calls are synchronous and use the one
 * memory in turn; the module wipes key, stream and authenticator from it before it returns, so keys that retire leave
 * nothing behind here.
 */

import { readFileSync } from 'node:fs'
import type { Aead } from '../crypto.ts'
import { TAG_BYTES } from '../crypto.ts'
import { nodeAead } from './node-aead.ts'

const KEY = 0
const DATA = 1152
const MAX_AD_BYTES = 128
/** No UDP datagram holds more. */
const MAX_DATA_BYTES = 65_535

type Exports = {
  memory: WebAssembly.Memory
  seal(counterLow: number, counterHigh: number, adLength: number, length: number): void
  open(counterLow: number, counterHigh: number, adLength: number, length: number): number
}

/** The module, or `node:crypto` when the engine has no SIMD. */
export function wasmAead(module: Uint8Array<ArrayBuffer> = readModule()): Aead {
  return WebAssembly.validate(module) ? createWasmAead(new WebAssembly.Module(module)) : nodeAead
}

function readModule(): Uint8Array<ArrayBuffer> {
  return readFileSync(new URL('../../aead/chacha20-poly1305.wasm', import.meta.url))
}

function createWasmAead(module: WebAssembly.Module): Aead {
  const exports = new WebAssembly.Instance(module).exports as Exports
  const memory = new Uint8Array(exports.memory.buffer)

  function load(key: Uint8Array, data: Uint8Array, ad: Uint8Array): void {
    memory.set(key, KEY)
    memory.set(data, DATA)
    if (ad.length === 0) return
    memory.fill(0, DATA - TAG_BYTES, DATA)
    memory.set(ad, DATA - Math.ceil(ad.length / TAG_BYTES) * TAG_BYTES)
  }

  return {
    seal(key, counter, plaintext, ad, out) {
      if (plaintext.length > MAX_DATA_BYTES || ad.length > MAX_AD_BYTES) {
        nodeAead.seal(key, counter, plaintext, ad, out)
        return
      }
      load(key, plaintext, ad)
      // The call itself takes a counter modulo 2^32.
      exports.seal(counter, Math.floor(counter / 2 ** 32), ad.length, plaintext.length)
      out.set(memory.subarray(DATA, DATA + plaintext.length + TAG_BYTES))
    },
    open(key, counter, ciphertext, ad, out) {
      const length = ciphertext.length - TAG_BYTES
      if (length > MAX_DATA_BYTES || ad.length > MAX_AD_BYTES) return nodeAead.open(key, counter, ciphertext, ad, out)
      load(key, ciphertext, ad)
      if (exports.open(counter, Math.floor(counter / 2 ** 32), ad.length, length) === 0) return false
      out.set(memory.subarray(DATA, DATA + length))
      return true
    },
  }
}
