/**
 * ChaCha20-Poly1305 (RFC 8439 §2.8) by the functions of OpenSSL inside Node that do nothing else: they use the widest
 * vectors of the machine, and a call costs a twentieth of a microsecond instead of the five of a cipher object. They
 * are internal to OpenSSL, so their results are compared with those of `node:crypto` once, before the first use.
 *
 * Where things lie in the one ArrayBuffer.
 *
 *   offset         size
 *   0              32     key
 *   32             16     the counter of blocks, 0 at first, and the nonce of 12 bytes (RFC 8439 §2.3)
 *   48             16     tag
 *   64             448    state of Poly1305
 *   512            128    associated data, padded
 *   1024           64     always zero: encrypted it is the key of Poly1305 (RFC 8439 §2.6), and stream that is not used
 *   1088           n      what goes in
 *   64 Ki + 2048   64     the key of Poly1305
 *   64 Ki + 2112   n      what comes out
 */

import type { Aead } from '../crypto.ts'
import { TAG_BYTES, equalBytes } from '../crypto.ts'
import { foreignMemory, openFunctions, pointers } from './foreign.ts'
import { nodeAead } from './node-aead.ts'

const KEY = 0
const COUNTER = 32
const TAG = 48
const STATE = 64
const STATE_BYTES = 448
const AD = 512
const MAX_AD_BYTES = 128
const IN = 1024
const OUT = 65_536 + 2_048
const BLOCK_BYTES = 64
/** No UDP datagram holds more. */
const MAX_DATA_BYTES = 65_535
const TOTAL_BYTES = OUT + 65_536 + 2_048

type Primitives = {
  ChaCha20_ctr32(out: bigint, input: bigint, length: bigint, key: bigint, counter: bigint): void
  Poly1305_ctx_size(): bigint
  Poly1305_Init(state: bigint, key: bigint): void
  Poly1305_Update(state: bigint, input: bigint, length: bigint): void
  Poly1305_Final(state: bigint, tag: bigint): void
}

let opened: { aead: Aead | undefined } | undefined

/** Undefined where the functions cannot be reached, or do not do what they should. */
export function nativeAead(): Aead | undefined {
  opened ??= { aead: load() }
  return opened.aead
}

function load(): Aead | undefined {
  const primitives = openFunctions<Primitives>({
    ChaCha20_ctr32: { arguments: pointers(5), return: 'void' },
    Poly1305_ctx_size: { arguments: [], return: 'uint64' },
    Poly1305_Init: { arguments: pointers(2), return: 'void' },
    Poly1305_Update: { arguments: pointers(3), return: 'void' },
    Poly1305_Final: { arguments: pointers(2), return: 'void' },
  })
  if (primitives === undefined || primitives.Poly1305_ctx_size() > STATE_BYTES) return undefined
  const aead = createNativeAead(primitives)
  return isRight(aead) ? aead : undefined
}

