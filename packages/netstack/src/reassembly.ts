import type { Range } from './segment.ts'
import { advance, after, before, distance } from './sequence.ts'

/** A piece with a buffer of its own is copied together with others below this size. */
const SMALL_BYTES = 512
/** Buffers that keep bytes grow from one to the other. */
const FIRST_BLOCK_BYTES = 2_048
const LAST_BLOCK_BYTES = 65_536
/** Limits the number of out-of-order pieces; the sender resends refused ones. */
const MAX_PIECES = 4096
/** The cost of a piece besides its bytes: its entry, and an ArrayBuffer of its own. */
export const PIECE_OVERHEAD_BYTES = 256

interface Piece {
  start: number
  /** From the start of an ArrayBuffer that holds nothing else, so that it may grow there. */
  payload: Uint8Array
}

/**
 * The receiving side's bytes: those in order waiting for the application, and those above a gap. Where overlapping
 * segments disagree, the earlier bytes stay. The caller trims to the receive window, which bounds both queues.
 *
 * A payload is a view into a buffer that other packets share, which it must not hold for long: bytes out of order are
 * copied as they come, and those in order when `settle` finds them unread. Each copy lies in an ArrayBuffer with
 * nothing else in it, of less than twice its length or 2 KiB, so `bufferedBytes` is what the memory is.
 */
export class Reassembly {
  /** The next sequence number expected: RCV.NXT, but for a FIN. */
  next: number
  #ready: Uint8Array[] = []
  readyBytes = 0
  /** From here on `#ready` holds views into packets. */
  #firstView = 0
  /** Out of order, sorted and disjoint. */
  #pieces: Piece[] = []
  /** Memory of all copies. */
  bufferedBytes = 0

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
      if (this.#pieces.length === 0) {
        this.next = advance(this.next, news.length)
        this.readyBytes += news.length
        this.#ready.push(news)
      } else {
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
    const chunks = count === this.#ready.length ? this.#ready.splice(0) : this.#ready.splice(0, count)
    for (let i = 0; i < this.#firstView && i < count; i++) this.bufferedBytes -= chunks[i]!.buffer.byteLength
    this.#firstView = Math.max(0, this.#firstView - count)
    return chunks
  }

  /**
   * Copies what is in order and still unread, so that it holds no packet's buffer. To be called once for each batch of
   * packets.
   */
  settle(): void {
    if (this.#firstView === this.#ready.length) return
    const views = this.#ready.splice(this.#firstView)
    let left = 0
    for (const view of views) left += view.length
    for (const view of views) {
      this.#keep(view, left)
      left -= view.length
    }
  }

  /** Drops everything held; later payloads still advance `next`. */
  discard(): void {
    for (let i = 0; i < this.#firstView; i++) this.bufferedBytes -= this.#ready[i]!.buffer.byteLength
    this.#ready = []
    this.#firstView = 0
    this.readyBytes = 0
  }

  /** Copies to the end of the last block, or to a new one with room for `expected` bytes. */
  #keep(bytes: Uint8Array, expected: number): void {
    const last = this.#ready[this.#firstView - 1]
    const grown = last && growInPlace(last, bytes)
    if (grown) {
      this.#ready[this.#firstView - 1] = grown
      return
    }
    const wanted = Math.min(Math.max(expected, this.readyBytes, FIRST_BLOCK_BYTES), LAST_BLOCK_BYTES)
    const block = new Uint8Array(Math.max(wanted, bytes.length))
    block.set(bytes)
    this.#pushKept(block.subarray(0, bytes.length))
  }

  #pushKept(chunk: Uint8Array): void {
    this.#ready.push(chunk)
    this.#firstView = this.#ready.length
    this.bufferedBytes += chunk.buffer.byteLength
  }

  #drainPieces(): void {
    this.settle()
    let count = 0
    for (const { start, payload } of this.#pieces) {
      if (after(start, this.next)) break
      count++
      this.bufferedBytes -= costOf(payload)
      const received = distance(this.next, start)
      if (received >= payload.length) continue
      const news = payload.subarray(received)
      if (news.length < SMALL_BYTES) this.#keep(news, news.length)
      else this.#pushKept(news)
      this.next = advance(this.next, news.length)
      this.readyBytes += news.length
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
        index = this.#holdPart(index, from, payload.subarray(distance(from, start), distance(to, start)))
        held = true
      }
      if (following === undefined || to === end) break
      from = advance(following.start, following.payload.length)
      index++
    }
    return held
  }

  /** Before the piece at `index`; gives the index after it. A part directly after a piece is added to it. */
  #holdPart(index: number, from: number, part: Uint8Array): number {
    const previous = this.#pieces[index - 1]
    if (previous !== undefined && advance(previous.start, previous.payload.length) === from) {
      const length = previous.payload.length + part.length
      const grown = growInPlace(previous.payload, part) ?? (length <= LAST_BLOCK_BYTES && grow(previous.payload, part))
      if (grown) {
        this.bufferedBytes += costOf(grown) - costOf(previous.payload)
        previous.payload = grown
        return index
      }
    }
    const piece = { start: from, payload: new Uint8Array(part) }
    this.#pieces.splice(index, 0, piece)
    this.bufferedBytes += costOf(piece.payload)
    return index + 1
  }
}

const costOf = (payload: Uint8Array): number => payload.buffer.byteLength + PIECE_OVERHEAD_BYTES

/** Writes `bytes` after `chunk` in the ArrayBuffer of which it is the end; undefined when they do not fit. */
function growInPlace(chunk: Uint8Array, bytes: Uint8Array): Uint8Array | undefined {
  const end = chunk.byteOffset + chunk.length
  if (end + bytes.length > chunk.buffer.byteLength) return undefined
  const grown = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length + bytes.length)
  grown.set(bytes, chunk.length)
  return grown
}

/** Both in a new ArrayBuffer, with room for as many bytes again. */
function grow(chunk: Uint8Array, bytes: Uint8Array): Uint8Array {
  const length = chunk.length + bytes.length
  const block = new Uint8Array(Math.min(Math.max(2 * length, FIRST_BLOCK_BYTES), LAST_BLOCK_BYTES))
  block.set(chunk)
  block.set(bytes, chunk.length)
  return block.subarray(0, length)
}
