/** Shorter ranges are summed by bytes: a view of words costs more. */
const MIN_WORDS_BYTES = 64

/**
 * Adds the big-endian 16-bit words of `bytes[start, end)` to `sum`; an odd last byte is padded with zero (RFC 1071 §1).
 */
export function sumWords(bytes: Uint8Array, start: number, end: number, sum = 0): number {
  let total = sum
  let i = start
  const at = bytes.byteOffset + start
  if (at % 4 === 0 && end - start >= MIN_WORDS_BYTES) {
    // Every byte sent passes here, so four at a time.
    const words = new Uint32Array(bytes.buffer, at, (end - start) >>> 2)
    total += isLittleEndian ? swapped(sumBothHalves(words)) : sumBothHalves(words)
    i += words.byteLength
  }
  for (; i + 1 < end; i += 2) total += (bytes[i]! << 8) | bytes[i + 1]!
  if (i < end) total += bytes[i]! << 8
  return total
}

function sumBothHalves(words: Uint32Array): number {
  let high = 0
  let low = 0
  let i = 0
  for (const last = words.length - 3; i < last; i += 4) {
    const first = words[i]!
    const second = words[i + 1]!
    const third = words[i + 2]!
    const fourth = words[i + 3]!
    high += (first >>> 16) + (second >>> 16) + (third >>> 16) + (fourth >>> 16)
    low += (first & 0xffff) + (second & 0xffff) + (third & 0xffff) + (fourth & 0xffff)
  }
  for (; i < words.length; i++) {
    high += words[i]! >>> 16
    low += words[i]! & 0xffff
  }
  return high + low
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** The sum of swapped words is their swapped sum, up to multiples of 0xffff, which fold away (RFC 1071 §2 (B)). */
function swapped(sum: number): number {
  const folded = fold(sum)
  return ((folded & 0xff) << 8) | (folded >>> 8)
}

function fold(sum: number): number {
  const once = (sum & 0xffff) + (sum >>> 16)
  return (once & 0xffff) + (once >>> 16)
}

/** Folds the carries and complements (RFC 1071 §1). The result is 0 over data that includes its correct checksum. */
export function foldChecksum(sum: number): number {
  return ~fold(sum) & 0xffff
}

/** Sum of the pseudo-header that TCP puts in front of a segment (RFC 9293 §3.1). */
export function sumPseudoHeader(source: number, destination: number, protocol: number, length: number): number {
  return sumAddress(source) + sumAddress(destination) + protocol + length
}

/** Sum of the two words of an IPv4 address. */
export const sumAddress = (address: number): number => (address >>> 16) + (address & 0xffff)
