import { advance, distance } from './sequence.ts'

/** The memory of an idle connection. */
const FIRST_BYTES = 512

/**
 * Bytes from the application that are not yet acknowledged, addressed by sequence number. A ring that grows by doubling
 * and frees its memory when empty. It copies on append, so a caller may reuse its buffer as soon as the write returns,
 * and finding the bytes of a retransmission takes no search.
 */
export class SendBuffer {
  /** Sequence number of the oldest byte kept. */
  start: number
  length = 0
  #ring = new Uint8Array(0)
  /** Index of the oldest byte in the ring. */
  #head = 0

  constructor(start: number) {
    this.start = start
  }

  /** Sequence number after the newest byte. */
  get end(): number {
    return advance(this.start, this.length)
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#ring.length) this.#grow(this.length + bytes.length)
    const capacity = this.#ring.length
    const tail = (this.#head + this.length) & (capacity - 1)
    const room = capacity - tail
    if (bytes.length <= room) this.#ring.set(bytes, tail)
    else {
      this.#ring.set(bytes.subarray(0, room), tail)
      this.#ring.set(bytes.subarray(room), 0)
    }
    this.length += bytes.length
  }

  /** The bytes `[sequence, sequence + length)`: a view to be used at once, or a copy where the ring wraps. */
  view(sequence: number, length: number): Uint8Array {
    const capacity = this.#ring.length
    const at = (this.#head + distance(sequence, this.start)) & (capacity - 1)
    if (at + length <= capacity) return this.#ring.subarray(at, at + length)
    const joined = new Uint8Array(length)
    joined.set(this.#ring.subarray(at), 0)
    joined.set(this.#ring.subarray(0, length - (capacity - at)), capacity - at)
    return joined
  }

  /** Drops everything before `sequence`. */
  release(sequence: number): void {
    const count = Math.min(Math.max(distance(sequence, this.start), 0), this.length)
    this.start = advance(this.start, count)
    this.length -= count
    if (this.length === 0) {
      if (this.#ring.length > FIRST_BYTES) this.#ring = new Uint8Array(0)
      this.#head = 0
    } else this.#head = (this.#head + count) & (this.#ring.length - 1)
  }

  clear(): void {
    this.release(this.end)
    this.#ring = new Uint8Array(0)
  }

  #grow(needed: number): void {
    let capacity = Math.max(this.#ring.length, FIRST_BYTES)
    while (capacity < needed) capacity *= 2
    const ring = new Uint8Array(capacity)
    if (this.length > 0) ring.set(this.view(this.start, this.length), 0)
    this.#ring = ring
    this.#head = 0
  }
}
