const SLAB_BYTES = 65_536
/** Full slabs that wait for `reuse`: one tick rarely fills more. */
const MAX_FULL_SLABS = 3

/**
 * Cuts packet buffers from slabs: one allocation for some forty packets, and none where the packets of a turn are
 * copied before the next one. Without `reuse` a slab is freed with the last of its packets.
 */
export class PacketAllocator {
  readonly #allocateSlab: (length: number) => Uint8Array
  #slab: Uint8Array = new Uint8Array(0)
  #used = 0
  #full: Uint8Array[] = []
  #free: Uint8Array[] = []

  /** `allocateSlab` may return memory of any content: then so have the packets, which must be written whole. */
  constructor(allocateSlab: (length: number) => Uint8Array = (length) => new Uint8Array(length)) {
    this.#allocateSlab = allocateSlab
  }

  allocate(length: number): Uint8Array {
    if (length > SLAB_BYTES / 4) return new Uint8Array(length)
    if (this.#used + length > this.#slab.length) {
      if (this.#slab.length > 0 && this.#full.length < MAX_FULL_SLABS) this.#full.push(this.#slab)
      this.#slab = this.#free.pop() ?? this.#allocateSlab(SLAB_BYTES)
      this.#used = 0
    }
    const packet = this.#slab.subarray(this.#used, this.#used + length)
    this.#used = (this.#used + length + 7) & ~7
    return packet
  }

  /** Every packet so far may be overwritten. */
  reuse(): void {
    if (this.#full.length > 0) {
      this.#free = [...this.#free, ...this.#full].slice(0, MAX_FULL_SLABS)
      this.#full = []
    }
    this.#used = 0
  }
}
