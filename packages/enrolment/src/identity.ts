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

/** The y coordinates of the points whose order divides 8, little-endian, without the sign of x. */
const LOW_ORDER_Y = new Set([
  `01${'00'.repeat(31)}`,
  '00'.repeat(32),
  `ec${'ff'.repeat(30)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
])

/** An Ed25519 key pair that names a device or a hub for its whole life. */
export type Identity = {
  /** 32 bytes as base64. */
  publicKey: string
  /** 64 bytes as base64. */
  sign(message: Uint8Array): string
}

/** Makes a new identity; its owner keeps `seed` (32 bytes as base64) in a file of mode 0600. */
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

/**
 * Whether this can be an identity: 32 bytes as canonical base64, the canonical encoding of a curve coordinate (RFC 8032
 * §5.1.3), and not a low-order point: some verifiers accept forged signatures for those.
 */
export function isIdentityKey(publicKey: string): boolean {
  const raw = decodeBase64(publicKey, 32)
  if (!raw) return false
  raw[31]! &= 0x7f
  return isBelowPrime(raw) && !LOW_ORDER_Y.has(raw.toString('hex'))
}

/**
 * Whether this may be a WireGuard key: 32 bytes as canonical base64 that X25519 (RFC 7748 §5) does not read as the
 * same key as another spelling. Low-order points are detected later, by their all-zero shared value.
 */
export function isWireguardKey(publicKey: string): boolean {
  const raw = decodeBase64(publicKey, 32)
  return raw !== undefined && raw[31]! < 0x80 && isBelowPrime(raw)
}

/** Whether `signature` (base64) over `message` was made by the owner of `publicKey` (base64). */
export function verifySignature(publicKey: string, message: Uint8Array, signature: string): boolean {
  const key = publicKeyObject(publicKey)
  const bytes = decodeBase64(signature, 64)
  return key !== undefined && bytes !== undefined && verify(null, message, key, bytes)
}

/** The first 160 bits of the key's SHA-256 as 8 groups of 4 base32 characters, for people to compare. */
export function fingerprint(publicKey: string): string {
  const digest = createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest().subarray(0, 20)
  return base32(digest).toUpperCase().match(/.{4}/g)!.join(' ')
}

/** The bytes of canonical base64 of exactly `length` bytes, else undefined: each key has one spelling. */
export function decodeBase64(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

/** Whether the little-endian number is less than 2^255 - 19. */
function isBelowPrime(bytes: Uint8Array): boolean {
  if (bytes[31]! < 0x7f) return true
  for (let i = 30; i > 0; i--) if (bytes[i] !== 0xff) return true
  return bytes[0]! < 0xed
}

function publicKeyObject(publicKey: string): KeyObject | undefined {
  if (!isIdentityKey(publicKey)) return undefined
  try {
    return createPublicKey({
      key: Buffer.concat([SPKI_PREFIX, Buffer.from(publicKey, 'base64')]),
      format: 'der',
      type: 'spki',
    })
  } catch {
    return undefined
  }
}
