const SLAB_BYTES = 65_536

/**
 * Cuts packet buffers from slabs: one allocation for some forty packets. A slab is never reused, so a caller may keep a
 * packet; the slab is freed with the last of its packets.
 */
export class PacketAllocator {
  #slab = new Uint8Array(0)
  #used = 0

  allocate(length: number): Uint8Array {
    if (length > SLAB_BYTES / 4) return new Uint8Array(length)
    if (this.#used + length > this.#slab.length) {
      this.#slab = new Uint8Array(SLAB_BYTES)
      this.#used = 0
    }
    const packet = this.#slab.subarray(this.#used, this.#used + length)
    this.#used = (this.#used + length + 7) & ~7
    return packet
  }
}
