/**
 * Watches the real cryptography for every secret that goes into it or comes out of it, so that a test can ask which of
 * them are still in memory. An array counts as gone when its bytes are zero.
 */

import type { Crypto } from '../crypto.ts'
import { withoutJitter } from './link.ts'

type Kind =
  | 'private key'
  | 'shared secret'
  /** Results of HMAC: chaining keys, keys of one AEAD, session keys. */
  | 'derived key'
  /** Other secrets: the preshared key, and the values that one step of a KDF passes to the next. */
  | 'mixed in'
  | 'handshake hash'
  | 'cookie secret'
  | 'cookie'

export type SecretsLeft = Partial<Record<Kind, number>>

const COOKIE_BYTES = 16
const SECRET_BYTES = 32
/**
 * mac1 and cookie keys are hashes of a label and a public key, and every handshake starts from a hash of the
 * identifier: no secrets.
 */
const LABEL_BYTES = 8
const IDENTIFIER_BYTES = 34

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export function watchSecrets(): { crypto: Crypto; left(): SecretsLeft } {
  const seen = new Map<Uint8Array, Kind>()
  const publicKeys = new Set<string>()

  function note<Bytes extends Uint8Array | undefined>(kind: Kind, bytes: Bytes): Bytes {
    if (bytes !== undefined && !seen.has(bytes)) seen.set(bytes, kind)
    return bytes
  }

  const crypto: Crypto = {
    ...withoutJitter,
    seal(key, ...rest) {
      withoutJitter.seal(note('derived key', key), ...rest)
    },
    open: (key, ...rest) => withoutJitter.open(note('derived key', key), ...rest),
    dh(privateKey, publicKey) {
      publicKeys.add(hex(publicKey))
      return note('shared secret', withoutJitter.dh(note('private key', privateKey), publicKey))
    },
    generate() {
      const pair = withoutJitter.generate()
      note('private key', pair.privateKey)
      publicKeys.add(hex(pair.publicKey))
      return pair
    },
    publicKeyOf: (privateKey) => withoutJitter.publicKeyOf(note('private key', privateKey)),
    hash(first, second) {
      const result = withoutJitter.hash(first, second)
      const isPublic = first.length === LABEL_BYTES || second.length === IDENTIFIER_BYTES
      return isPublic ? result : note('handshake hash', result)
    },
    hmac(key, data) {
      note('derived key', key)
      if (data.length >= SECRET_BYTES) note('mixed in', data)
      return note('derived key', withoutJitter.hmac(key, data))
    },
    mac(key, data) {
      if (key.length === COOKIE_BYTES) note('cookie', key)
      const result = withoutJitter.mac(key, data)
      return seen.get(key) === 'cookie secret' ? note('cookie', result) : result
    },
    xopen: (...given) => note('cookie', withoutJitter.xopen(...given)),
    random(length) {
      const bytes = withoutJitter.random(length)
      return length === SECRET_BYTES ? note('cookie secret', bytes) : bytes
    },
  }

  function left(): SecretsLeft {
    const counts: SecretsLeft = {}
    for (const [bytes, kind] of seen) {
      if (bytes.every((byte) => byte === 0) || publicKeys.has(hex(bytes))) continue
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    return counts
  }

  return { crypto, left }
}
