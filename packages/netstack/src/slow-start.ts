/**
 * Slow start that ends before the queue overflows: HyStart++ (RFC 9406). When round trips grow, the window grows four
 * times slower for five rounds, and slow start is over unless they shrink again meanwhile.
 */
import type { Acknowledged } from './congestion-control.ts'

const MIN_THRESHOLD_MS = 4
const MAX_THRESHOLD_MS = 16
const SAMPLES_PER_ROUND = 8
const CONSERVATIVE_DIVISOR = 4
const CONSERVATIVE_ROUNDS = 5

export class SlowStart {
  /** Bytes still to be acknowledged until the round is over: those that were in flight at its start. */
  #roundBytes = 0
  #samples = 0
  #leastMs = Infinity
  #previousLeastMs = Infinity
  /** Infinity outside of conservative slow start. */
  #baselineMs = Infinity
  #conservativeRounds = 0

  /** By how many bytes the window grows; undefined when slow start is over. */
  grow({ bytes, roundTripMs, inFlight }: Acknowledged): number | undefined {
    this.#roundBytes -= bytes
    if (this.#roundBytes <= 0) {
      if (this.#baselineMs !== Infinity && ++this.#conservativeRounds > CONSERVATIVE_ROUNDS) return undefined
      this.#roundBytes = inFlight
      this.#previousLeastMs = this.#leastMs
      this.#leastMs = Infinity
      this.#samples = 0
    }
    this.#leastMs = Math.min(this.#leastMs, roundTripMs)
    this.#samples++
    if (this.#samples >= SAMPLES_PER_ROUND && this.#leastMs !== Infinity) this.#judge()
    return this.#baselineMs === Infinity ? bytes : bytes / CONSERVATIVE_DIVISOR
  }

  /** RFC 9406 §4.2: step 5 enters conservative slow start, step 7 leaves it again. */
  #judge(): void {
    if (this.#baselineMs !== Infinity) {
      if (this.#leastMs < this.#baselineMs) this.#baselineMs = Infinity
      return
    }
    if (this.#previousLeastMs === Infinity) return
    const thresholdMs = Math.max(MIN_THRESHOLD_MS, Math.min(this.#previousLeastMs / 8, MAX_THRESHOLD_MS))
    if (this.#leastMs < this.#previousLeastMs + thresholdMs) return
    this.#baselineMs = this.#leastMs
    this.#conservativeRounds = 0
  }
}
