// Poly1305 (RFC 8439 §2.5) in radix 2^32 over 64-bit products. The clamped key leaves the top bits of every product sum free,
// so four products and a carry fit. Nothing branches on data.

import { FIRST } from './layout'

let r0: u64 = 0, r1: u64 = 0, r2: u64 = 0, r3: u64 = 0
let h0: u64 = 0, h1: u64 = 0, h2: u64 = 0, h3: u64 = 0, h4: u64 = 0

// Takes r from the first half of the key at FIRST, clamped, and starts from zero.
export function polyBegin(): void {
  r0 = <u64>(load<u32>(FIRST) & 0x0fffffff)
  r1 = <u64>(load<u32>(FIRST, 4) & 0x0ffffffc)
  r2 = <u64>(load<u32>(FIRST, 8) & 0x0ffffffc)
  r3 = <u64>(load<u32>(FIRST, 12) & 0x0ffffffc)
  h0 = 0; h1 = 0; h2 = 0; h3 = 0; h4 = 0
}

// h = (h + block) * r for each of the whole 16-byte blocks from `at` to `end`.
export function polyBlocks(at: usize, end: usize): void {
  const R0 = r0, R1 = r1, R2 = r2, R3 = r3
  // 2^130 = 5: a word of r that would land past 2^128 comes back as 5/4 of itself, whole because r is clamped.
  const S1 = R1 + (R1 >> 2), S2 = R2 + (R2 >> 2), S3 = R3 + (R3 >> 2)
  let a0 = h0, a1 = h1, a2 = h2, a3 = h3, a4 = h4
  for (; at < end; at += 16) {
    a0 += <u64>load<u32>(at)
    a1 += <u64>load<u32>(at, 4) + (a0 >> 32)
    a2 += <u64>load<u32>(at, 8) + (a1 >> 32)
    a3 += <u64>load<u32>(at, 12) + (a2 >> 32)
    a4 += 1 + (a3 >> 32)
    a0 &= 0xffffffff; a1 &= 0xffffffff; a2 &= 0xffffffff; a3 &= 0xffffffff

    const d0 = a0 * R0 + a1 * S3 + a2 * S2 + a3 * S1
    let d1 = a0 * R1 + a1 * R0 + a2 * S3 + a3 * S2 + a4 * S1
    let d2 = a0 * R2 + a1 * R1 + a2 * R0 + a3 * S3 + a4 * S2
    let d3 = a0 * R3 + a1 * R2 + a2 * R1 + a3 * R0 + a4 * S3
    a4 = a4 * R0

    d1 += d0 >> 32
    d2 += d1 >> 32
    d3 += d2 >> 32
    a4 += d3 >> 32
    // What is past 2^130 comes back five times.
    a0 = (d0 & 0xffffffff) + (a4 >> 2) + (a4 & ~3)
    a1 = d1 & 0xffffffff
    a2 = d2 & 0xffffffff
    a3 = d3 & 0xffffffff
    a4 &= 3
  }
  h0 = a0; h1 = a1; h2 = a2; h3 = a3; h4 = a4
}

// Writes the tag of what went in, plus s, at `tag`, and forgets h and r.
export function polyEnd(tag: usize): void {
  let c: u64
  c = h0; const a0 = c & 0xffffffff
  c = h1 + (c >> 32); const a1 = c & 0xffffffff
  c = h2 + (c >> 32); const a2 = c & 0xffffffff
  c = h3 + (c >> 32); const a3 = c & 0xffffffff
  const a4 = h4 + (c >> 32)

  // h - (2^130 - 5), taken instead of h when it is not negative: h is below twice that.
  c = a0 + 5; const g0 = c & 0xffffffff
  c = a1 + (c >> 32); const g1 = c & 0xffffffff
  c = a2 + (c >> 32); const g2 = c & 0xffffffff
  c = a3 + (c >> 32); const g3 = c & 0xffffffff
  const mask: u64 = 0 - ((a4 + (c >> 32)) >> 2)

  c = (a0 ^ (mask & (a0 ^ g0))) + <u64>load<u32>(FIRST, 16)
  store<u32>(tag, <u32>c)
  c = (a1 ^ (mask & (a1 ^ g1))) + <u64>load<u32>(FIRST, 20) + (c >> 32)
  store<u32>(tag, <u32>c, 4)
  c = (a2 ^ (mask & (a2 ^ g2))) + <u64>load<u32>(FIRST, 24) + (c >> 32)
  store<u32>(tag, <u32>c, 8)
  c = (a3 ^ (mask & (a3 ^ g3))) + <u64>load<u32>(FIRST, 28) + (c >> 32)
  store<u32>(tag, <u32>c, 12)
  h0 = 0; h1 = 0; h2 = 0; h3 = 0; h4 = 0
  r0 = 0; r1 = 0; r2 = 0; r3 = 0
}
