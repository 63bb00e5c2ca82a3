/**
 * How much the peer may send. The right edge never moves back (RFC 9293 §3.8.6) and moves by a segment at least
 * (§3.8.6.2.2). The buffer behind it grows while the application reads as fast as it fills: the bytes read in one round
 * trip are what the path carries in it, and twice that keeps a sender busy. It does not grow while the application does
 * not read.
 */
import { advance, distance } from './sequence.ts'

const FIRST_BUFFER_BYTES = 256 << 10
const MAX_BUFFER_BYTES = 4 << 20
/** Makes a window of 8 MiB expressible (RFC 7323 §2.3). */
export const WINDOW_SCALE = 7

export class ReceiveWindow {
  /** The first sequence number that the peer may not send. */
  edge = 0
  /** The shift of the window field that we send (RFC 7323 §2.2). */
  scale = 0
  bufferBytes = FIRST_BUFFER_BYTES
  readonly #segmentBytes: number
  #readBytes = 0
  #readSince = 0

  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes
  }

  /** What the edge of the next segment may say; `waitingBytes` were not read yet. */
  nextEdge(next: number, waitingBytes: number): number {
    const free = Math.min(Math.max(0, this.bufferBytes - waitingBytes), 0xffff << this.scale)
    const edge = advance(next, free)
    return distance(edge, this.edge) >= Math.min(this.bufferBytes / 2, this.#segmentBytes) ? edge : this.edge
  }

  /**
   * Whether an update is worth a segment: little is promised and there is more, or a quarter of the buffer came free.
   */
  isUpdateDue(next: number, waitingBytes: number): boolean {
    const gain = distance(this.nextEdge(next, waitingBytes), this.edge)
    return gain > 0 && (gain >= this.bufferBytes / 4 || distance(this.edge, next) < 2 * this.#segmentBytes)
  }

  /** The application took bytes. */
  noteRead(bytes: number, now: number, roundTripMs: number): void {
    this.#readBytes += bytes
    const elapsedMs = now - this.#readSince
    if (elapsedMs < Math.max(roundTripMs, 1)) return
    // Reads after idle time count only for a round trip.
    if (2 * this.#readBytes > this.bufferBytes && elapsedMs < 2 * Math.max(roundTripMs, 1) + 10)
      this.bufferBytes = Math.min(MAX_BUFFER_BYTES, Math.max(this.bufferBytes * 2, 2 * this.#readBytes))
    this.#readBytes = 0
    this.#readSince = now
  }
}
