const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/**
 * RFC 4648 §6 without padding, in lower case: 5 bits per character; the last group is padded with zero bits.
 */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >>> bits) & 31]
    }
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}
