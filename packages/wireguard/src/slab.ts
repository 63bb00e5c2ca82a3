/**
 * Memory for what goes out, cut from blocks: one allocation for some forty datagrams, where each its own would cost as
 * much as sealing a small one. A block is never used twice, so whoever holds a datagram may keep it; it is freed with
 * the last of its pieces.
 */

const DEFAULT_BLOCK_BYTES = 65_536

export type Slab = {
  /** Zeros that nothing else refers to. */
  cut(length: number): Uint8Array
}

export function createSlab(blockBytes = DEFAULT_BLOCK_BYTES): Slab {
  let block = new Uint8Array(0)
  let used = 0

  function cut(length: number): Uint8Array {
    if (length > blockBytes / 4) return new Uint8Array(length)
    if (used + length > block.length) {
      block = new Uint8Array(blockBytes)
      used = 0
    }
    const piece = block.subarray(used, used + length)
    used += length
    return piece
  }

  return { cut }
}
