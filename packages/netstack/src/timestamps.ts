/**
 * The timestamps option of one connection (RFC 7323 §3 to §5): a round trip from every acknowledgment, and protection
 * against segments of an earlier lap of the sequence space (PAWS). The clock ticks in milliseconds from an offset that
 * only we know (§7.1).
 */
import { before } from './sequence.ts'

/** The length on the wire, with two bytes of padding (RFC 7323 appendix A). */
export const TIMESTAMP_BYTES = 12
/** RFC 7323 §5.5: a value older than half a lap of the clock is meaningless. */
const MAX_AGE_MS = 24 * 24 * 3_600_000

export class Timestamps {
  readonly #offset: number
  /** TS.Recent: the peer's clock in the segment that last moved our acknowledgment. */
  recent: number
  #recentAt: number

  constructor(offset: number, recent: number, now: number) {
    this.#offset = offset
    this.recent = recent
    this.#recentAt = now
  }

  /** TSval. */
  value(now: number): number {
    return (Math.floor(now) + this.#offset) >>> 0
  }

  /** RFC 7323 §5.3 R1: whether a segment is old. */
  isOld(value: number, now: number): boolean {
    return before(value, this.recent) && now - this.#recentAt <= MAX_AGE_MS
  }

  /** RFC 7323 §4.3 (2); the caller checked that the segment lies at or before our last acknowledgment. */
  note(value: number, now: number): void {
    if (before(value, this.recent) && now - this.#recentAt <= MAX_AGE_MS) return
    this.recent = value
    this.#recentAt = now
  }

  /**
   * The round trip of an echo: at least a millisecond, the clock's resolution; undefined for an echo that cannot be
   * ours.
   */
  roundTripMs(echo: number, now: number): number | undefined {
    const elapsedMs = (this.value(now) - echo) | 0
    return echo === 0 || elapsedMs < 0 || elapsedMs > MAX_ROUND_TRIP_MS ? undefined : Math.max(1, elapsedMs)
  }
}

const MAX_ROUND_TRIP_MS = 600_000
