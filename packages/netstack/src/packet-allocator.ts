const SLAB_BYTES = 65_536

/**
 * Cuts packet buffers from slabs: one allocation for some forty packets. A slab is never reused, so a caller may keep a
 * packet; the slab is freed with the last of its packets.
 */
export class PacketAllocator {
  readonly #allocateSlab: (length: number) => Uint8Array
  #slab: Uint8Array = new Uint8Array(0)
  #used = 0

  /** `allocateSlab` may return memory of any content: then so have the packets, which must be written whole. */
  constructor(allocateSlab: (length: number) => Uint8Array = (length) => new Uint8Array(length)) {
    this.#allocateSlab = allocateSlab
  }

  allocate(length: number): Uint8Array {
    if (length > SLAB_BYTES / 4) return new Uint8Array(length)
    if (this.#used + length > this.#slab.length) {
      this.#slab = this.#allocateSlab(SLAB_BYTES)
      this.#used = 0
    }
    const packet = this.#slab.subarray(this.#used, this.#used + length)
    this.#used = (this.#used + length + 7) & ~7
    return packet
  }
}
