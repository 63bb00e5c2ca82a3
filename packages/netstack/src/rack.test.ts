import { describe, expect, it } from 'vitest'
import { Rack } from './rack.ts'
import { RetransmissionQueue, RoundTrip, type SentSegment } from './retransmission.ts'

const ROUND_TRIP_MS = 100

/**
 * Ten segments, one sent each millisecond from 0; the fifth and the third have arrived, the third by `lateMs` too late.
 */
function overtaken(lateMs: number): { rack: Rack; waitsMs: () => number } {
  const [rack, queue, roundTrip] = [new Rack(), new RetransmissionQueue(), new RoundTrip()]
  const segments = Array.from({ length: 10 }, (_, i): SentSegment => ({
    start: i * 10,
    end: i * 10 + 10,
    sentAt: i,
    isFin: false,
    retransmitted: false,
    sacked: false,
    lost: false,
  }))
  for (const segment of segments) queue.push(segment)
  roundTrip.sample(ROUND_TRIP_MS, 0)
  const arrives = (index: number, now: number): void => {
    queue.markSacked(segments[index]!)
    rack.noteDelivered(segments[index]!, now, roundTrip)
  }
  arrives(4, 4 + ROUND_TRIP_MS)
  arrives(2, 2 + ROUND_TRIP_MS + lateMs)
  // The first was sent at 0: beyond its round trip, this is how long it is waited for.
  return { rack, waitsMs: () => rack.detect(queue, 5, roundTrip, false) - ROUND_TRIP_MS }
}

describe('the reordering window (RFC 8985 §6.2 step 4)', () => {
  it('is a quarter of the least round trip once something was overtaken', () => {
    expect(overtaken(1).waitsMs()).toBe(25)
  })

  it('grows by that with each duplicate reported, and is narrow again sixteen recoveries later', () => {
    const { rack, waitsMs } = overtaken(1)
    rack.noteDuplicate()
    rack.noteDuplicate()
    expect(waitsMs()).toBe(75)
    for (let i = 0; i < 15; i++) rack.noteRecoveryEnded()
    expect(waitsMs()).toBe(75)
    rack.noteRecoveryEnded()
    expect(waitsMs()).toBe(25)
  })

  it('is at least what came late, at once, and never more than round trips differ', () => {
    expect(overtaken(60).waitsMs()).toBe(60)
    // 100 ms and four times their variation of 50.
    expect(overtaken(1_000).waitsMs()).toBe(300)
    const { rack, waitsMs } = overtaken(60)
    for (let i = 0; i < 16; i++) rack.noteRecoveryEnded()
    expect(waitsMs()).toBe(25)
  })
})
