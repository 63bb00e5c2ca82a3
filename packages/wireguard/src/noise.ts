/**
 * The symmetric state of Noise_IKpsk2 as §5.4 writes it: a chaining key C that every secret is mixed into, and a hash H
 * of everything both sides have seen, which authenticates each AEAD. Only `handshake.ts` drives it.
 */

import type { Crypto } from './crypto.ts'
import { TAG_BYTES } from './crypto.ts'

const text = new TextEncoder()
const CONSTRUCTION = text.encode('Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s')
const IDENTIFIER = text.encode('WireGuard v1 zx2c4 Jason@zx2c4.com')
const EMPTY = new Uint8Array(0)

export type SymmetricState = { chainingKey: Uint8Array; hash: Uint8Array }

/** C = HASH(CONSTRUCTION), H = HASH(HASH(C || IDENTIFIER) || responder's static public key) */
export function initialState(crypto: Crypto, responderStatic: Uint8Array): SymmetricState {
  const chainingKey = crypto.hash(CONSTRUCTION, EMPTY)
  return { chainingKey, hash: crypto.hash(crypto.hash(chainingKey, IDENTIFIER), responderStatic) }
}

/** H = HASH(H || data) */
export function mixHash(crypto: Crypto, state: SymmetricState, data: Uint8Array): void {
  const hash = crypto.hash(state.hash, data)
  state.hash.fill(0)
  state.hash = hash
}

/** C = KDF1(C, input) */
export function mixKey(crypto: Crypto, state: SymmetricState, input: Uint8Array): void {
  const [chainingKey] = kdf1(crypto, state.chainingKey, input)
  replaceChainingKey(state, chainingKey)
}

/** (C, key) = KDF2(C, input); the caller zeroes the key. */
export function mixKeyForAead(crypto: Crypto, state: SymmetricState, input: Uint8Array): Uint8Array {
  const [chainingKey, key] = kdf2(crypto, state.chainingKey, input)
  replaceChainingKey(state, chainingKey)
  return key
}

/** (C, tau, key) = KDF3(C, Q), H = HASH(H || tau); the caller zeroes the key. */
export function mixPresharedKey(crypto: Crypto, state: SymmetricState, presharedKey: Uint8Array): Uint8Array {
  const [chainingKey, tau, key] = kdf3(crypto, state.chainingKey, presharedKey)
  replaceChainingKey(state, chainingKey)
  mixHash(crypto, state, tau)
  tau.fill(0)
  return key
}

/** Writes AEAD(key, 0, plaintext, H) into `out`, then H = HASH(H || out). Zeroes `key`, which serves once. */
export function sealAndMix(
  crypto: Crypto,
  state: SymmetricState,
  { key, plaintext, out }: { key: Uint8Array; plaintext: Uint8Array; out: Uint8Array },
): void {
  crypto.seal(key, 0, plaintext, state.hash, out)
  key.fill(0)
  mixHash(crypto, state, out)
}

/** The reverse of `sealAndMix`; undefined when the tag is wrong. Zeroes `key`. */
export function openAndMix(
  crypto: Crypto,
  state: SymmetricState,
  { key, ciphertext }: { key: Uint8Array; ciphertext: Uint8Array },
): Uint8Array | undefined {
  const plaintext = new Uint8Array(Math.max(0, ciphertext.length - TAG_BYTES))
  const isRight = ciphertext.length >= TAG_BYTES && crypto.open(key, 0, ciphertext, state.hash, plaintext)
  key.fill(0)
  if (!isRight) return undefined
  mixHash(crypto, state, ciphertext)
  return plaintext
}

/** The transport keys, initiator to responder first (§5.4.5). Erases the state. */
export function split(crypto: Crypto, state: SymmetricState): [Uint8Array, Uint8Array] {
  const keys = kdf2(crypto, state.chainingKey, EMPTY)
  eraseState(state)
  return keys
}

/** By copying constructor: the `slice` of a Node Buffer would share memory, and shared memory is zeroed here. */
export function copyState({ chainingKey, hash }: SymmetricState): SymmetricState {
  return { chainingKey: new Uint8Array(chainingKey), hash: new Uint8Array(hash) }
}

export function eraseState(state: SymmetricState): void {
  state.chainingKey.fill(0)
  state.hash.fill(0)
}

function replaceChainingKey(state: SymmetricState, chainingKey: Uint8Array): void {
  state.chainingKey.fill(0)
  state.chainingKey = chainingKey
}

/** KDF1: t0 = HMAC(key, input); t1 = HMAC(t0, 0x1) */
export function kdf1(crypto: Crypto, key: Uint8Array, input: Uint8Array): [Uint8Array] {
  const secret = crypto.hmac(key, input)
  const first = crypto.hmac(secret, Uint8Array.of(1))
  secret.fill(0)
  return [first]
}

/** KDF2: and t2 = HMAC(t0, t1 || 0x2) */
export function kdf2(crypto: Crypto, key: Uint8Array, input: Uint8Array): [Uint8Array, Uint8Array] {
  const secret = crypto.hmac(key, input)
  const first = crypto.hmac(secret, Uint8Array.of(1))
  const second = expand(crypto, secret, first, 2)
  secret.fill(0)
  return [first, second]
}

/** KDF3: and t3 = HMAC(t0, t2 || 0x3) */
export function kdf3(crypto: Crypto, key: Uint8Array, input: Uint8Array): [Uint8Array, Uint8Array, Uint8Array] {
  const secret = crypto.hmac(key, input)
  const first = crypto.hmac(secret, Uint8Array.of(1))
  const second = expand(crypto, secret, first, 2)
  const third = expand(crypto, secret, second, 3)
  secret.fill(0)
  return [first, second, third]
}

/** HMAC(t0, before || number) */
function expand(crypto: Crypto, secret: Uint8Array, before: Uint8Array, number: number): Uint8Array {
  const input = new Uint8Array(before.length + 1)
  input.set(before)
  input[before.length] = number
  const output = crypto.hmac(secret, input)
  input.fill(0)
  return output
}
