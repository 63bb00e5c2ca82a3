// ChaCha20-Poly1305 (RFC 8439 §2.8) as WireGuard uses it: a nonce of 32 zero bits and a 64-bit counter. The caller writes the key,
// the associated data, zero-padded to 16 bytes, so that it ends at DATA, and the data at DATA. No key, stream byte,
// associated data (the hash of a handshake) or state of Poly1305 is left in memory when a call returns. Nothing branches on a secret but on whether the tag was right.

import { DATA, EXPECTED_TAG, FIRST, KEY, STREAM_BYTES } from './layout'
import { xorBlocks, xorStream } from './chacha20'
import { polyBegin, polyBlocks, polyEnd } from './poly1305'

@inline
function padded(length: usize): usize {
  return (length + 15) & ~15
}

// The tag over associated data and ciphertext, written behind the ciphertext.
function authenticate(adLength: usize, length: usize): void {
  const end = DATA + length
  const lengths = DATA + padded(length)
  memory.fill(end, 0, lengths - end)
  store<u64>(lengths, <u64>adLength)
  store<u64>(lengths, <u64>length, 8)
  polyBegin()
  polyBlocks(DATA - padded(adLength), lengths + 16)
  memory.fill(lengths, 0, 16)
  polyEnd(end)
}

function begin(low: u32, high: u32): void {
  memory.fill(FIRST, 0, STREAM_BYTES)
  xorBlocks(FIRST, 0, low, high)
}

function forget(adLength: usize): void {
  memory.fill(KEY, 0, FIRST + STREAM_BYTES)
  if (adLength > 0) memory.fill(DATA - padded(adLength), 0, padded(adLength))
}

// Encrypts `length` bytes in place and puts the tag behind them.
export function seal(low: u32, high: u32, adLength: usize, length: usize): void {
  begin(low, high)
  xorStream(DATA, length, FIRST, low, high)
  memory.fill(DATA + length, 0, STREAM_BYTES + 16)
  authenticate(adLength, length)
  forget(adLength)
}

// Decrypts `length` bytes in place if the tag behind them is right, and says whether it was.
export function open(low: u32, high: u32, adLength: usize, length: usize): bool {
  begin(low, high)
  v128.store(EXPECTED_TAG, v128.load(DATA + length))
  authenticate(adLength, length)
  const isRight = !v128.any_true(v128.xor(v128.load(EXPECTED_TAG), v128.load(DATA + length)))
  if (isRight) xorStream(DATA, length, FIRST, low, high)
  memory.fill(DATA + length, 0, STREAM_BYTES + 16)
  forget(adLength)
  return isRight
}