function createNativeAead({ ChaCha20_ctr32, Poly1305_Init, Poly1305_Update, Poly1305_Final }: Primitives): Aead {
  const { buffer, address } = foreignMemory(TOTAL_BYTES)
  const bytes = new Uint8Array(buffer)
  /**
   * By number of the word: what is aligned is written by words, because `fill` and `set` cost more than a few words.
   */
  const words = new Uint32Array(buffer)
  const tagBytes = bytes.subarray(TAG, TAG + TAG_BYTES)
  const pointer = (at: number): bigint => address + BigInt(at)
  const [key, counter, tag, state, ad] = [pointer(KEY), pointer(COUNTER), pointer(TAG), pointer(STATE), pointer(AD)]
  const [input, output] = [pointer(IN), pointer(OUT)]
  const inputData = { at: IN + BLOCK_BYTES, pointer: pointer(IN + BLOCK_BYTES) }
  const outputData = { at: OUT + BLOCK_BYTES, pointer: pointer(OUT + BLOCK_BYTES) }

  let result = bytes.subarray(OUT + BLOCK_BYTES, OUT + BLOCK_BYTES)

  /** A view of what came out. Lengths repeat, and a view costs as much as copying it. */
  function resultOf(length: number): Uint8Array {
    if (result.length !== length) result = bytes.subarray(OUT + BLOCK_BYTES, OUT + BLOCK_BYTES + length)
    return result
  }

  /** The key of Poly1305 at OUT, and `length` bytes of `data` with the stream from block 1 on behind it. */
  function encrypt(data: Uint8Array, length: number, keyBytes: Uint8Array, packet: number): void {
    bytes.set(keyBytes, KEY)
    words[COUNTER / 4 + 2] = packet
    words[COUNTER / 4 + 3] = Math.floor(packet / 2 ** 32)
    bytes.set(data, IN + BLOCK_BYTES)
    ChaCha20_ctr32(output, input, BigInt(BLOCK_BYTES + length), key, counter)
  }

  /** The tag over the associated data and `length` bytes of ciphertext. */
  function authenticate(ciphertext: typeof inputData, length: number, adBytes: Uint8Array): void {
    const end = ciphertext.at + padding(length)
    for (let at = ciphertext.at + length; at < end; at++) bytes[at] = 0
    words[end / 4] = adBytes.length
    words[end / 4 + 1] = 0
    words[end / 4 + 2] = length
    words[end / 4 + 3] = 0
    Poly1305_Init(state, output)
    if (adBytes.length > 0) {
      bytes.fill(0, AD, AD + MAX_AD_BYTES)
      bytes.set(adBytes, AD)
      Poly1305_Update(state, ad, BigInt(padding(adBytes.length)))
    }
    Poly1305_Update(state, ciphertext.pointer, BigInt(end - ciphertext.at + 16))
    // It also cleanses the state.
    Poly1305_Final(state, tag)
  }

  /** No key, stream or associated data (the hash of a handshake) stays. */
  function forget(adLength: number): void {
    for (let word = KEY / 4; word < TAG / 4; word++) words[word] = 0
    for (let word = OUT / 4; word < (OUT + BLOCK_BYTES) / 4; word++) words[word] = 0
    if (adLength > 0) bytes.fill(0, AD, AD + adLength)
  }

  return {
    seal(keyBytes, packet, plaintext, adBytes, out) {
      const { length } = plaintext
      if (length > MAX_DATA_BYTES || adBytes.length > MAX_AD_BYTES)
        return nodeAead.seal(keyBytes, packet, plaintext, adBytes, out)
      encrypt(plaintext, length, keyBytes, packet)
      authenticate(outputData, length, adBytes)
      out.set(resultOf(length))
      out.set(tagBytes, length)
      forget(adBytes.length)
    },
    open(keyBytes, packet, ciphertext, adBytes, out) {
      const length = ciphertext.length - TAG_BYTES
      if (length > MAX_DATA_BYTES || adBytes.length > MAX_AD_BYTES)
        return nodeAead.open(keyBytes, packet, ciphertext, adBytes, out)
      // One call gives the key of Poly1305 and the plaintext, which leaves this memory only if the tag is right.
      encrypt(ciphertext, length, keyBytes, packet)
      authenticate(inputData, length, adBytes)
      const isAuthentic = equalBytes(tagBytes, ciphertext.subarray(length))
      if (isAuthentic) out.set(resultOf(length))
      forget(adBytes.length)
      return isAuthentic
    },
  }
}

/** Native calls are first looked for when they are needed, so that a device that does without never loads them. */
const fastest = (): Aead => nativeAead() ?? nodeAead

/** The fastest that this machine has. */
export const fastestAead: Aead = {
  seal: (key, counter, plaintext, ad, out) => fastest().seal(key, counter, plaintext, ad, out),
  open: (key, counter, ciphertext, ad, out) => fastest().open(key, counter, ciphertext, ad, out),
}

const padding = (length: number): number => (length + 15) & ~15

/** Whether it seals as `node:crypto` does, opens that, and refuses a changed tag. */
function isRight(aead: Aead): boolean {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i)
  const ad = Uint8Array.of(1, 2, 3)
  const packet = 2 ** 33 + 1
  return [0, 31, 1_420].every((length) => {
    const plaintext = new Uint8Array(length).fill(length)
    const [expected, sealed] = [new Uint8Array(length + TAG_BYTES), new Uint8Array(length + TAG_BYTES)]
    nodeAead.seal(key, packet, plaintext, ad, expected)
    aead.seal(key, packet, plaintext, ad, sealed)
    const opened = new Uint8Array(length)
    if (!equalBytes(sealed, expected) || !aead.open(key, packet, sealed, ad, opened)) return false
    sealed[length] = sealed[length]! ^ 1
    return equalBytes(opened, plaintext) && !aead.open(key, packet, sealed, ad, opened)
  })
}
