import type { Range } from './segment.ts'
import { advance, after, before, distance } from './sequence.ts'

/** Payloads below this are copied together, so that many tiny segments cannot pin a packet buffer each. */
const SMALL_BYTES = 512
const SMALL_BLOCK_BYTES = 4096
/** Ends the number of out-of-order pieces; the sender sends refused ones again. */
const MAX_PIECES = 4096

interface Piece {
  start: number
  payload: Uint8Array
}

/**
 * The receiving side's bytes: those in order waiting for the application, and those above a gap. Where overlapping
 * segments disagree the bytes that came first stay. The caller trims to the receive window, which bounds both queues.
 */
export class Reassembly {
  /** The next sequence number expected: RCV.NXT, but for a FIN. */
  next: number
  #ready: Uint8Array[] = []
  readyBytes = 0
  /** Out of order, sorted and disjoint. */
  #pieces: Piece[] = []
  /** Unused rest of the block that the newest small chunk lies in. */
  #blockRoom: Uint8Array | undefined

  constructor(next: number) {
    this.next = next
  }

  get hasGap(): boolean {
    return this.#pieces.length > 0
  }

  /** Takes a payload at `start`; returns the range held out of order, 'in-order', 'duplicate' or 'full'. */
  insert(start: number, payload: Uint8Array): Range | 'in-order' | 'duplicate' | 'full' {
    const end = advance(start, payload.length)
    if (!after(end, this.next)) return 'duplicate'
    if (!after(start, this.next)) {
      const news = start === this.next ? payload : payload.subarray(distance(this.next, start))
      if (this.#pieces.length === 0) this.#append(news)
      else {
        this.#hold(this.next, news)
        this.#drainPieces()
      }
      return 'in-order'
    }
    if (this.#pieces.length >= MAX_PIECES) return 'full'
    return this.#hold(start, payload) ? { start, end } : 'duplicate'
  }

  /** Hands over the chunks in order, at least one and up to about `maxBytes`. */
  take(maxBytes: number): Uint8Array[] {
    if (this.#ready.length === 0) return []
    let count = 0
    let bytes = 0
    while (count < this.#ready.length && (count === 0 || bytes + this.#ready[count]!.length <= maxBytes))
      bytes += this.#ready[count++]!.length
    this.readyBytes -= bytes
    this.#blockRoom = undefined
    return count === this.#ready.length ? this.#ready.splice(0) : this.#ready.splice(0, count)
  }

  /** Forgets everything held; later payloads still advance `next`. */
  discard(): void {
    this.#ready = []
    this.readyBytes = 0
    this.#blockRoom = undefined
  }

  clear(): void {
    this.discard()
    this.#pieces = []
  }

  #append(payload: Uint8Array): void {
    this.next = advance(this.next, payload.length)
    this.readyBytes += payload.length
    const last = this.#ready.length - 1
    if (payload.length >= SMALL_BYTES || last < 0) {
      this.#ready.push(payload)
      this.#blockRoom = undefined
      return
    }
    if (this.#blockRoom === undefined || this.#blockRoom.length < payload.length) {
      const block = new Uint8Array(SMALL_BLOCK_BYTES)
      block.set(payload)
      this.#ready.push(block.subarray(0, payload.length))
      this.#blockRoom = block.subarray(payload.length)
      return
    }
    const tail = this.#ready[last]!
    this.#blockRoom.set(payload)
    this.#blockRoom = this.#blockRoom.subarray(payload.length)
    this.#ready[last] = new Uint8Array(tail.buffer, tail.byteOffset, tail.length + payload.length)
  }

  #drainPieces(): void {
    let count = 0
    for (const piece of this.#pieces) {
      if (after(piece.start, this.next)) break
      count++
      const known = distance(this.next, piece.start)
      if (known < piece.payload.length) this.#append(piece.payload.subarray(known))
    }
    this.#pieces.splice(0, count)
  }

  /** Keeps the parts of a payload that no held piece covers; false when there are none. */
  #hold(start: number, payload: Uint8Array): boolean {
    const end = advance(start, payload.length)
    let index = this.#pieces.length
    while (index > 0 && !before(this.#pieces[index - 1]!.start, start)) index--
    let from = start
    const before_ = this.#pieces[index - 1]
    if (before_ !== undefined) {
      const heldEnd = advance(before_.start, before_.payload.length)
      if (after(heldEnd, from)) from = heldEnd
    }
    let held = false
    while (before(from, end)) {
      const following = this.#pieces[index]
      const to = following !== undefined && before(following.start, end) ? following.start : end
      if (before(from, to)) {
        const part = payload.subarray(distance(from, start), distance(to, start))
        this.#pieces.splice(index, 0, { start: from, payload: part.length < SMALL_BYTES ? part.slice() : part })
        held = true
        index++
      }
      if (following === undefined || to === end) break
      from = advance(following.start, following.payload.length)
      index++
    }
    return held
  }
}
