/**
 * X25519 and BLAKE2s of handshakes by the functions of OpenSSL inside Node that do nothing else. The objects of
 * `node:crypto` for keys and hashes cost a handshake as much again as its curve, most of it when they are collected.
 * They are internal to OpenSSL, so their results are compared with those of `node:crypto` once, before the first use.
 *
 * Where things lie in the one ArrayBuffer.
 *
 *   offset  size
 *   0       32     what BLAKE2s should make (RFC 7693 §2.5): BLAKE2S_PARAM
 *   32      32     private key, or key of BLAKE2s
 *   64      32     public key
 *   96      32     result
 *   128     512    state of BLAKE2s
 *   1024    1024   what is hashed
 */

import type { Crypto } from '../crypto.ts'
import { equalBytes } from '../crypto.ts'
import { KEY_BYTES } from '../keys.ts'
import { foreignMemory, openFunctions, pointers } from './foreign.ts'

export type HandshakeCrypto = Pick<Crypto, 'dh' | 'publicKeyOf' | 'hash' | 'hmac' | 'mac'>

const PARAMETERS = 0
const PRIVATE_KEY = 32
const PUBLIC_KEY = 64
const RESULT = 96
const STATE = 128
const DATA = 1_024
const TOTAL_BYTES = 2_048
const MAX_DATA_BYTES = TOTAL_BYTES - DATA
const HASH_BYTES = 32
const MAC_BYTES = 16
/** Of BLAKE2s, for HMAC (RFC 2104 §2). */
const BLOCK_BYTES = 64
const [INNER_PAD, OUTER_PAD] = [0x36, 0x5c]

type Primitives = {
  ossl_x25519(out: bigint, privateKey: bigint, publicKey: bigint): number
  ossl_x25519_public_from_private(out: bigint, privateKey: bigint): void
  ossl_blake2s_init(state: bigint, parameters: bigint): number
  ossl_blake2s_init_key(state: bigint, parameters: bigint, key: bigint): number
  ossl_blake2s_update(state: bigint, data: bigint, length: bigint): number
  ossl_blake2s_final(out: bigint, state: bigint): number
}

let opened: { crypto: HandshakeCrypto | undefined } | undefined

/** `portable` takes what is too long; undefined when the functions cannot be reached, or differ from `portable`. */
export function nativeHandshakeCrypto(portable: HandshakeCrypto): HandshakeCrypto | undefined {
  opened ??= { crypto: load(portable) }
  return opened.crypto
}

function load(portable: HandshakeCrypto): HandshakeCrypto | undefined {
  const primitives = openFunctions<Primitives>({
    ossl_x25519: { arguments: pointers(3), return: 'int32' },
    ossl_x25519_public_from_private: { arguments: pointers(2), return: 'void' },
    ossl_blake2s_init: { arguments: pointers(2), return: 'int32' },
    ossl_blake2s_init_key: { arguments: pointers(3), return: 'int32' },
    ossl_blake2s_update: { arguments: pointers(3), return: 'int32' },
    ossl_blake2s_final: { arguments: pointers(2), return: 'int32' },
  })
  if (primitives === undefined) return undefined
  const native = create(primitives, portable)
  return areSame(native, portable) ? native : undefined
}

