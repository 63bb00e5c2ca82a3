/**
 * Encrypts two-factor secrets: AES-256-GCM under a key of this hub, bound to their user. The key is in the same
 * database, so this protects a leaked row or column, not a leaked file.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export type TwoFactorSecrets = {
  seal(secret: string, userId: string): string
  /** Throws for a secret of another user or another key. */
  open(sealed: string, userId: string): string
}

/** `key` is 32 bytes as base64. */
export function createTwoFactorSecrets(key: string): TwoFactorSecrets {
  const keyBytes = Buffer.from(key, 'base64')
  return {
    seal(secret, userId) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, keyBytes, nonce).setAAD(Buffer.from(userId))
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
    },
    open(sealed, userId) {
      const bytes = Buffer.from(sealed, 'base64')
      const tagEnd = NONCE_BYTES + TAG_BYTES
      const decipher = createDecipheriv(CIPHER, keyBytes, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(userId)).setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd))
      return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8')
    },
  }
}
