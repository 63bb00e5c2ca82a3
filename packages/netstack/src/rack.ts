/**
 * RACK-TLP loss detection (RFC 8985): a segment is lost when one sent sufficiently later has arrived. Unlike counting
 * duplicates it notices a lost retransmission and tolerates reordering. For peers without SACK see `acknowledgment.ts`.
 */
import type { RetransmissionQueue, RoundTrip, SentSegment } from './retransmission.ts'
import { after, before } from './sequence.ts'

const DUPLICATE_THRESHOLD = 3
/** Round trips after which a widened reordering window shrinks back (RFC 8985 §6.2 step 4). */
const WINDOW_PERSISTENCE = 16
/** The smoothed round trip bounds the window; this only keeps it from staying there for long. */
const MAX_WINDOW_MULTIPLIER = 255
const WORST_CASE_DELAYED_ACK_MS = 200

export class Rack {
  /** Send time and end of the most recently sent segment known to have arrived. */
  #deliveredSentAt = -Infinity
  #deliveredEnd = 0
  #roundTripMs = 0
  #highestDelivered: number | undefined
  reorderingSeen = false
  #windowMultiplier = 1
  #windowPersistence = 0
  /** How late the latest of the overtaken segments came. */
  #latenessMs = 0

  /** RFC 8985 §6.2 steps 1 to 3, for one segment newly acknowledged or sacked. */
  noteDelivered(segment: SentSegment, now: number, roundTrip: RoundTrip): void {
    if (this.#highestDelivered === undefined || after(segment.end, this.#highestDelivered))
      this.#highestDelivered = segment.end
    else if (!segment.retransmitted && before(segment.end, this.#highestDelivered)) {
      this.reorderingSeen = true
      this.#noteLate(now - segment.sentAt - this.#roundTripMs)
    }
    const rtt = now - segment.sentAt
    // An answer faster than the path's minimum belongs to the first transmission.
    if (segment.retransmitted && rtt < roundTrip.minMs) return
    if (
      segment.sentAt > this.#deliveredSentAt ||
      (segment.sentAt === this.#deliveredSentAt && after(segment.end, this.#deliveredEnd))
    ) {
      this.#deliveredSentAt = segment.sentAt
      this.#deliveredEnd = segment.end
      this.#roundTripMs = rtt
    }
  }

  /** A duplicate was reported: the window was too narrow for the reordering of this path (RFC 8985 §6.2 step 4). */
  noteDuplicate(): void {
    this.#windowMultiplier = Math.min(this.#windowMultiplier + 1, MAX_WINDOW_MULTIPLIER)
    this.#windowPersistence = WINDOW_PERSISTENCE
  }

  /**
   * RFC 8985 learns the width only from duplicates. A late arrival shows it at once, before the retransmission that
   * would cause the duplicate; a receiver with timestamps drops segments that arrive after that one.
   */
  #noteLate(byMs: number): void {
    if (byMs <= 0) return
    this.#latenessMs = Math.max(this.#latenessMs, byMs)
    this.#windowPersistence = WINDOW_PERSISTENCE
  }

  noteRecoveryEnded(): void {
    if (--this.#windowPersistence > 0) return
    this.#windowMultiplier = 1
    this.#latenessMs = 0
  }

  /** How much later than its successors a segment may arrive (RFC 8985 §6.2 step 4). */
  #reorderingWindowMs(queue: RetransmissionQueue, roundTrip: RoundTrip, isRecovering: boolean): number {
    if (!this.reorderingSeen) {
      if (isRecovering) return 0
      let sacked = 0
      queue.forEach((segment) => {
        if (segment.sacked) sacked++
        return sacked < DUPLICATE_THRESHOLD
      })
      if (sacked >= DUPLICATE_THRESHOLD) return 0
    }
    const minMs = roundTrip.minMs === Infinity ? roundTrip.smoothedMs : roundTrip.minMs
    // RFC 8985 bounds it by the smoothed round trip; where round trips differ by more, as between overtaking and
    // overtaken packets, no bound below their spread is enough.
    return Math.min(Math.max((this.#windowMultiplier * minMs) / 4, this.#latenessMs), roundTrip.spreadMs)
  }

  /** Marks what is lost by now; returns when the next segment will be, Infinity when none (RFC 8985 §6.2 step 5). */
  detect(queue: RetransmissionQueue, now: number, roundTrip: RoundTrip, isRecovering: boolean): number {
    if (this.#deliveredSentAt === -Infinity) return Infinity
    const windowMs = this.#reorderingWindowMs(queue, roundTrip, isRecovering)
    let nextAt = Infinity
    queue.forEach((segment) => {
      if (segment.sacked || segment.lost) return true
      const isOlder =
        segment.sentAt < this.#deliveredSentAt ||
        (segment.sentAt === this.#deliveredSentAt && before(segment.end, this.#deliveredEnd))
      // Segments sent once are in send order, so the first that is not older ends the search.
      if (!isOlder) return segment.retransmitted
      const lostAt = segment.sentAt + this.#roundTripMs + windowMs
      if (lostAt <= now) queue.markLost(segment)
      else nextAt = Math.min(nextAt, lostAt)
      return true
    })
    return nextAt
  }

  /** At a timeout: the first segment, and those sent long enough ago, are lost (RFC 8985 §6.3). */
  markAtTimeout(queue: RetransmissionQueue, now: number, roundTrip: RoundTrip): void {
    const windowMs = this.#reorderingWindowMs(queue, roundTrip, true)
    let isFirst = true
    queue.forEach((segment) => {
      if (segment.sacked) return true
      if (isFirst || segment.sentAt + Math.max(this.#roundTripMs, roundTrip.smoothedMs) + windowMs <= now)
        queue.markLost(segment)
      isFirst = false
      return true
    })
  }
}

/** How long after the last transmission a tail-loss probe goes out (RFC 8985 §7.2). */
export function probeTimeoutMs(roundTrip: RoundTrip, segmentsInFlight: number): number {
  if (roundTrip.smoothedMs === 0) return Infinity
  return 2 * roundTrip.smoothedMs + (segmentsInFlight === 1 ? WORST_CASE_DELAYED_ACK_MS : 2)
}
