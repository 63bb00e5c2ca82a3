/**
 * Memory for datagrams, cut from blocks: one allocation for about forty datagrams, because a separate one would cost as
 * much as encrypting a small datagram. A piece belongs to its caller until somebody who knows that all pieces were
 * copied says `reuse`; without that a block is freed with the last of its pieces.
 */

const DEFAULT_BLOCK_BYTES = 65_536
/** Full blocks that wait for `reuse`: a turn of the event loop rarely fills more. */
const MAX_FULL_BLOCKS = 3

export type Slab = {
  /** Of any content; nothing else refers to it. */
  cut(length: number): Uint8Array
  /** The pieces cut since the last `keep` may be overwritten. */
  reuse(): void
  /** The pieces cut so far are never overwritten. */
  keep(): void
}

/** `allocate` may give memory of any content. */
export function createSlab(
  blockBytes = DEFAULT_BLOCK_BYTES,
  allocate = (length: number): Uint8Array => new Uint8Array(length),
): Slab {
  let block: Uint8Array = new Uint8Array(0)
  let used = 0
  /** Before this, `block` holds pieces to keep. */
  let bytes = 0
  let full: Uint8Array[] = []
  let free: Uint8Array[] = []

  function cut(length: number): Uint8Array {
    if (length > blockBytes / 4) return new Uint8Array(length)
    if (used + length > block.length) {
      if (block.length > 0 && bytes === 0 && full.length < MAX_FULL_BLOCKS) full.push(block)
      block = free.pop() ?? allocate(blockBytes)
      used = bytes = 0
    }
    const piece = block.subarray(used, used + length)
    used += length
    return piece
  }

  function reuse(): void {
    if (full.length > 0) {
      free = [...free, ...full].slice(0, MAX_FULL_BLOCKS)
      full = []
    }
    used = bytes
  }

  function keep(): void {
    full = []
    bytes = used
  }

  return { cut, reuse, keep }
}
