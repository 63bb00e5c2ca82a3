/**
 * Bytes that come in pieces, joined as they come. A list of pieces takes a hundred bytes and more for each of them, so
 * a sender of single bytes could fill the memory long before a limit of bytes stops it.
 */
export class GatheredBytes {
  #held = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * length))
      larger.set(this.#held.subarray(0, this.#length))
      this.#held = larger
    }
    this.#held.set(piece, this.#length)
    this.#length = length
  }

  /** All bytes since the last call, in a buffer of their exact length. */
  take(): Buffer<ArrayBuffer> {
    const all = Buffer.from(this.#held.subarray(0, this.#length))
    this.#held = Buffer.alloc(0)
    this.#length = 0
    return all
  }
}

const FIRST_BYTES = 16 * 1024
