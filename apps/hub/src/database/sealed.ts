/**
 * Encrypts secrets that the hub must read again: AES-256-GCM under a key of this hub, bound to what they belong to. The
 * key is in the same database, so this protects a leaked row or column, not a leaked file.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export type Sealing = {
  /** `owner` is the id of the user or the name of the channel. */
  seal(secret: string, owner: string): string
  /** Throws for a secret of another owner or another key. */
  open(sealed: string, owner: string): string
}

/** `key` is 32 bytes as base64. */
export function createSealing(key: string): Sealing {
  const keyBytes = Buffer.from(key, 'base64')
  return {
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, keyBytes, nonce).setAAD(Buffer.from(owner))
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed, 'base64')
      const tagEnd = NONCE_BYTES + TAG_BYTES
      const decipher = createDecipheriv(CIPHER, keyBytes, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd))
      return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8')
    },
  }
}
