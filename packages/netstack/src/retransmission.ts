/** What is in flight, and the retransmission timeout (RFC 6298). */
import { after, before, distance } from './sequence.ts'

/**
 * RFC 6298 §2.4 asks for 1 s at least. Like Linux, this waits for the round trip and at least 200 ms more: long enough
 * for a delayed acknowledgment on a long path without variation, and for a tail-loss probe to come first.
 */
const MIN_PATIENCE_MS = 200
/** RFC 6298 §2.5: at least 60 s. */
const MAX_RTO_MS = 60_000
/** RFC 8985 §6.2 step 1 wants a recent minimum, and leaves how recent to the implementation. */
const MIN_STRETCH_MS = 5_000
/** RFC 6298 §2.1, and §5.7 for data that follows a handshake in which a SYN was sent again. */
const INITIAL_RTO_MS = 1_000
const UNTIMED_RTO_MS = 3_000

/** One segment that occupies sequence space and is not yet acknowledged. */
export interface SentSegment {
  start: number
  end: number
  /** When it last left. */
  sentAt: number
  isFin: boolean
  retransmitted: boolean
  sacked: boolean
  /** Considered lost and not sent again since. */
  lost: boolean
}

/** The segments in flight, in sequence order. */
export class RetransmissionQueue {
  #segments: SentSegment[] = []
  #head = 0
  sackedBytes = 0
  lostBytes = 0
  /** Bytes that left the network according to duplicates, which name no segment (RFC 5681 §3.2 step 4). */
  departedBytes = 0
  /** Bytes between the first and the last segment. */
  bytes = 0

  get isEmpty(): boolean {
    return this.#head === this.#segments.length
  }

  get count(): number {
    return this.#segments.length - this.#head
  }

  get first(): SentSegment | undefined {
    return this.#segments[this.#head]
  }

  get firstUnsacked(): SentSegment | undefined {
    let found: SentSegment | undefined
    this.forEach((segment) => {
      if (!segment.sacked) found = segment
      return found === undefined
    })
    return found
  }

  get last(): SentSegment | undefined {
    return this.isEmpty ? undefined : this.#segments[this.#segments.length - 1]
  }

  /** The bytes that are probably in the network: "pipe" (RFC 6675 §2). */
  get pipe(): number {
    return Math.max(0, this.bytes - this.sackedBytes - this.lostBytes - this.departedBytes)
  }

  push(segment: SentSegment): void {
    this.#segments.push(segment)
    this.bytes += distance(segment.end, segment.start)
  }

  /** Visits segments in order until `visit` returns false. */
  forEach(visit: (segment: SentSegment) => boolean): void {
    for (let i = this.#head; i < this.#segments.length; i++) if (!visit(this.#segments[i]!)) return
  }

  markSacked(segment: SentSegment): void {
    this.clearLost(segment)
    segment.sacked = true
    this.sackedBytes += distance(segment.end, segment.start)
  }

  /** Nothing counts as reported any more. */
  clearSacked(): void {
    this.sackedBytes = 0
    this.forEach((segment) => {
      segment.sacked = false
      return true
    })
  }

  markLost(segment: SentSegment): void {
    if (segment.lost || segment.sacked) return
    segment.lost = true
    this.lostBytes += distance(segment.end, segment.start)
  }

  clearLost(segment: SentSegment): void {
    if (!segment.lost) return
    segment.lost = false
    this.lostBytes -= distance(segment.end, segment.start)
  }

  clearAllLost(): void {
    this.forEach((segment) => {
      this.clearLost(segment)
      return this.lostBytes > 0
    })
  }

  /**
   * Removes what a cumulative acknowledgment covers; each whole segment that was not sacked before goes to `delivered`.
   */
  acknowledge(acknowledgment: number, delivered: (segment: SentSegment) => void): void {
    while (this.#head < this.#segments.length) {
      const segment = this.#segments[this.#head]!
      if (!before(segment.start, acknowledgment)) break
      const isWhole = !after(segment.end, acknowledgment)
      const covered = distance(isWhole ? segment.end : acknowledgment, segment.start)
      this.bytes -= covered
      if (segment.sacked) this.sackedBytes -= covered
      if (segment.lost) this.lostBytes -= covered
      if (!isWhole) {
        segment.start = acknowledgment
        break
      }
      if (!segment.sacked) delivered(segment)
      this.#head++
    }
    if (this.#head === this.#segments.length) {
      this.#segments.length = 0
      this.#head = 0
    } else if (this.#head > 256 && this.#head * 2 > this.#segments.length) {
      this.#segments.splice(0, this.#head)
      this.#head = 0
    }
  }

  /** Cuts `segment` at `length` bytes, after the path's MTU shrank. */
  split(segment: SentSegment, length: number): void {
    const at = this.#segments.indexOf(segment, this.#head)
    const rest = { ...segment, start: (segment.start + length) >>> 0 }
    segment.end = rest.start
    segment.isFin = false
    this.#segments.splice(at + 1, 0, rest)
  }

  clear(): void {
    this.#segments = []
    this.#head = this.bytes = this.sackedBytes = this.lostBytes = this.departedBytes = 0
  }
}

/** Smoothed round trip and the timeout that follows from it (RFC 6298 §2). Times in milliseconds. */
export class RoundTrip {
  smoothedMs = 0
  latestMs = Infinity
  #variationMs = 0
  /** The minimum of this interval and of the one before, so that a path that became longer is noticed. */
  #minMs = Infinity
  #previousMinMs = Infinity
  #stretchSince = -Infinity
  #backoff = 0
  #untimedMs = INITIAL_RTO_MS

  /** Timeouts since anything was last acknowledged. */
  get timeouts(): number {
    return this.#backoff
  }

  get timeoutMs(): number {
    const base =
      this.smoothedMs === 0 ? this.#untimedMs : this.smoothedMs + Math.max(MIN_PATIENCE_MS, 4 * this.#variationMs)
    return Math.min(MAX_RTO_MS, base * 2 ** this.#backoff)
  }

  /** The longest that a round trip should take: the timeout without its floor. */
  get spreadMs(): number {
    return this.smoothedMs + 4 * this.#variationMs
  }

  get minMs(): number {
    return Math.min(this.#minMs, this.#previousMinMs)
  }

  /** Takes a sample from a segment that was sent once only (Karn, RFC 6298 §3). It ends the back-off (§5.7). */
  sample(roundTripMs: number, now: number): void {
    const rtt = Math.max(roundTripMs, 0.01)
    this.latestMs = rtt
    if (now - this.#stretchSince >= MIN_STRETCH_MS) {
      this.#previousMinMs = this.#minMs
      this.#minMs = Infinity
      this.#stretchSince = now
    }
    this.#minMs = Math.min(this.#minMs, rtt)
    if (this.smoothedMs === 0) {
      this.smoothedMs = rtt
      this.#variationMs = rtt / 2
    } else {
      this.#variationMs = 0.75 * this.#variationMs + 0.25 * Math.abs(this.smoothedMs - rtt)
      this.smoothedMs = 0.875 * this.smoothedMs + 0.125 * rtt
    }
    this.#backoff = 0
  }

  /**
   * Something arrived without a sample. RFC 6298 §5.7 would keep the back-off; under heavy loss, with every segment
   * sent twice, it would then never end.
   */
  endBackOff(): void {
    this.#backoff = 0
  }

  /** The handshake is over and gave no sample. */
  beginUntimed(): void {
    this.#untimedMs = UNTIMED_RTO_MS
    this.#backoff = 0
  }

  /** RFC 6298 §5.5. */
  backOff(): void {
    if (this.#backoff < 10) this.#backoff++
  }
}
