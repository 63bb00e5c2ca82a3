/**
 * Modulo-2^32 arithmetic on sequence numbers (RFC 9293 §3.4). Every sequence number in this package is an unsigned
 * 32-bit integer.
 */

export const advance = (sequence: number, count: number): number => (sequence + count) >>> 0

/** Signed distance from `b` to `a`; right while the two are less than 2^31 apart, which every window guarantees. */
export const distance = (a: number, b: number): number => (a - b) | 0

export const before = (a: number, b: number): boolean => ((a - b) | 0) < 0
export const after = (a: number, b: number): boolean => ((a - b) | 0) > 0
