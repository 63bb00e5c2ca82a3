/**
 * The cryptography of the core on `node:crypto`, with keyed BLAKE2s, which OpenSSL's binding lacks, from @noble/hashes. ChaCha20-Poly1305 is
 * given raw keys: a KeyObject costs half as much again per packet.
 */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  randomFillSync,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { blake2s } from '@noble/hashes/blake2.js'
import type { Aead, Crypto } from '../crypto.ts'
import { TAG_BYTES } from '../crypto.ts'
import { KEY_BYTES } from '../keys.ts'

const AEAD = 'chacha20-poly1305'
const AEAD_OPTIONS = { authTagLength: TAG_BYTES }
const MAC_BYTES = 16

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
  open(key, counter, ciphertext, ad) {
    return openWith(key, nonceOf(counter), { ciphertext, ad })
  },
}

/** Importing a private key computes its public one, which costs as much as a DH, so the import is kept as long as its bytes are. */
const imported = new WeakMap<Uint8Array, KeyObject>()

function privateKeyObject(bytes: Uint8Array): KeyObject {
  let key = imported.get(bytes)
  if (key === undefined) {
    key = createPrivateKey({ key: Buffer.from(bytes), format: 'raw-private', asymmetricKeyType: 'x25519' })
    imported.set(bytes, key)
  }
  return key
}

function publicKeyObject(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(bytes), format: 'raw-public', asymmetricKeyType: 'x25519' })
}

function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return Uint8Array.from(createPublicKey(privateKeyObject(privateKey)).export({ format: 'raw-public' }))
}

export const nodeCrypto: Crypto = {
  ...nodeAead,
  dh(privateKey, publicKey) {
    try {
      return plain(diffieHellman({ privateKey: privateKeyObject(privateKey), publicKey: publicKeyObject(publicKey) }))
    } catch {
      // OpenSSL refuses an all-zero result, and only that: both keys are 32 bytes.
      return undefined
    }
  },
  generate() {
    const privateKey = randomFillSync(new Uint8Array(KEY_BYTES))
    return { privateKey, publicKey: publicKeyOf(privateKey) }
  },
  publicKeyOf,
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
    const plaintext = openWith(subkey, innerNonce(nonce), { ciphertext, ad })
    subkey.fill(0)
    return plaintext
  },
  random: (length) => randomFillSync(new Uint8Array(length)),
}

function sealWith(
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

function openWith(
  key: Uint8Array,
  nonce: Uint8Array,
  { ciphertext, ad }: { ciphertext: Uint8Array; ad: Uint8Array },
): Uint8Array | undefined {
  const length = ciphertext.length - TAG_BYTES
  const decipher = createDecipheriv(AEAD, key, nonce, AEAD_OPTIONS)
  if (ad.length > 0) decipher.setAAD(ad)
  decipher.setAuthTag(ciphertext.subarray(length))
  const plaintext = decipher.update(ciphertext.subarray(0, length))
  try {
    decipher.final()
  } catch {
    return undefined
  }
  return plain(plaintext)
}

/** The same memory without Buffer's ways: its `slice`, unlike every other Uint8Array's, does not copy. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
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
 * HChaCha20 is the ChaCha20 block function without its last addition of the input. OpenSSL gives the block, so taking the
 * input of the first and last rows away again leaves HChaCha20: there is no primitive of ours here.
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
