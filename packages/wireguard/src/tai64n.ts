/**
 * TAI64N timestamps (§5.1, §5.4.2): 8 bytes of seconds and 4 of nanoseconds, both big endian, so that comparing bytes
 * compares times.
 *
 *   offset size
 *   0      8     2^62 + 10 + seconds since 1970
 *   8      4     nanoseconds, the low 24 bits cleared: to hide the exact clock of this host
 */

export const TIMESTAMP_BYTES = 12
const BASE_HIGH = 0x40000000
const BASE_LOW = 10
const WHITENING = 2 ** 24

/**
 * Makes a clock whose every answer is greater than the one before, even where the wall clock stands still or goes back.
 */
export function createTimestamps(): (unixMs: number) => Uint8Array {
  let lastSeconds = 0
  let lastNanos = -1
  return (unixMs) => {
    let seconds = Math.floor(unixMs / 1000)
    const exact = Math.floor((unixMs - seconds * 1000) * 1e6)
    let nanos = exact - (exact % WHITENING)
    if (seconds < lastSeconds || (seconds === lastSeconds && nanos <= lastNanos)) {
      seconds = lastSeconds
      nanos = lastNanos + 1
      if (nanos === 1e9) {
        seconds++
        nanos = 0
      }
    }
    lastSeconds = seconds
    lastNanos = nanos
    return encodeTimestamp(seconds, nanos)
  }
}

function encodeTimestamp(seconds: number, nanos: number): Uint8Array {
  const bytes = new Uint8Array(TIMESTAMP_BYTES)
  const view = new DataView(bytes.buffer)
  const low = seconds + BASE_LOW
  view.setUint32(0, BASE_HIGH + Math.floor(low / 2 ** 32))
  view.setUint32(4, low % 2 ** 32)
  view.setUint32(8, nanos)
  return bytes
}

/** True when `a` is strictly later than `b`. */
export function isLater(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < TIMESTAMP_BYTES; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}

/** Milliseconds since 1970 of a timestamp in hexadecimal, as `PeerStatus` gives it. */
export function unixMsOfTimestamp(hex: string): number {
  const seconds = BigInt(`0x${hex.slice(0, 16)}`) - (BigInt(BASE_HIGH) << 32n) - BigInt(BASE_LOW)
  return Number(seconds) * 1000 + Number.parseInt(hex.slice(16), 16) / 1e6
}
