/**
 * The cryptography of the core, with native calls and without. Without: `node:crypto`, with keyed BLAKE2s, which
 * OpenSSL's binding lacks, from @noble/hashes.
 */

import {
  createCipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  randomFillSync,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { blake2s } from '@noble/hashes/blake2.js'
import type { Crypto, KeyPair } from '../crypto.ts'
import { TAG_BYTES } from '../crypto.ts'
import { KEY_BYTES } from '../keys.ts'
import type { HandshakeCrypto } from './native-handshake.ts'
import { nativeHandshakeCrypto } from './native-handshake.ts'
import { fastestAead } from './native-aead.ts'
import { nodeAead, openWith, plain, sealWith } from './node-aead.ts'

const MAC_BYTES = 16

/**
 * Importing a private key computes its public one, which costs as much as a DH, so the import is kept as long as its
 * bytes are, or until `erase`. OpenSSL cleanses its copy when the import is collected.
 */
const imported = new WeakMap<Uint8Array, KeyObject>()

function privateKeyObject(bytes: Uint8Array): KeyObject {
  let key = imported.get(bytes)
  if (key === undefined) {
    key = createPrivateKey({ key: bufferOf(bytes), format: 'raw-private', asymmetricKeyType: 'x25519' })
    imported.set(bytes, key)
  }
  return key
}

function publicKeyObject(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: bufferOf(bytes), format: 'raw-public', asymmetricKeyType: 'x25519' })
}

/** The same memory: a copy of a private key would stay in the pool that Buffers share. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return Uint8Array.from(createPublicKey(privateKeyObject(privateKey)).export({ format: 'raw-public' }))
}

/** Without native calls. */
export const portableCrypto: Crypto = {
  ...nodeAead,
  dh(privateKey, publicKey) {
    try {
      return plain(diffieHellman({ privateKey: privateKeyObject(privateKey), publicKey: publicKeyObject(publicKey) }))
    } catch {
      // OpenSSL refuses an all-zero result, and only that: both keys are 32 bytes.
      return undefined
    }
  },
  generate: () => generateWith(publicKeyOf),
  publicKeyOf,
  erase(privateKey) {
    privateKey.fill(0)
    imported.delete(privateKey)
  },
  hash: (first, second) => plain(createHash('blake2s256').update(first).update(second).digest()),
  hmac: (key, data) => plain(createHmac('blake2s256', key).update(data).digest()),
  mac: (key, data) => blake2s(data, { key, dkLen: MAC_BYTES }),
  xseal(key, nonce, plaintext, ad) {
    const out = new Uint8Array(plaintext.length + TAG_BYTES)
    const subkey = hchacha20(key, nonce)
    sealWith(subkey, innerNonce(nonce), { plaintext, ad, out })
    subkey.fill(0)
    return out
  },
  xopen(key, nonce, ciphertext, ad) {
    const subkey = hchacha20(key, nonce)
    const plaintext = new Uint8Array(ciphertext.length - TAG_BYTES)
    const isRight = openWith(subkey, innerNonce(nonce), { ciphertext, ad, out: plaintext })
    subkey.fill(0)
    return isRight ? plaintext : undefined
  },
  random: (length) => randomFillSync(new Uint8Array(length)),
}

/** Native calls are first looked for when they are needed, so that a device that does without never loads them. */
const handshakes = (): HandshakeCrypto => nativeHandshakeCrypto(portableCrypto) ?? portableCrypto

export const nodeCrypto: Crypto = {
  ...portableCrypto,
  ...fastestAead,
  dh: (privateKey, publicKey) => handshakes().dh(privateKey, publicKey),
  generate: () => generateWith(handshakes().publicKeyOf),
  publicKeyOf: (privateKey) => handshakes().publicKeyOf(privateKey),
  hash: (first, second) => handshakes().hash(first, second),
  hmac: (key, data) => handshakes().hmac(key, data),
  mac: (key, data) => handshakes().mac(key, data),
}

function generateWith(publicOf: (privateKey: Uint8Array) => Uint8Array): KeyPair {
  const privateKey = randomFillSync(new Uint8Array(KEY_BYTES))
  return { privateKey, publicKey: publicOf(privateKey) }
}

/** XChaCha20 puts the last 8 of its 24 nonce bytes behind 4 zero bytes, under a key derived from the first 16. */
function innerNonce(nonce: Uint8Array): Uint8Array {
  const inner = new Uint8Array(12)
  inner.set(nonce.subarray(16, 24), 4)
  return inner
}

/** "expand 32-byte k", the first row of every ChaCha20 state. */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]

/**
 * HChaCha20 is the ChaCha20 block function without its last addition of the input. OpenSSL gives the block, so taking
 * the input of the first and last rows away again leaves HChaCha20: there is no primitive of ours here.
 */
export function hchacha20(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const input = Buffer.from(nonce.subarray(0, 16))
  const block = createCipheriv('chacha20', key, input).update(Buffer.alloc(64))
  const subkey = new Uint8Array(KEY_BYTES)
  const view = new DataView(subkey.buffer)
  for (const [word, constant] of SIGMA.entries()) {
    view.setUint32(word * 4, block.readUInt32LE(word * 4) - constant, true)
    view.setUint32(16 + word * 4, block.readUInt32LE(48 + word * 4) - input.readUInt32LE(word * 4), true)
  }
  block.fill(0)
  return subkey
}