function create(primitives: Primitives, portable: HandshakeCrypto): HandshakeCrypto {
  const { buffer, address } = foreignMemory(TOTAL_BYTES)
  const bytes = new Uint8Array(buffer)
  const pointer = (at: number): bigint => address + BigInt(at)
  const [parameters, privateAt, publicAt] = [pointer(PARAMETERS), pointer(PRIVATE_KEY), pointer(PUBLIC_KEY)]
  const [result, state, data] = [pointer(RESULT), pointer(STATE), pointer(DATA)]

  /** Hashes the first `length` bytes at DATA, and zeroes them; a key of `keyLength` bytes lies at PRIVATE_KEY. */
  function blake2s(length: number, resultLength: number, keyLength = 0): void {
    bytes[PARAMETERS] = resultLength
    bytes[PARAMETERS + 1] = keyLength
    // One leaf, no tree.
    bytes[PARAMETERS + 2] = bytes[PARAMETERS + 3] = 1
    if (keyLength > 0) primitives.ossl_blake2s_init_key(state, parameters, privateAt)
    else primitives.ossl_blake2s_init(state, parameters)
    if (length > 0) primitives.ossl_blake2s_update(state, data, BigInt(length))
    // It also cleanses the state.
    primitives.ossl_blake2s_final(result, state)
    bytes.fill(0, DATA, DATA + length)
  }

  /** The result in memory of its own; nothing of it stays. */
  function take(length: number): Uint8Array {
    const taken = bytes.slice(RESULT, RESULT + length)
    bytes.fill(0, PRIVATE_KEY, STATE)
    return taken
  }

  /** Puts the key, combined with a pad, before what is hashed. */
  function padKey(key: Uint8Array, pad: number): void {
    for (let at = 0; at < BLOCK_BYTES; at++) bytes[DATA + at] = (key[at] ?? 0) ^ pad
  }

  return {
    dh(privateKey, publicKey) {
      bytes.set(privateKey, PRIVATE_KEY)
      bytes.set(publicKey, PUBLIC_KEY)
      const isPoint = primitives.ossl_x25519(result, privateAt, publicAt) !== 0
      const shared = take(KEY_BYTES)
      return isPoint ? shared : undefined
    },
    publicKeyOf(privateKey) {
      bytes.set(privateKey, PRIVATE_KEY)
      primitives.ossl_x25519_public_from_private(result, privateAt)
      return take(KEY_BYTES)
    },
    hash(first, second) {
      const length = first.length + second.length
      if (length > MAX_DATA_BYTES) return portable.hash(first, second)
      bytes.set(first, DATA)
      bytes.set(second, DATA + first.length)
      blake2s(length, HASH_BYTES)
      return take(HASH_BYTES)
    },
    hmac(key, message) {
      if (key.length > BLOCK_BYTES || message.length > MAX_DATA_BYTES - BLOCK_BYTES) return portable.hmac(key, message)
      padKey(key, INNER_PAD)
      bytes.set(message, DATA + BLOCK_BYTES)
      blake2s(BLOCK_BYTES + message.length, HASH_BYTES)
      padKey(key, OUTER_PAD)
      bytes.copyWithin(DATA + BLOCK_BYTES, RESULT, RESULT + HASH_BYTES)
      blake2s(BLOCK_BYTES + HASH_BYTES, HASH_BYTES)
      return take(HASH_BYTES)
    },
    mac(key, message) {
      if (key.length === 0 || key.length > KEY_BYTES || message.length > MAX_DATA_BYTES)
        return portable.mac(key, message)
      bytes.set(key, PRIVATE_KEY)
      bytes.set(message, DATA)
      blake2s(message.length, MAC_BYTES, key.length)
      return take(MAC_BYTES)
    },
  }
}

function areSame(native: HandshakeCrypto, portable: HandshakeCrypto): boolean {
  const key = Uint8Array.from({ length: KEY_BYTES }, (_, i) => i + 1)
  const message = Uint8Array.from({ length: 200 }, (_, i) => i)
  const low = new Uint8Array(KEY_BYTES)
  const results = (crypto: HandshakeCrypto): (Uint8Array | undefined)[] => [
    crypto.publicKeyOf(key),
    crypto.dh(key, crypto.publicKeyOf(crypto.publicKeyOf(key))),
    ...[0, 64, 65, 200].flatMap((length) => [
      crypto.hash(message.subarray(0, length), key),
      crypto.hmac(key, message.subarray(0, length)),
      crypto.mac(key, message.subarray(0, length)),
      crypto.mac(key.subarray(0, MAC_BYTES), message.subarray(0, length)),
    ]),
  ]
  const expected = results(portable)
  return (
    native.dh(key, low) === undefined &&
    results(native).every((result, i) => result !== undefined && equalBytes(result, expected[i]!))
  )
}
