import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { ExchangeKeys } from './proof.ts'

const TAG_LENGTH = 16
/** Every sealing key derives from a fresh nonce and seals one message, so the cipher's nonce can be constant. */
const ZERO_NONCE = Buffer.alloc(12)

/**
 * ChaCha20-Poly1305 (RFC 8439) of the UTF-8 text, ciphertext then tag, as base64. Call it once for each set of keys.
 */
export function seal(keys: ExchangeKeys, text: string): string {
  const cipher = createCipheriv('chacha20-poly1305', keys.seal, ZERO_NONCE, { authTagLength: TAG_LENGTH })
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

/** The text that was sealed, or undefined when the ciphertext was changed. */
export function unseal(keys: ExchangeKeys, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < TAG_LENGTH || bytes.toString('base64') !== sealed) return undefined
  const decipher = createDecipheriv('chacha20-poly1305', keys.seal, ZERO_NONCE, { authTagLength: TAG_LENGTH })
  decipher.setAuthTag(bytes.subarray(-TAG_LENGTH))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_LENGTH)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
