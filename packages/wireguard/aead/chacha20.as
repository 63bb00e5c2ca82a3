// The ChaCha20 stream (RFC 8439 §2.3, §2.4), four blocks at a time: each of the sixteen state words is one vector whose four lanes
// belong to four consecutive blocks, so a quarter round works on all four at once and no word ever changes lanes before the end.

import { KEY, STREAM_BYTES } from './layout'

const ROTATE_16 = i8x16(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
const ROTATE_8 = i8x16(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14)

@inline
function rotate16(x: v128): v128 {
  return i8x16.swizzle(x, ROTATE_16)
}

@inline
function rotate12(x: v128): v128 {
  return v128.or(i32x4.shl(x, 12), i32x4.shr_u(x, 20))
}

@inline
function rotate8(x: v128): v128 {
  return i8x16.swizzle(x, ROTATE_8)
}

@inline
function rotate7(x: v128): v128 {
  return v128.or(i32x4.shl(x, 7), i32x4.shr_u(x, 25))
}

@inline
function keyWord(index: usize): v128 {
  return v128.load32_splat(KEY + index * 4)
}

// Four words of four blocks, lane by block, become sixteen stream bytes of each block; they are xored into the data at `at`.
@inline
function xorRow(at: usize, a: v128, b: v128, c: v128, d: v128): void {
  const ab = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const cd = i32x4.shuffle(c, d, 0, 4, 1, 5)
  const AB = i32x4.shuffle(a, b, 2, 6, 3, 7)
  const CD = i32x4.shuffle(c, d, 2, 6, 3, 7)
  v128.store(at, v128.xor(v128.load(at), i64x2.shuffle(ab, cd, 0, 2)))
  v128.store(at, v128.xor(v128.load(at, 64), i64x2.shuffle(ab, cd, 1, 3)), 64)
  v128.store(at, v128.xor(v128.load(at, 128), i64x2.shuffle(AB, CD, 0, 2)), 128)
  v128.store(at, v128.xor(v128.load(at, 192), i64x2.shuffle(AB, CD, 1, 3)), 192)
}

// Xors the stream of blocks `block` to `block + 3` into the 256 bytes at `at`. The nonce is 32 zero bits and `low`, `high`.
export function xorBlocks(at: usize, block: u32, low: u32, high: u32): void {
  const s0 = i32x4.splat(0x61707865)
  const s1 = i32x4.splat(0x3320646e)
  const s2 = i32x4.splat(0x79622d32)
  const s3 = i32x4.splat(0x6b206574)
  const s12 = i32x4.add(i32x4.splat(block), i32x4(0, 1, 2, 3))
  const s14 = i32x4.splat(low)
  const s15 = i32x4.splat(high)

  let x0 = s0, x1 = s1, x2 = s2, x3 = s3
  let x4 = keyWord(0), x5 = keyWord(1), x6 = keyWord(2), x7 = keyWord(3)
  let x8 = keyWord(4), x9 = keyWord(5), x10 = keyWord(6), x11 = keyWord(7)
  let x12 = s12, x13 = i32x4.splat(0), x14 = s14, x15 = s15

  for (let i = 0; i < 10; i++) {
    // Columns
    x0 = i32x4.add(x0, x4); x12 = rotate16(v128.xor(x12, x0))
    x1 = i32x4.add(x1, x5); x13 = rotate16(v128.xor(x13, x1))
    x2 = i32x4.add(x2, x6); x14 = rotate16(v128.xor(x14, x2))
    x3 = i32x4.add(x3, x7); x15 = rotate16(v128.xor(x15, x3))
    x8 = i32x4.add(x8, x12); x4 = rotate12(v128.xor(x4, x8))
    x9 = i32x4.add(x9, x13); x5 = rotate12(v128.xor(x5, x9))
    x10 = i32x4.add(x10, x14); x6 = rotate12(v128.xor(x6, x10))
    x11 = i32x4.add(x11, x15); x7 = rotate12(v128.xor(x7, x11))
    x0 = i32x4.add(x0, x4); x12 = rotate8(v128.xor(x12, x0))
    x1 = i32x4.add(x1, x5); x13 = rotate8(v128.xor(x13, x1))
    x2 = i32x4.add(x2, x6); x14 = rotate8(v128.xor(x14, x2))
    x3 = i32x4.add(x3, x7); x15 = rotate8(v128.xor(x15, x3))
    x8 = i32x4.add(x8, x12); x4 = rotate7(v128.xor(x4, x8))
    x9 = i32x4.add(x9, x13); x5 = rotate7(v128.xor(x5, x9))
    x10 = i32x4.add(x10, x14); x6 = rotate7(v128.xor(x6, x10))
    x11 = i32x4.add(x11, x15); x7 = rotate7(v128.xor(x7, x11))
    // Diagonals
    x0 = i32x4.add(x0, x5); x15 = rotate16(v128.xor(x15, x0))
    x1 = i32x4.add(x1, x6); x12 = rotate16(v128.xor(x12, x1))
    x2 = i32x4.add(x2, x7); x13 = rotate16(v128.xor(x13, x2))
    x3 = i32x4.add(x3, x4); x14 = rotate16(v128.xor(x14, x3))
    x10 = i32x4.add(x10, x15); x5 = rotate12(v128.xor(x5, x10))
    x11 = i32x4.add(x11, x12); x6 = rotate12(v128.xor(x6, x11))
    x8 = i32x4.add(x8, x13); x7 = rotate12(v128.xor(x7, x8))
    x9 = i32x4.add(x9, x14); x4 = rotate12(v128.xor(x4, x9))
    x0 = i32x4.add(x0, x5); x15 = rotate8(v128.xor(x15, x0))
    x1 = i32x4.add(x1, x6); x12 = rotate8(v128.xor(x12, x1))
    x2 = i32x4.add(x2, x7); x13 = rotate8(v128.xor(x13, x2))
    x3 = i32x4.add(x3, x4); x14 = rotate8(v128.xor(x14, x3))
    x10 = i32x4.add(x10, x15); x5 = rotate7(v128.xor(x5, x10))
    x11 = i32x4.add(x11, x12); x6 = rotate7(v128.xor(x6, x11))
    x8 = i32x4.add(x8, x13); x7 = rotate7(v128.xor(x7, x8))
    x9 = i32x4.add(x9, x14); x4 = rotate7(v128.xor(x4, x9))
  }

  xorRow(at, i32x4.add(x0, s0), i32x4.add(x1, s1), i32x4.add(x2, s2), i32x4.add(x3, s3))
  xorRow(at + 16, i32x4.add(x4, keyWord(0)), i32x4.add(x5, keyWord(1)), i32x4.add(x6, keyWord(2)), i32x4.add(x7, keyWord(3)))
  xorRow(at + 32, i32x4.add(x8, keyWord(4)), i32x4.add(x9, keyWord(5)), i32x4.add(x10, keyWord(6)), i32x4.add(x11, keyWord(7)))
  xorRow(at + 48, i32x4.add(x12, s12), x13, i32x4.add(x14, s14), i32x4.add(x15, s15))
}

// Xors the stream from block 1 on into `length` bytes at `at`, which has STREAM_BYTES of room behind it. `first` is the
// stream of blocks 0 to 3, made already, because block 0 is the key of Poly1305.
export function xorStream(at: usize, length: usize, first: usize, low: u32, high: u32): void {
  for (let i: usize = 0; i < STREAM_BYTES - 64; i += 16) {
    v128.store(at + i, v128.xor(v128.load(at + i), v128.load(first + 64 + i)))
  }
  let block: u32 = 4
  for (let i: usize = STREAM_BYTES - 64; i < length; i += STREAM_BYTES) {
    xorBlocks(at + i, block, low, high)
    block += 4
  }
}
