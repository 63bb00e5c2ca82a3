import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import { base32 } from './base32.ts'

/** RFC 8410: the DER around a raw Ed25519 key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** An Ed25519 key pair that names a device or a hub for its whole life. */
export type Identity = {
  /** 32 bytes as base64. */
  publicKey: string
  /** 64 bytes as base64. */
  sign(message: Uint8Array): string
}

/** Makes a fresh identity; `seed` (32 bytes as base64) is what its owner keeps in a file of mode 0600. */
export function generateIdentitySeed(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8_PREFIX.length).toString('base64')
}

/** Reads a seed of `generateIdentitySeed`. Throws when it is not 32 bytes of base64. */
export function identityOfSeed(seed: string): Identity {
  const raw = decodeBase64(seed, 32)
  if (!raw) throw new Error('An identity seed is 32 bytes as base64')
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, raw]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length)
  return {
    publicKey: publicKey.toString('base64'),
    sign: (message) => sign(null, message, privateKey).toString('base64'),
  }
}

/** Whether `signature` (base64) over `message` was made by the owner of `publicKey` (base64). */
export function verifySignature(publicKey: string, message: Uint8Array, signature: string): boolean {
  const key = publicKeyObject(publicKey)
  const bytes = decodeBase64(signature, 64)
  return key !== undefined && bytes !== undefined && verify(null, message, key, bytes)
}

/** The first 160 bits of the key's SHA-256 as 8 groups of 4 base32 characters: what a person compares by eye. */
export function fingerprint(publicKey: string): string {
  const digest = createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest().subarray(0, 20)
  return base32(digest).toUpperCase().match(/.{4}/g)!.join(' ')
}

/** Canonical base64 of exactly `length` bytes, or undefined: two spellings of one key are never two keys. */
export function decodeBase64(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

function publicKeyObject(publicKey: string): KeyObject | undefined {
  const raw = decodeBase64(publicKey, 32)
  if (!raw) return undefined
  try {
    return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}
