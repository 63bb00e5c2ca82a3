import { describe, expect, it } from 'vitest'
import { ScriptedPeer } from './scripted-peer.ts'

const FULL = 1_380
/**
 * Where the segment with this number, from 1, starts in our sequence space, relative to the initial sequence number.
 */
const startOf = (segment: number): number => 1 + (segment - 1) * FULL
/** A report of whole segments, the last one included. */
const block = (first: number, last: number): [number, number] => [startOf(first), startOf(last + 1)]
const trace = (segment: number): string => `ACK ${startOf(segment)}:${startOf(segment + 1)} ack 1`

/** Ten segments in flight, the whole first window; the path takes 10 ms, and those have passed. */
function inFlight(options: Parameters<typeof ScriptedPeer.established>[0] = {}): ScriptedPeer {
  const peer = ScriptedPeer.established(options)
  expect(peer.writes(new Uint8Array(10 * FULL))).toHaveLength(10)
  peer.now += 10
  return peer
}

describe('the retransmission timer (RFC 6298 §5)', () => {
  it('starts anew with each acknowledgment of new data (§5.3)', () => {
    const peer = ScriptedPeer.established({ sackPermitted: false })
    peer.writes(new Uint8Array(3 * FULL))
    expect(peer.after(150)).toEqual([])
    peer.says('ACK', { seq: 1, ack: startOf(2) })
    const { timeoutMs } = peer.connection!.roundTrip
    expect(peer.after(Math.floor(timeoutMs) - 1)).toEqual([])
    expect(peer.after(2)).toEqual([trace(2)])
  })

  it('does not start anew with segments that acknowledge nothing new (§5.3)', () => {
    const peer = ScriptedPeer.established({ sackPermitted: false })
    peer.writes(new Uint8Array(FULL))
    const steps = Math.ceil(peer.connection!.roundTrip.timeoutMs / 20)
    const sent: string[] = []
    for (let i = 0; i < steps; i++) sent.push(...peer.says('ACK', { seq: 1 + i, ack: 1, data: 'x' }), ...peer.after(20))
    expect(sent.filter((segment) => segment.startsWith(`ACK 1:${startOf(2)}`))).toHaveLength(1)
  })

  it('stops when everything is acknowledged (§5.2)', () => {
    const peer = inFlight()
    peer.says('ACK', { seq: 1, ack: startOf(11) })
    expect([peer.after(10_000), peer.connection!.roundTrip.timeouts]).toEqual([[], 0])
  })

  it('begins with one segment, then two as they are acknowledged (RFC 5681 §3.1)', () => {
    const peer = inFlight({ sackPermitted: false })
    expect(peer.after(205)).toEqual([trace(1)])
    peer.now += 10
    expect(peer.says('ACK', { seq: 1, ack: startOf(2) })).toEqual([trace(2), trace(3)])
  })

  it('when spurious, is undone by the echo of the first transmission (RFC 3522)', () => {
    const peer = ScriptedPeer.established({ ts: 10 })
    peer.writes(new Uint8Array(10 * 1_368))
    const { window } = peer.connection!.congestion
    const echo = peer.echoes()
    while (peer.connection!.recovery !== 'timeout') peer.after(1)
    expect(peer.connection!.congestion.window).toBeLessThan(window)
    peer.says('ACK', { seq: 1, ack: 1 + 1_368, ts: 20, echo })
    expect([peer.connection!.recovery, peer.connection!.congestion.window >= window]).toEqual(['none', true])
  })

  it('does not double after anything arrived, timed or not', () => {
    const peer = inFlight({ sackPermitted: false })
    peer.after(700)
    expect(peer.connection!.roundTrip.timeouts).toBe(2)
    peer.says('ACK', { seq: 1, ack: startOf(2) })
    expect(peer.connection!.roundTrip.timeouts).toBe(0)
  })

  it('drops the state of a tail-loss probe: one loss is answered once', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(2 * FULL))
    while (peer.connection!.recovery !== 'timeout') peer.after(1)
    peer.now += 10
    peer.says('ACK', { seq: 1, ack: startOf(3) })
    const { window } = peer.connection!.congestion
    peer.writes('x')
    peer.now += 10
    peer.says('ACK', { seq: 1, ack: startOf(3) + 1 })
    expect(peer.connection!.congestion.window).toBeGreaterThanOrEqual(window)
  })

  it('ignores reports of data that arrived long before it expired', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(3 * FULL))
    while (peer.connection!.recovery !== 'timeout') peer.after(1)
    const { smoothedMs } = peer.connection!.roundTrip
    peer.now += 10
    peer.says('ACK', { seq: 1, ack: 1, sack: [block(2, 2)] })
    expect(peer.connection!.roundTrip.smoothedMs).toBe(smoothedMs)
  })

  it('marks the first as lost, and of the rest those sent long enough ago and not reported (RFC 8985 §6.3)', () => {
    const peer = ScriptedPeer.established({ sackPermitted: false })
    peer.writes('a')
    const patienceMs = peer.connection!.roundTrip.timeoutMs
    expect(peer.after(patienceMs - 5)).toEqual([])
    peer.writes('b')
    expect(peer.after(5)).toEqual(['ACK 1:2 ack 1'])
    peer.now += 5
    expect(peer.says('ACK', { seq: 1, ack: 2 })).toEqual([])

    const other = inFlight()
    other.says('ACK', { seq: 1, ack: 1, sack: [block(2, 2)] })
    while (other.connection!.recovery !== 'timeout') other.after(1)
    expect(other.connection!.queue.lostBytes).toBe(8 * FULL)
  })

  it('resends data that the peer reported and then dropped (RFC 2018 §8)', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(2 * FULL))
    peer.now += 10
    peer.says('ACK', { seq: 1, ack: 1, sack: [block(1, 2)] })
    const sent = peer.after(1_000)
    expect(sent).toContain(trace(1))
  })
})

