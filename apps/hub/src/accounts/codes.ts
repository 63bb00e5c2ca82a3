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

const DIGIT = /\p{Nd}/u

/**
 * A code as people meant it: digits of any script as 0 to 9, upper case, without spaces, dashes and invisible marks,
 * which come with copied text. Unicode gives each script's digits ten code points in a row (section 4.6).
 */
export function plainCode(code: string): string {
  return code
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{Pd}\p{Dash}\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replaceAll(/\p{Nd}/gu, (digit) => {
      const at = digit.codePointAt(0)!
      let zero = at
      while (at - zero < 9 && DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1
      return String(at - zero)
    })
}

/**
 * The stored hash of a code. Ignores case, spaces and dashes, and reads the letters I, L and O as 1, 1 and 0. A plain
 * hash is enough: nobody guesses 80 random bits.
 */
export function hashCode(code: string): string {
  const canonical = plainCode(code)
    .replaceAll(/[^A-Z0-9]/g, '')
    .replaceAll(/[IL]/g, '1')
    .replaceAll('O', '0')
  return createHash('sha256').update(canonical).digest('base64')
}
