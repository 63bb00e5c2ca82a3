import type { Acknowledged, CongestionControl } from './congestion-control.ts'
import { initialWindow } from './new-reno.ts'
import { SlowStart } from './slow-start.ts'

/** RFC 9438 §4.6: the share of the window that remains after a loss. */
const BETA = 0.7
/** RFC 9438 §5, in segments per cubed second. */
const C = 0.4
/** RFC 9438 §4.3: segments per round trip that give Reno's share of a path. */
const RENO_ALPHA = (3 * (1 - BETA)) / (1 + BETA)

/**
 * CUBIC (RFC 9438): after a loss the window returns quickly to where it was, rests there, and then probes ever faster,
 * by time and not by round trips. Slow start is that of RFC 9406.
 */
export class Cubic implements CongestionControl {
  /** May hold fractions of bytes, because growth can be slow. */
  #window: number
  #threshold = Infinity
  #slowStart = new SlowStart()
  readonly #segmentBytes: number
  /** The window at the last loss, in bytes: the plateau of the curve. */
  #maxWindow = 0
  #priorWindow = 0
  /** Reno's window under the same conditions. */
  #renoWindow = 0
  #epochAt: number | undefined
  /** Seconds from the start of the epoch to the plateau. */
  #k = 0
  #before = { window: 0, threshold: Infinity, maxWindow: 0 }

  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes
    this.#window = initialWindow(segmentBytes)
  }

  get window(): number {
    return Math.floor(this.#window)
  }

  get isInSlowStart(): boolean {
    return this.#window < this.#threshold
  }

  onAcknowledged(acknowledged: Acknowledged): void {
    if (this.isInSlowStart) {
      const growth = this.#slowStart.grow(acknowledged)
      if (growth === undefined) this.#threshold = this.#window
      else this.#window = Math.min(this.#window + growth, this.#threshold)
      return
    }
    const { bytes, now } = acknowledged
    if (this.#epochAt === undefined) this.#beginEpoch(now)
    const seconds = (now - this.#epochAt!) / 1000
    // RFC 9438 §4.3: the Reno-friendly region.
    const alpha = this.#renoWindow < this.#priorWindow ? RENO_ALPHA : 1
    this.#renoWindow += (alpha * this.#segmentBytes * bytes) / this.#window
    if (this.#curve(seconds) < this.#renoWindow) {
      this.#window = Math.max(this.#window, this.#renoWindow)
      return
    }
    // RFC 9438 §4.4, §4.5: towards the curve's value in one round trip, at most 1.5 times the window.
    const target = Math.min(this.#curve(seconds + acknowledged.smoothedMs / 1000), 1.5 * this.#window)
    if (target > this.#window) this.#window += ((target - this.#window) * bytes) / this.#window
  }

  onLoss(): void {
    this.#remember()
    this.#reduce()
    this.#window = this.#threshold
  }

  onTimeout(_inFlight: number, isFirst: boolean): void {
    if (isFirst) {
      this.#remember()
      this.#reduce()
    }
    // RFC 9438 §4.8: the plateau is dropped, so the next curve begins where slow start ends.
    this.#maxWindow = 0
    this.#slowStart = new SlowStart()
    this.#window = this.#segmentBytes
  }

  onSpurious(): void {
    if (this.#window >= this.#before.window) return
    this.#window = this.#before.window
    this.#threshold = this.#before.threshold
    this.#maxWindow = this.#before.maxWindow
    this.#epochAt = undefined
  }

  /** RFC 5681 §4.1. The curve starts anew: idle time does not count (RFC 9438 §5.8). */
  onIdle(): void {
    this.#window = Math.min(this.#window, initialWindow(this.#segmentBytes))
    this.#epochAt = undefined
  }

  #remember(): void {
    this.#before = { window: this.#window, threshold: this.#threshold, maxWindow: this.#maxWindow }
  }

  /**
   * RFC 9438 §4.6, and §4.7: a loss below the last plateau leaves room for others. Reduces the window, not the bytes in
   * flight: acknowledgments come in batches here, so when a loss is found nearly all may have arrived. The window grows
   * only while it is used, which §4.6 requires for this.
   */
  #reduce(): void {
    this.#priorWindow = this.#window
    this.#maxWindow = this.#window < this.#maxWindow ? (this.#window * (1 + BETA)) / 2 : this.#window
    this.#threshold = Math.max(BETA * this.#window, 2 * this.#segmentBytes)
    this.#epochAt = undefined
  }

  #beginEpoch(now: number): void {
    this.#epochAt = now
    this.#renoWindow = this.#window
    this.#maxWindow = Math.max(this.#maxWindow, this.#window)
    this.#k = Math.cbrt((this.#maxWindow - this.#window) / this.#segmentBytes / C)
  }

  /** RFC 9438 §4.2, figure 1, in bytes. */
  #curve(seconds: number): number {
    return C * (seconds - this.#k) ** 3 * this.#segmentBytes + this.#maxWindow
  }
}