describe('fast recovery with SACK (RFC 6675, RFC 8985)', () => {
  it('reduces the window once, for all its losses', () => {
    const peer = inFlight()
    const { window } = peer.connection!.congestion
    expect(peer.says('ACK', { seq: 1, ack: 1, sack: [block(2, 4)] })).toEqual([trace(1)])
    const reduced = peer.connection!.congestion.window
    expect(reduced / window).toBeCloseTo(0.7, 1)
    peer.now += 1
    expect(peer.says('ACK', { seq: 1, ack: 1, sack: [block(6, 10), block(2, 4)] })).toEqual([trace(5)])
    expect(peer.connection!.congestion.window).toBe(reduced)
  })

  it('sends again within the window, the first one in any case (§5 step 4.3)', () => {
    const peer = inFlight()
    // Four lost, six arrived: of the window of seven, all four may leave.
    expect(peer.says('ACK', { seq: 1, ack: 1, sack: [block(5, 10)] })).toEqual([1, 2, 3, 4].map(trace))
    const other = inFlight()
    other.connection!.congestion.onTimeout(0, true)
    expect(other.says('ACK', { seq: 1, ack: 1, sack: [block(4, 6)] })).toEqual([trace(1)])
  })

  it('attributes an answer faster than the path to the first transmission (RFC 8985 §6.2 step 2)', () => {
    const peer = inFlight()
    peer.says('ACK', { seq: 1, ack: 1, sack: [block(2, 4)] })
    peer.now += 2
    expect(peer.says('ACK', { seq: 1, ack: startOf(5) })).toEqual([])
    expect(peer.connection!.queue.lostBytes).toBe(0)
  })

  it('notices a lost retransmission by later segments (RFC 8985 §3.1)', () => {
    const peer = inFlight()
    expect(peer.says('ACK', { seq: 1, ack: 1, sack: [block(2, 8)] })).toEqual([trace(1)])
    expect(peer.writes(new Uint8Array(2 * FULL))).toEqual([trace(11), trace(12)])
    peer.now += 15
    expect(peer.says('ACK', { seq: 1, ack: 1, sack: [block(11, 12), block(2, 8)] })).toContain(trace(1))
  })

  it('goes on without waiting for three: what is behind another is lost (RFC 8985 §6.2 step 4)', () => {
    const peer = inFlight()
    peer.says('ACK', { seq: 1, ack: 1, sack: [block(2, 4)] })
    peer.now += 2
    expect(peer.says('ACK', { seq: 1, ack: startOf(5), sack: [block(6, 6)] })).toEqual([trace(5)])
  })

  it('tolerates a path that reorders: an overtaken segment is waited for (RFC 8985 §6.2 step 4)', () => {
    const peer = inFlight()
    // The second came after the fourth, and not as a retransmission: within a quarter of the round trip nothing is
    // lost.
    peer.says('ACK', { seq: 1, ack: startOf(2), sack: [block(3, 4)] })
    peer.now += 1
    peer.says('ACK', { seq: 1, ack: startOf(5) })
    expect(peer.connection!.rack.reorderingSeen).toBe(true)
    expect(peer.says('ACK', { seq: 1, ack: startOf(5), sack: [block(7, 10)] })).toEqual([])
    expect(peer.after(1)).toEqual([])
    expect(peer.after(3)).toEqual([5, 6].map(trace))
  })

  it('does not grow the window, and ends when all that was in flight at its start is acknowledged', () => {
    const peer = inFlight()
    peer.says('ACK', { seq: 1, ack: 1, sack: [block(2, 4)] })
    const { window } = peer.connection!.congestion
    for (const last of [5, 6, 7, 8, 9, 10]) peer.says('ACK', { seq: 1, ack: 1, sack: [block(2, last)] })
    expect(peer.connection!.congestion.window).toBe(window)
    peer.writes(new Uint8Array(FULL))
    peer.now += 10
    peer.says('ACK', { seq: 1, ack: startOf(10) })
    expect(peer.connection!.recovery).toBe('fast')
    peer.says('ACK', { seq: 1, ack: startOf(11) })
    expect(peer.connection!.recovery).toBe('none')
  })

  it('is undone when every retransmission is reported as a duplicate (RFC 3708 §2)', () => {
    const peer = inFlight()
    const { window } = peer.connection!.congestion
    expect(peer.says('ACK', { seq: 1, ack: 1, sack: [block(3, 10)] })).toEqual([trace(1), trace(2)])
    peer.now += 10
    peer.says('ACK', { seq: 1, ack: startOf(10), sack: [block(1, 1)] })
    expect(peer.connection!.congestion.window).toBeLessThan(window)
    peer.says('ACK', { seq: 1, ack: startOf(10), sack: [block(2, 2)] })
    expect([peer.connection!.recovery, peer.connection!.congestion.window >= window]).toEqual(['none', true])
  })
})

