import { describe, expect, it } from 'vitest'
import { RetransmissionQueue } from './retransmission.ts'
import { ReceivedBlocks, markSacked } from './sack.ts'

/** Segments of ten bytes, from `start`. */
function inFlight(start: number, count: number): RetransmissionQueue {
  const queue = new RetransmissionQueue()
  for (let i = 0; i < count; i++) {
    const from = start + i * 10
    queue.push({
      start: from,
      end: from + 10,
      sentAt: 0,
      isFin: false,
      retransmitted: false,
      sacked: false,
      lost: false,
    })
  }
  return queue
}

describe('a report of the peer', () => {
  const report = (
    queue: RetransmissionQueue,
    acknowledgment: number,
    ...blocks: [number, number][]
  ): { duplicate: boolean; delivered: number[] } => {
    const delivered: number[] = []
    const ranges = blocks.map(([start, end]) => ({ start, end }))
    const limits = { unacknowledged: 100, sent: 150, acknowledgment }
    return { duplicate: markSacked(queue, ranges, limits, (segment) => delivered.push(segment.start)), delivered }
  }

  it('marks whole segments only, and each once', () => {
    const queue = inFlight(100, 5)
    expect(report(queue, 100, [110, 125])).toEqual({ duplicate: false, delivered: [110] })
    expect(report(queue, 100, [110, 130])).toEqual({ duplicate: false, delivered: [120] })
    expect(queue.pipe).toBe(30)
  })

  it('about what was never sent, or inside out, is ignored', () => {
    const queue = inFlight(100, 5)
    expect(report(queue, 100, [110, 170], [130, 120], [0x80000000, 0x80000010]).delivered).toEqual([])
  })

  it('tells a duplicate below its own acknowledgment or inside its second block (RFC 2883 §4)', () => {
    expect(report(inFlight(100, 5), 100, [80, 90]).duplicate).toBe(true)
    expect(report(inFlight(100, 5), 100, [120, 130], [110, 140]).duplicate).toBe(true)
  })

  it('that was overtaken tells no duplicate', () => {
    expect(report(inFlight(100, 5), 70, [80, 90]).duplicate).toBe(false)
    // Nor one that is inside out.
    expect(report(inFlight(100, 5), 100, [130, 90]).duplicate).toBe(false)
  })
})

describe('our own report', () => {
  it('begins with what came last, joins what touches and forgets what is acknowledged', () => {
    const blocks = new ReceivedBlocks()
    blocks.add(20, 30)
    blocks.add(60, 70)
    blocks.add(30, 40)
    expect(blocks.report(4)).toEqual([
      { start: 20, end: 40 },
      { start: 60, end: 70 },
    ])
    blocks.noteDuplicate(5, 9)
    expect(blocks.report(4)?.[0]).toEqual({ start: 5, end: 9 })
    blocks.advanceTo(40)
    expect(blocks.report(4)).toEqual([{ start: 60, end: 70 }])
  })
})
