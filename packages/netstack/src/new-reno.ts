import type { Acknowledged, CongestionControl } from './congestion-control.ts'

/**
 * The window at the start and after idle time (RFC 6928 §2): ten segments, fewer where they are longer than Ethernet's.
 */
export const initialWindow = (segmentBytes: number): number =>
  Math.min(10 * segmentBytes, Math.max(2 * segmentBytes, 14_600))

/** RFC 5681 with byte counting (RFC 3465); recovery itself follows RFC 6582 and RFC 6675 in `acknowledgment.ts`. */
export class NewReno implements CongestionControl {
  window: number
  #threshold = Infinity
  readonly #segmentBytes: number
  #acknowledged = 0
  #before = { window: 0, threshold: Infinity }

  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes
    this.window = initialWindow(segmentBytes)
  }

  get isInSlowStart(): boolean {
    return this.window < this.#threshold
  }

  onAcknowledged({ bytes }: Acknowledged): void {
    if (this.isInSlowStart) {
      // Slow start. A stretched ACK counts fully, because the transmitter limits bursts itself.
      this.window = Math.min(this.window + bytes, Math.max(this.#threshold, this.window))
      return
    }
    // Congestion avoidance: one segment per window (RFC 5681 §3.1).
    this.#acknowledged += bytes
    while (this.#acknowledged >= this.window) {
      this.#acknowledged -= this.window
      this.window += this.#segmentBytes
    }
  }

  onLoss(inFlight: number): void {
    this.#before = { window: this.window, threshold: this.#threshold }
    this.#threshold = Math.max(Math.floor(inFlight / 2), 2 * this.#segmentBytes)
    this.window = this.#threshold
    this.#acknowledged = 0
  }

  onTimeout(inFlight: number, isFirst: boolean): void {
    if (isFirst) {
      this.#before = { window: this.window, threshold: this.#threshold }
      this.#threshold = Math.max(Math.floor(inFlight / 2), 2 * this.#segmentBytes)
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
    this.window = Math.min(this.window, initialWindow(this.#segmentBytes))
  }
}