describe('fast recovery without SACK (RFC 5681 §3.2, RFC 6582)', () => {
  const duplicates = (peer: ScriptedPeer, count: number, window = 65_535): string[] =>
    Array.from({ length: count }, () => peer.says('ACK', { seq: 1, ack: 1, window })).flat()

  it('begins with the third duplicate, and not with other segments', () => {
    const peer = inFlight({ sackPermitted: false })
    expect(duplicates(peer, 2)).toEqual([])
    // New windows and data are no duplicates (§2).
    expect(duplicates(peer, 1, 60_000)).toEqual([])
    expect(peer.says('ACK', { seq: 1, ack: 1, window: 60_000, data: 'x' })).toEqual(['ACK 13801:13801 ack 2'])
    expect(peer.says('ACK', { seq: 2, ack: 1, window: 60_000 })).toEqual(['ACK 1:1381 ack 2'])
  })

  it('sends the next lost segment at each partial acknowledgment (RFC 6582 §3.2 step 3)', () => {
    const peer = inFlight({ sackPermitted: false })
    expect(duplicates(peer, 3)).toEqual([trace(1)])
    peer.now += 10
    expect(peer.says('ACK', { seq: 1, ack: startOf(4) })).toEqual([trace(4)])
    peer.now += 10
    expect(peer.says('ACK', { seq: 1, ack: startOf(7) })).toEqual([trace(7)])
    peer.now += 10
    peer.says('ACK', { seq: 1, ack: startOf(11) })
    expect(peer.connection!.recovery).toBe('none')
  })

  it('that a timeout ends begins with one segment, whatever duplicates came before', () => {
    const peer = inFlight({ sackPermitted: false })
    duplicates(peer, 8)
    while (peer.connection!.recovery !== 'timeout') peer.after(1)
    peer.now += 10
    expect(peer.says('ACK', { seq: 1, ack: startOf(2) })).toEqual([trace(2), trace(3)])
  })

  it('takes back for a partial acknowledgment what its duplicates had let leave (RFC 6582 §3.2 step 3)', () => {
    const peer = inFlight({ sackPermitted: false })
    peer.connection!.send(new Uint8Array(30 * FULL))
    duplicates(peer, 9)
    peer.now += 10
    const sent = peer.says('ACK', { seq: 1, ack: startOf(4) })
    expect(sent[0]).toBe(trace(4))
    const { queue, congestion } = peer.connection!
    expect([queue.departedBytes, queue.pipe <= congestion.window]).toEqual([3 * FULL, true])
  })

  it('lets one new segment leave for each further duplicate (RFC 5681 §3.2 step 4)', () => {
    const peer = inFlight({ sackPermitted: false })
    peer.connection!.send(new Uint8Array(10 * FULL))
    expect(duplicates(peer, 3)).toEqual([trace(1)])
    expect(duplicates(peer, 6).length).toBeGreaterThan(2)
  })
})
