/**
 * Spreads a window over its round trip, so that it does not arrive at a short queue as one burst. A bucket of bytes
 * that fills at a little more than the rate of the window; round trips as short as a timer's are left to the
 * acknowledgments.
 */

/** Shorter round trips are not paced: timers are too coarse. */
const MIN_ROUND_TRIP_MS = 2
/** A window may double in a round trip of slow start, and probes a little otherwise. */
const SLOW_START_GAIN = 2
const GAIN = 1.25
/** How much a late timer may catch up. */
const BURST_MS = 3
const MIN_BURST_SEGMENTS = 16
/** The least amount that is worth a timer. */
const QUANTUM_SEGMENTS = 2

export class Pacer {
  #bytes = Infinity
  #bytesPerMs = Infinity
  #filledAt = 0

  /** How many bytes may leave now. */
  fill(
    now: number,
    path: { window: number; smoothedMs: number; isInSlowStart: boolean; segmentBytes: number },
  ): number {
    if (path.smoothedMs < MIN_ROUND_TRIP_MS) return (this.#bytes = this.#bytesPerMs = Infinity)
    this.#bytesPerMs = ((path.isInSlowStart ? SLOW_START_GAIN : GAIN) * path.window) / path.smoothedMs
    const capacity = Math.max(MIN_BURST_SEGMENTS * path.segmentBytes, this.#bytesPerMs * BURST_MS)
    this.#bytes = Math.min(capacity, this.#bytes + (now - this.#filledAt) * this.#bytesPerMs)
    this.#filledAt = now
    return this.#bytes
  }

  spend(bytes: number): void {
    this.#bytes -= bytes
  }

  /** When enough may leave again. */
  nextAt(now: number, segmentBytes: number): number {
    const missing = QUANTUM_SEGMENTS * segmentBytes - this.#bytes
    return missing <= 0 ? now : now + missing / this.#bytesPerMs
  }
}
