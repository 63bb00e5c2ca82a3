import { describe, expect, it } from 'vitest'
import { RoundTrip } from './retransmission.ts'
import { ScriptedPeer } from './scripted-peer.ts'

const FULL = 1_380

describe('the round trip', () => {
  it('follows RFC 6298 §2, and the timeout leaves it 200 ms at least', () => {
    const roundTrip = new RoundTrip()
    expect(roundTrip.timeoutMs).toBe(1_000)
    roundTrip.sample(200, 0)
    expect(roundTrip.timeoutMs).toBe(200 + 4 * 100)
    roundTrip.sample(280, 1)
    expect(roundTrip.timeoutMs).toBe(210 + 4 * 95)
    for (let i = 0; i < 100; i++) roundTrip.sample(100, i)
    expect(roundTrip.timeoutMs).toBeCloseTo(300, 1)
  })

  it('doubles the timeout each time, to a minute at most, until something is timed again (§5.5, §5.7)', () => {
    const roundTrip = new RoundTrip()
    roundTrip.sample(200, 0)
    const timeouts = Array.from({ length: 9 }, () => {
      roundTrip.backOff()
      return roundTrip.timeoutMs
    })
    expect(timeouts).toEqual([1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 60_000, 60_000, 60_000])
    roundTrip.sample(200, 1)
    expect(roundTrip.timeoutMs).toBe(200 + 4 * 75)
  })

  it('forgets a minimum that the path no longer has', () => {
    const roundTrip = new RoundTrip()
    roundTrip.sample(1, 0)
    roundTrip.sample(50, 6_000)
    expect(roundTrip.minMs).toBe(1)
    roundTrip.sample(50, 12_000)
    expect(roundTrip.minMs).toBe(50)
  })
})

// The handshake of `established` takes 10 ms, so the timeout is 210.
describe('a lost tail', () => {
  it('is probed with its last segment after two round trips, which repairs the rest (RFC 8985 §7.2, §7.3)', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(FULL * 3))
    expect(peer.after(21)).toEqual([])
    expect(peer.after(1)).toEqual([`ACK ${1 + 2 * FULL}:${1 + 3 * FULL} ack 1`])
    peer.now += 10
    expect(peer.says('ACK', { seq: 1, ack: 1, sack: [[1 + 2 * FULL, 1 + 3 * FULL]] })).toEqual([
      `ACK 1:${1 + FULL} ack 1`,
      `ACK ${1 + FULL}:${1 + 2 * FULL} ack 1`,
    ])
  })

  it('is probed with new data if there is some that only the congestion window held back', () => {
    const peer = ScriptedPeer.established()
    expect(peer.writes(new Uint8Array(FULL * 12))).toHaveLength(10)
    expect(peer.after(22)).toEqual([`ACK ${1 + 10 * FULL}:${1 + 11 * FULL} ack 1`])
  })

  it('is probed once until that is answered', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(FULL * 2))
    expect(peer.after(22)).toHaveLength(1)
    expect(peer.writes('x')).toHaveLength(1)
    expect(peer.after(100)).toEqual([])
  })

  it('of one segment waits for a delayed acknowledgment, but is a probe and no timeout still', () => {
    const peer = ScriptedPeer.established()
    peer.writes('hello')
    expect(peer.after(209)).toEqual([])
    expect(peer.after(1)).toEqual(['ACK 1:6 ack 1'])
    expect([peer.connection!.recovery, peer.connection!.roundTrip.timeouts]).toEqual(['none', 0])
    // What follows is a timeout, and that doubles.
    expect(peer.after(209)).toEqual([])
    expect(peer.after(1)).toEqual(['ACK 1:6 ack 1'])
    expect(peer.connection!.recovery).toBe('timeout')
    expect(peer.after(419)).toEqual([])
    expect(peer.after(1)).toEqual(['ACK 1:6 ack 1'])
  })

  it('that only a probe repaired costs the window what a loss costs; one that was not lost does not (§7.4)', () => {
    const windowAfter = (last: Parameters<ScriptedPeer['says']>[1]): number => {
      const peer = ScriptedPeer.established()
      const { window } = peer.connection!.congestion
      peer.writes(new Uint8Array(FULL * 2))
      expect(peer.after(22)).toHaveLength(1)
      peer.now += 10
      peer.says('ACK', last)
      peer.writes('x')
      peer.now += 10
      peer.says('ACK', { seq: 1, ack: 2 + 2 * FULL })
      return peer.connection!.congestion.window / window
    }
    expect(windowAfter({ seq: 1, ack: 1 + 2 * FULL })).toBeCloseTo(0.7, 1)
    expect(windowAfter({ seq: 1, ack: 1 + 2 * FULL, sack: [[1 + FULL, 1 + 2 * FULL]] })).toBeGreaterThanOrEqual(1)
  })
})

describe('a handshake whose SYN was sent again', () => {
  it('times nothing: data waits 3 s for its acknowledgment (RFC 6298 §5.7)', () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    peer.after(1_500)
    peer.says('SYN,ACK', { seq: 0, ack: 1, mss: FULL })
    expect(peer.writes('hello')).toEqual(['ACK 1:6 ack 1'])
    expect(peer.after(2_999)).toEqual([])
    expect(peer.after(1)).toEqual(['ACK 1:6 ack 1'])
  })

  it('is timed by the echo, which says which SYN was answered', () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    peer.after(1_500)
    peer.says('SYN,ACK', { seq: 0, ack: 1, mss: FULL, ts: 7 })
    expect(peer.connection!.roundTrip.smoothedMs).toBe(500)
  })

  it('is not timed by the echo of a SYN before the last, whose answer may have been lost', () => {
    const dialling = new ScriptedPeer().connect()
    dialling.sends()
    const first = dialling.echoes()
    dialling.after(7_500)
    dialling.says('SYN,ACK', { seq: 0, ack: 1, mss: FULL, ts: 7, echo: first })
    expect([dialling.connection!.roundTrip.smoothedMs, dialling.connection!.roundTrip.timeoutMs]).toEqual([0, 3_000])

    const answering = new ScriptedPeer().listen()
    answering.says('SYN', { seq: 0, mss: FULL, ts: 7 })
    const answer = answering.echoes()
    answering.after(7_500)
    answering.says('ACK', { seq: 1, ack: 1, ts: 8, echo: answer })
    expect([answering.connection!.roundTrip.smoothedMs, answering.connection!.roundTrip.timeoutMs]).toEqual([0, 3_000])
  })

  it('begins with one segment when it was lost more than once (RFC 6928 §2)', () => {
    const segmentsAfter = (ms: number): number => {
      const peer = new ScriptedPeer().connect()
      peer.sends()
      peer.after(ms)
      peer.says('SYN,ACK', { seq: 0, ack: 1, mss: FULL })
      return peer.writes(new Uint8Array(20 * FULL)).length
    }
    expect([segmentsAfter(10), segmentsAfter(1_500), segmentsAfter(3_500)]).toEqual([10, 10, 1])
  })

  it('on the answering side times nothing either', () => {
    const peer = new ScriptedPeer().listen()
    peer.says('SYN', { seq: 0, mss: FULL })
    peer.now += 900
    expect(peer.says('SYN', { seq: 0, mss: FULL })).toEqual(['SYN,ACK 0:0 ack 1'])
    peer.now += 1
    peer.says('ACK', { seq: 1, ack: 1 })
    expect(peer.connection!.roundTrip.smoothedMs).toBe(0)
  })
})
