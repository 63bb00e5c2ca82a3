/**
 * Memory for outgoing datagrams, cut from blocks: one allocation for about forty datagrams, because a separate one
 * would cost as much as encrypting a small datagram. A block is never reused, so a caller may keep a datagram; the
 * block is freed with the last of its pieces.
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
