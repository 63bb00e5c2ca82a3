/** Codes that people type: invite codes and recovery codes. Only their hashes are stored. */
import { createHash, randomBytes } from 'node:crypto'

/** Base32 without letters that look like digits: 16 of these characters are 80 bits. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ0123456789'
const LENGTH = 16
const GROUP = /.{4}(?=.)/g

/** 80 random bits as `XXXX-XXXX-XXXX-XXXX`. */
export function makeCode(): string {
  const characters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return characters.replaceAll(GROUP, '$&-')
}

/**
 * The stored hash of a code. Ignores case, spaces and dashes, and reads the letters I, L and O as 1, 1 and 0. A plain
 * hash is enough: nobody guesses 80 random bits.
 */
export function hashCode(code: string): string {
  const canonical = code
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .replaceAll(/[IL]/g, '1')
    .replaceAll('O', '0')
  return createHash('sha256').update(canonical).digest('base64')
}
