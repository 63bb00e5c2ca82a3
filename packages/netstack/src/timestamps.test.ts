import { describe, expect, it } from 'vitest'
import { ScriptedPeer } from './scripted-peer.ts'
import { Timestamps } from './timestamps.ts'

describe('timestamps (RFC 7323)', () => {
  it('are offered, and carried by every segment once both SYNs had them (§3.2)', () => {
    const peer = new ScriptedPeer().listen()
    expect(peer.says('SYN', { seq: 0, mss: 1380, ts: 100 })).toEqual(['SYN,ACK 0:0 ack 1 ts 100'])
    peer.says('ACK', { seq: 1, ack: 1, ts: 101 })
    expect(peer.writes('hello')).toEqual(['ACK 1:6 ack 1 ts 101'])
  })

  it('leave room for themselves in a full segment', () => {
    const peer = ScriptedPeer.established({ ts: 100 })
    expect(peer.writes(new Uint8Array(3_000))).toEqual([
      'ACK 1:1369 ack 1 ts 100',
      'ACK 1369:2737 ack 1 ts 100',
      'ACK 2737:3001 ack 1 ts 100',
    ])
    expect(peer.packets.map((packet) => packet.length)).toEqual([1420, 1420, 316])
  })

  it('leave room for three blocks in a report instead of four (RFC 2018 §3)', () => {
    const blocksTo = (options: { ts?: number }): number => {
      const peer = ScriptedPeer.established(options)
      const answers = [3, 5, 7, 9, 11].map((seq) => peer.says('ACK', { seq, ack: 1, data: 'x', ...options }))
      return answers.at(-1)![0]!.split('sack ')[1]!.split(' ').length
    }
    expect([blocksTo({}), blocksTo({ ts: 10 })]).toEqual([4, 3])
  })

  it('are not used when the peer did not say them', () => {
    const peer = ScriptedPeer.established()
    expect(peer.writes('x')).toEqual(['ACK 1:2 ack 1'])
  })

  it('keep out a segment of an earlier lap, which is acknowledged and dropped (PAWS, §5.3)', () => {
    const peer = ScriptedPeer.established({ ts: 1_000 })
    peer.says('ACK', { seq: 1, ack: 1, ts: 1_005, data: 'new' })
    expect(peer.says('ACK', { seq: 4, ack: 1, ts: 1_004, data: 'OLD' })).toEqual(['ACK 1:1 ack 4 ts 1005'])
    expect(peer.drops).toEqual(['old-timestamp'])
    expect(peer.reads()).toBe('new')
  })

  it('of a peer whose clock wraps stay in order', () => {
    const peer = ScriptedPeer.established({ ts: 0xfffffffe })
    peer.says('ACK', { seq: 1, ack: 1, ts: 0xffffffff, data: 'a' })
    peer.says('ACK', { seq: 2, ack: 1, ts: 3, data: 'b' })
    expect([peer.reads(), peer.drops]).toEqual(['ab', []])
  })

  it('are echoed from the segment that moved the acknowledgment, not from one beyond a gap (§4.3)', () => {
    const peer = ScriptedPeer.established({ ts: 10 })
    expect(peer.says('ACK', { seq: 4, ack: 1, ts: 20, data: 'def' })).toEqual(['ACK 1:1 ack 1 ts 10 sack 4-7'])
    expect(peer.says('ACK', { seq: 1, ack: 1, ts: 30, data: 'abc' })).toEqual(['ACK 1:1 ack 7 ts 30'])
  })

  it('that are missing once agreed on drop the segment; a reset needs none (§3.2)', () => {
    const peer = ScriptedPeer.established({ ts: 10 })
    expect(peer.says('ACK', { seq: 1, ack: 1, data: 'x' })).toEqual([])
    expect(peer.drops).toEqual(['no-timestamp'])
    peer.says('RST', { seq: 1 })
    expect(peer.events.at(-1)).toBe('closed reset')
  })

  it('older than 24 days say nothing any more (§5.5)', () => {
    const peer = ScriptedPeer.established({ ts: 1_000 })
    peer.now += 25 * 24 * 3_600_000
    peer.says('ACK', { seq: 1, ack: 1, ts: 5, data: 'slept' })
    expect(peer.reads()).toBe('slept')
  })

  it('count those days from the last that was heard', () => {
    const peer = ScriptedPeer.established({ ts: 1_000 })
    peer.now += 20 * 24 * 3_600_000
    peer.says('ACK', { seq: 1, ack: 1, ts: 2_000, data: 'new' })
    peer.now += 10 * 24 * 3_600_000
    peer.says('ACK', { seq: 4, ack: 1, ts: 1_500, data: 'OLD' })
    expect([peer.reads(), peer.drops]).toEqual(['new', ['old-timestamp']])
  })

  it('time the answer to a retransmission, which Karn’s rule could not (§4.1)', () => {
    const peer = ScriptedPeer.established({ ts: 10 })
    peer.writes('x')
    while (peer.after(1).length === 0);
    peer.now += 80
    peer.says('ACK', { seq: 1, ack: 2, ts: 500 })
    expect(peer.connection!.roundTrip.latestMs).toBeCloseTo(80, -1)
  })

  it('that echo a first transmission long after the second give no sample: its answer was lost', () => {
    const peer = ScriptedPeer.established({ ts: 10 })
    peer.writes('x')
    const echo = peer.echoes()
    const { smoothedMs } = peer.connection!.roundTrip
    peer.after(20_000)
    peer.says('ACK', { seq: 1, ack: 2, ts: 500, echo })
    expect(peer.connection!.roundTrip.smoothedMs).toBe(smoothedMs)
  })

  it('tell a retransmission that was not needed, and the window is as before (RFC 3522)', () => {
    const peer = ScriptedPeer.established({ ts: 10, sackPermitted: true })
    peer.writes(new Uint8Array(1_368 * 8))
    const { window } = peer.connection!.congestion
    const echo = peer.echoes()
    peer.now += 20
    for (const end of [2, 3, 4]) peer.says('ACK', { seq: 1, ack: 1, ts: 20, echo, sack: [[1_369, 1 + end * 1_368]] })
    expect(peer.connection!.recovery).toBe('fast')
    expect(peer.connection!.congestion.window).toBeLessThan(window)
    peer.says('ACK', { seq: 1, ack: 1 + 8 * 1_368, ts: 21, echo })
    expect(peer.connection!.recovery).toBe('none')
    expect(peer.connection!.congestion.window).toBeGreaterThanOrEqual(window)
  })

  it('that echo what was never said give no sample', () => {
    const timestamps = new Timestamps(0xfffffff0, 1, 1_000)
    expect(timestamps.roundTripMs(timestamps.value(900), 1_000)).toBe(100)
    expect(timestamps.roundTripMs(timestamps.value(2_000), 1_000)).toBeUndefined()
    expect(timestamps.roundTripMs(0, 1_000)).toBeUndefined()
  })

  it('let a peer open anew in TIME-WAIT with a lower sequence number (RFC 6191 §2)', () => {
    const peer = ScriptedPeer.established({ ts: 10 })
    peer.connection!.shutdown()
    peer.sends()
    peer.says('FIN,ACK', { seq: 1, ack: 2, ts: 11 })
    expect(peer.connection!.state).toBe('time-wait')
    expect(peer.says('SYN', { seq: -5_000, ts: 9, mss: 1380 })[0]).toMatch(/^ACK/)
    expect(peer.says('SYN', { seq: -5_000, ts: 12, mss: 1380 })[0]).toMatch(/^SYN,ACK/)
  })
})
