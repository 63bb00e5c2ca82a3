/** Congestion control: how much may be in flight. Connections know only the interface; NewReno is the one algorithm so far. */

/** Initial window in segments (RFC 6928 §2). */
const INITIAL_SEGMENTS = 10

/** Windows in bytes. */
export interface CongestionControl {
  readonly window: number
  /** `acknowledged` bytes left the network outside of fast recovery. */
  onAcknowledged(acknowledged: number, now: number): void
  /** A loss was detected by RACK or duplicates; called once per recovery. */
  onLoss(inFlight: number, now: number): void
  /** The retransmission timer expired; `isFirst` is false for the repeats of one timeout. */
  onTimeout(inFlight: number, isFirst: boolean): void
  /** What was last taken for a loss was none: the window is as before it. */
  onSpurious(): void
  /** Nothing was in flight for longer than a retransmission timeout. */
  onIdle(): void
}

/** RFC 5681 with byte counting (RFC 3465); recovery itself follows RFC 6582 and RFC 6675 in `acknowledgment.ts`. */
export class NewReno implements CongestionControl {
  window: number
  #threshold = Infinity
  readonly #segmentBytes: number
  #acknowledged = 0
  #before = { window: 0, threshold: Infinity }

  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes
    this.window = INITIAL_SEGMENTS * segmentBytes
  }

  onAcknowledged(acknowledged: number): void {
    if (this.window < this.#threshold) {
      // Slow start. The whole of a stretched ACK counts, because the transmitter bounds bursts itself.
      this.window = Math.min(this.window + acknowledged, Math.max(this.#threshold, this.window))
      return
    }
    // Congestion avoidance: one segment per window (RFC 5681 §3.1).
    this.#acknowledged += acknowledged
    while (this.#acknowledged >= this.window) {
      this.#acknowledged -= this.window
      this.window += this.#segmentBytes
    }
  }

  onLoss(inFlight: number): void {
    this.#before = { window: this.window, threshold: this.#threshold }
    this.#threshold = Math.max(inFlight / 2, 2 * this.#segmentBytes)
    this.window = this.#threshold
    this.#acknowledged = 0
  }

  onTimeout(inFlight: number, isFirst: boolean): void {
    if (isFirst) {
      this.#before = { window: this.window, threshold: this.#threshold }
      this.#threshold = Math.max(inFlight / 2, 2 * this.#segmentBytes)
    }
    this.window = this.#segmentBytes
    this.#acknowledged = 0
  }

  onSpurious(): void {
    this.window = Math.max(this.window, this.#before.window)
    this.#threshold = Math.max(this.#threshold, this.#before.threshold)
  }

  /** RFC 5681 §4.1. */
  onIdle(): void {
    this.window = Math.min(this.window, INITIAL_SEGMENTS * this.#segmentBytes)
  }
}
