/** Adds the big-endian 16-bit words of `bytes[start, end)` to `sum`; an odd last byte is padded with zero (RFC 1071 §1). */
export function sumWords(bytes: Uint8Array, start: number, end: number, sum = 0): number {
  let total = sum
  let i = start
  for (; i + 7 < end; i += 8) {
    total +=
      ((bytes[i]! << 8) | bytes[i + 1]!) +
      ((bytes[i + 2]! << 8) | bytes[i + 3]!) +
      ((bytes[i + 4]! << 8) | bytes[i + 5]!) +
      ((bytes[i + 6]! << 8) | bytes[i + 7]!)
  }
  for (; i + 1 < end; i += 2) total += (bytes[i]! << 8) | bytes[i + 1]!
  if (i < end) total += bytes[i]! << 8
  return total
}

/** Folds the carries and complements (RFC 1071 §1). Over data that carries its own right checksum the result is 0. */
export function foldChecksum(sum: number): number {
  let folded = (sum & 0xffff) + (sum >>> 16)
  folded = (folded & 0xffff) + (folded >>> 16)
  return ~folded & 0xffff
}

/** Sum of the pseudo-header that TCP puts in front of a segment (RFC 9293 §3.1). */
export function sumPseudoHeader(source: number, destination: number, protocol: number, length: number): number {
  return (source >>> 16) + (source & 0xffff) + (destination >>> 16) + (destination & 0xffff) + protocol + length
}
