import { describe, expect, it } from 'vitest'
import type { ConnectionState } from './connection.ts'
import { type Saying, ScriptedPeer } from './scripted-peer.ts'

const state = (peer: ScriptedPeer): ConnectionState | undefined => peer.connection?.state

describe('opening', () => {
  it('answers a SYN and is open on the ACK (RFC 9293 §3.5, figure 6)', () => {
    const peer = new ScriptedPeer().listen()
    expect(peer.says('SYN', { seq: 0, mss: 1380, scale: 7, sackPermitted: true })).toEqual(['SYN,ACK 0:0 ack 1'])
    expect(peer.events).toEqual([])
    expect(peer.says('ACK', { seq: 1, ack: 1 })).toEqual([])
    expect(peer.events).toEqual(['accepted'])
  })

  it('answers with the options that the SYN had, and never scales the window of a SYN (RFC 7323 §2.2)', () => {
    const answerTo = (options: Partial<Saying>): string => {
      const peer = new ScriptedPeer().listen()
      peer.says('SYN', { seq: 0, ...options })
      const [packet] = peer.packets
      expect([packet![34], packet![35]]).toEqual([0xff, 0xff])
      return Buffer.from(packet!.subarray(40)).toString('hex')
    }
    const mss = '02040564'
    expect(answerTo({})).toBe(mss)
    expect(answerTo({ scale: 2 })).toBe(`${mss}01030307`)
    expect(answerTo({ sackPermitted: true })).toBe(`${mss}01010402`)
    expect(answerTo({ ts: 5 })).toMatch(new RegExp(`^${mss}0101080a[0-9a-f]{8}00000005$`))
  })

  it('scales windows only when both SYNs said so', () => {
    const windowOf = (options: Partial<Saying>): [theirs: number, ours: number] => {
      const peer = ScriptedPeer.established({ window: 1_000, ...options })
      peer.writes('x')
      const [packet] = peer.packets
      return [peer.connection!.sendWindow, (packet![34]! << 8) | packet![35]!]
    }
    expect(windowOf({ scale: 3 })).toEqual([8_000, (256 << 10) >> 7])
    expect(windowOf({ scale: 15 })).toEqual([1_000 << 14, (256 << 10) >> 7])
    const peer = new ScriptedPeer().listen()
    peer.says('SYN', { seq: 0, mss: 1380 })
    peer.says('ACK', { seq: 1, ack: 1, window: 1_000 })
    peer.writes('x')
    expect([peer.connection!.sendWindow, peer.connection!.receiveWindow.scale]).toEqual([1_000, 0])
  })

  it('sends segments as long as the peer and our MTU say, 536 bytes when the peer does not (RFC 9293 §3.7.1)', () => {
    const longestFor = (mss: number | undefined): number => {
      const peer = new ScriptedPeer().listen()
      peer.says('SYN', { seq: 0, ...(mss === undefined ? {} : { mss }) })
      peer.says('ACK', { seq: 1, ack: 1 })
      return peer.writes(new Uint8Array(1_400)).length === 0 ? 0 : peer.packets.at(1)!.length - 40
    }
    expect([undefined, 1_000, 9_000, 10].map(longestFor)).toEqual([536, 1_000, 1_380, 64])
  })

  it('dials, and acknowledges the SYN-ACK', () => {
    const peer = new ScriptedPeer().connect()
    expect(peer.sends()).toEqual(['SYN 0:0'])
    expect(peer.says('SYN,ACK', { seq: 0, ack: 1 })).toEqual(['ACK 1:1 ack 1'])
    expect([peer.events, state(peer)]).toEqual([['connected'], 'established'])
  })

  it('opens when both dial at once (RFC 9293 §3.5, figure 8)', () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    expect(peer.says('SYN', { seq: 0 })).toEqual(['SYN,ACK 0:0 ack 1'])
    expect(state(peer)).toBe('syn-received')
    peer.says('SYN,ACK', { seq: 0, ack: 1 })
    expect([peer.events, state(peer)]).toEqual([['connected'], 'established'])
  })

  it('repeats its SYN with growing pauses and gives up', () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    expect(peer.after(999)).toEqual([])
    expect(peer.after(1)).toEqual(['SYN 0:0'])
    expect(peer.after(2_000)).toEqual(['SYN 0:0'])
    expect(peer.after(4_000)).toEqual(['SYN 0:0'])
    peer.after(200_000)
    expect(peer.events).toEqual(['closed timed-out'])
  })

  it('is refused by a reset that acknowledges its SYN, and by no other', () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    peer.says('RST,ACK', { seq: 0, ack: 7 })
    peer.says('RST', { seq: 0 })
    expect(peer.events).toEqual([])
    peer.says('RST,ACK', { seq: 0, ack: 1 })
    expect(peer.events).toEqual(['closed refused'])
  })

  it('resets a peer that acknowledges what was never sent', () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    expect(peer.says('SYN,ACK', { seq: 0, ack: 100 })).toEqual(['RST 100:100'])
    expect(state(peer)).toBe('syn-sent')
  })

  it('answers a segment of no connection with a reset, and a reset with nothing', () => {
    const peer = new ScriptedPeer()
    expect(peer.says('SYN', { seq: 5 })).toEqual([expect.stringMatching(/^RST,ACK .* ack 6$/)])
    expect(peer.says('ACK', { seq: 5, ack: 77 })).toEqual(['RST 77:77'])
    expect(new ScriptedPeer().listen().says('SYN,ACK', { seq: 5, ack: 77 })).toEqual(['RST 77:77'])
    expect(peer.says('RST', { seq: 5 })).toEqual([])
  })

  it('repeats its SYN-ACK when the SYN comes again, and drops a handshake that never ends', () => {
    const peer = new ScriptedPeer().listen()
    peer.says('SYN', { seq: 0 })
    expect(peer.says('SYN', { seq: 0 })).toEqual(['SYN,ACK 0:0 ack 1'])
    peer.after(60_000)
    expect(peer.says('ACK', { seq: 1, ack: 1 })).toEqual(['RST 1:1'])
  })

  it('admits no more handshakes of one peer than its share, and resets the others', () => {
    const peer = new ScriptedPeer().listen(128)
    for (let port = 1; port <= 64; port++) expect(peer.says('SYN', { seq: 0, port })).toHaveLength(1)
    // As where nothing listens, of sequence number 0, which is 16 from our first (RFC 9293 §3.10.7.1): no need to ask
    // again.
    const reset = ['RST,ACK 16:16 ack 1']
    expect(peer.says('SYN', { seq: 0, port: 65 })).toEqual(reset)
    expect(peer.drops).toEqual(['backlog-full'])
    // One that is over makes room for one.
    peer.says('ACK', { seq: 1, ack: 1, port: 1 })
    expect(peer.says('SYN', { seq: 0, port: 65 })).toHaveLength(1)
    expect(peer.says('SYN', { seq: 0, port: 66 })).toEqual(reset)
  })
})

describe('states', () => {
  type Step = [does: (peer: ScriptedPeer) => unknown, state: ConnectionState]
  const shutdown = (peer: ScriptedPeer): void => {
    peer.connection!.shutdown()
    peer.sends()
  }
  const walks: Record<string, Step[]> = {
    'we close first': [
      [shutdown, 'fin-wait-1'],
      [(peer) => peer.says('ACK', { seq: 1, ack: 2 }), 'fin-wait-2'],
      [(peer) => peer.says('FIN,ACK', { seq: 1, ack: 2 }), 'time-wait'],
      [(peer) => peer.after(59_000), 'time-wait'],
      [(peer) => peer.after(2_000), 'closed'],
    ],
    'the peer closes first': [
      [(peer) => peer.says('FIN,ACK', { seq: 1, ack: 1 }), 'close-wait'],
      [shutdown, 'last-ack'],
      [(peer) => peer.says('ACK', { seq: 2, ack: 2 }), 'closed'],
    ],
    'both close at once': [
      [shutdown, 'fin-wait-1'],
      [(peer) => peer.says('FIN,ACK', { seq: 1, ack: 1 }), 'closing'],
      [(peer) => peer.says('ACK', { seq: 2, ack: 2 }), 'time-wait'],
    ],
    'the peer answers our FIN with its own': [
      [shutdown, 'fin-wait-1'],
      [(peer) => peer.says('FIN,ACK', { seq: 1, ack: 2 }), 'time-wait'],
    ],
    'the peer resets': [[(peer) => peer.says('RST', { seq: 1 }), 'closed']],
    'we abort': [[(peer) => peer.take(peer.stack.abort(peer.connection!)), 'closed']],
    'the peer opens anew during TIME-WAIT': [
      [shutdown, 'fin-wait-1'],
      [(peer) => peer.says('FIN,ACK', { seq: 1, ack: 2 }), 'time-wait'],
      [(peer) => peer.says('RST', { seq: 2 }), 'time-wait'],
      [(peer) => peer.says('SYN', { seq: 1000 }), 'closed'],
    ],
  }
  for (const [name, steps] of Object.entries(walks)) {
    it(`pass in the order of RFC 9293 §3.3.2 when ${name}`, () => {
      const peer = ScriptedPeer.established()
      const states = steps.map(([does]) => {
        does(peer)
        return state(peer)
      })
      expect(states).toEqual(steps.map(([, expected]) => expected))
    })
  }

  it('still deliver after our FIN, and still send after the peer’s (half-close)', () => {
    const peer = ScriptedPeer.established()
    shutdown(peer)
    peer.says('ACK', { seq: 1, ack: 2, data: 'more' })
    expect(peer.reads()).toBe('more')
    const other = ScriptedPeer.established()
    other.says('FIN,ACK', { seq: 1, ack: 1 })
    expect(other.writes('late')).toEqual(['ACK 1:5 ack 2'])
  })

  it('stay in TIME-WAIT for a minute after the last FIN (RFC 9293 §3.10.7.4)', () => {
    const peer = ScriptedPeer.established()
    shutdown(peer)
    peer.says('FIN,ACK', { seq: 1, ack: 2 })
    peer.after(50_000)
    expect(peer.says('FIN,ACK', { seq: 1, ack: 2 })).toEqual(['ACK 2:2 ack 2'])
    peer.after(59_999)
    expect(state(peer)).toBe('time-wait')
    peer.after(1)
    expect(peer.events.at(-1)).toBe('closed cleanly')
  })

  it('end a minute after the application left when the peer never closes', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.close(peer.now)
    peer.sends()
    peer.says('ACK', { seq: 1, ack: 2 })
    peer.after(59_999)
    expect(state(peer)).toBe('fin-wait-2')
    expect(peer.after(1)).toEqual([expect.stringMatching(/^RST,ACK/)])
    expect(peer.events.at(-1)).toBe('closed timed-out')
  })

  it('repeat the acknowledgment of a FIN that comes again', () => {
    const peer = ScriptedPeer.established()
    expect(peer.says('FIN,ACK', { seq: 1, ack: 1 })).toEqual(['ACK 1:1 ack 2'])
    expect(peer.says('FIN,ACK', { seq: 1, ack: 1 })).toEqual(['ACK 1:1 ack 2'])
  })

  it('discard data that arrives between our close and the acknowledgment of our FIN', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.close(peer.now)
    peer.sends()
    expect(peer.says('ACK', { seq: 1, ack: 1, data: 'late' })).toEqual(['ACK 2:2 ack 5'])
    expect(peer.connection!.reassembly.readyBytes).toBe(0)
  })

  it('end an abandoned connection with a reset when more data comes', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.close(peer.now)
    expect(peer.sends()).toEqual(['FIN,ACK 1:1 ack 1'])
    peer.says('ACK', { seq: 1, ack: 2 })
    expect(peer.says('ACK', { seq: 1, ack: 2, data: 'x' })).toEqual([expect.stringMatching(/^RST,ACK/)])
    expect(peer.events).toEqual(['accepted', 'closed cleanly'])
  })
})

describe('forged and stale segments', () => {
  it('reset only with the exact sequence number, and are challenged in the window (RFC 5961 §3.2)', () => {
    const peer = ScriptedPeer.established()
    expect(peer.says('RST', { seq: 2 })).toEqual(['ACK 1:1 ack 1'])
    expect(peer.says('RST', { seq: 2_000_000 })).toEqual([])
    expect(state(peer)).toBe('established')
    peer.says('RST', { seq: 1 })
    expect(peer.events).toEqual(['accepted', 'closed reset'])
  })

  it('challenge a SYN in the open (RFC 5961 §4.2)', () => {
    const peer = ScriptedPeer.established()
    expect(peer.says('SYN', { seq: 1 })).toEqual(['ACK 1:1 ack 1'])
    expect(state(peer)).toBe('established')
  })

  it('challenge acknowledgments of the far past and of the future (RFC 5961 §5.2)', () => {
    const peer = ScriptedPeer.established()
    expect(peer.says('ACK', { seq: 1, ack: 50, data: 'x' })).toEqual(['ACK 1:1 ack 1'])
    expect(peer.says('ACK', { seq: 1, ack: -70_000, data: 'x' })).toEqual(['ACK 1:1 ack 1'])
    expect(peer.reads()).toBe('')
    expect(peer.drops).toEqual(['bad-acknowledgment', 'bad-acknowledgment'])
  })

  it('are answered ten times a second at most when they only acknowledge, so that no two answer for ever', () => {
    const peer = ScriptedPeer.established()
    const answers = Array.from({ length: 50 }, () => peer.says('ACK', { seq: 0, ack: 1 }).length)
    expect(answers.reduce((sum, count) => sum + count)).toBe(10)
  })

  it('are tolerated as far back as the largest window that the peer ever gave (RFC 5961 §5.2)', () => {
    const peer = ScriptedPeer.established({ scale: 4 })
    const next = (): number => (peer.connection!.sendNext - peer.connection!.initialSendSequence) | 0
    while (next() < 300_000) {
      peer.writes(new Uint8Array(10 * 1_380))
      peer.now += 10
      peer.says('ACK', { seq: 1, ack: next() })
    }
    expect(peer.says('ACK', { seq: 1, ack: next() - 200_000 })).toEqual([])
    expect(peer.drops).toEqual([])
  })

  it('draw ten challenges a second at most (RFC 5961 §7)', () => {
    const peer = ScriptedPeer.established()
    const draw = (): number => Array.from({ length: 50 }, () => peer.says('RST', { seq: 2 })).flat().length
    expect(draw()).toBe(10)
    peer.after(999)
    expect(draw()).toBe(0)
    peer.after(1)
    expect(draw()).toBe(10)
  })

  it('do not change bytes that came before', () => {
    const peer = ScriptedPeer.established()
    peer.says('ACK', { seq: 4, ack: 1, data: 'DEF' })
    peer.says('ACK', { seq: 3, ack: 1, data: 'xyzw' })
    peer.says('ACK', { seq: 1, ack: 1, data: 'AB' })
    expect(peer.reads()).toBe('ABxDEF')
  })
})

describe('receiving', () => {
  it('acknowledges a gap at once, with what is held above it (RFC 2018 §4)', () => {
    const peer = ScriptedPeer.established()
    expect(peer.says('ACK', { seq: 11, ack: 1, data: 'b'.repeat(10) })).toEqual(['ACK 1:1 ack 1 sack 11-21'])
    expect(peer.says('ACK', { seq: 31, ack: 1, data: 'd'.repeat(10) })).toEqual(['ACK 1:1 ack 1 sack 31-41 11-21'])
    expect(peer.says('ACK', { seq: 1, ack: 1, data: 'a'.repeat(10) })).toEqual(['ACK 1:1 ack 21 sack 31-41'])
    expect(peer.says('ACK', { seq: 21, ack: 1, data: 'c'.repeat(10) })).toEqual(['ACK 1:1 ack 41'])
    expect(peer.reads()).toBe('a'.repeat(10) + 'b'.repeat(10) + 'c'.repeat(10) + 'd'.repeat(10))
  })

  it('reports a duplicate (RFC 2883 §4)', () => {
    const peer = ScriptedPeer.established()
    peer.says('ACK', { seq: 1, ack: 1, data: 'abc' })
    expect(peer.says('ACK', { seq: 1, ack: 1, data: 'abc' })).toEqual(['ACK 1:1 ack 4 sack 1-4'])
    expect(peer.reads()).toBe('abc')
  })

  it('acknowledges at once while the peer is in slow start, and then every second full segment (RFC 5681 §4.2)', () => {
    const peer = ScriptedPeer.established()
    const answers = Array.from(
      { length: 20 },
      (_, i) => peer.says('ACK', { seq: 1 + i * 1_380, ack: 1, data: new Uint8Array(1_380) }).length,
    )
    expect(answers.join('')).toBe('11111111111111110101')
  })

  it('delays the acknowledgment of a lone segment once the start is over, by 40 ms', () => {
    const peer = ScriptedPeer.established()
    for (let i = 0; i < 20; i++) peer.says('ACK', { seq: 1 + i, ack: 1, data: 'x' })
    expect(peer.after(100).length).toBeLessThan(2)
    expect(peer.says('ACK', { seq: 21, ack: 1, data: 'x' })).toEqual([])
    expect(peer.after(39)).toEqual([])
    expect(peer.after(1)).toEqual(['ACK 1:1 ack 22'])
  })

  it('closes its window when nobody reads, holds no more, and opens it again', () => {
    const peer = ScriptedPeer.established()
    const chunk = new Uint8Array(1380)
    let seq = 1
    for (let i = 0; i < 1_000; i++) {
      peer.says('ACK', { seq, ack: 1, data: chunk })
      seq = 1 + peer.connection!.reassembly.readyBytes
    }
    expect(peer.connection!.reassembly.readyBytes).toBeLessThanOrEqual(256 << 10)
    expect(peer.connection!.reassembly.readyBytes).toBeGreaterThan((256 << 10) - 3 * 1380)
    const before = peer.packets.length
    expect(peer.reads().length).toBe(seq - 1)
    expect(peer.sends()).toEqual([`ACK 1:1 ack ${seq}`])
    expect(peer.packets.length).toBe(before + 1)
  })

  it('still processes the acknowledgment of a segment beyond the closed window (RFC 9293 §3.10.7.4)', () => {
    const peer = ScriptedPeer.established()
    const { receiveWindow, receiveNext } = peer.connection!
    for (let seq = 1; receiveWindow.edge !== peer.connection!.receiveNext; seq += 1_024)
      peer.says('ACK', { seq, ack: 1, data: new Uint8Array(1_024) })
    expect(peer.writes('hello')).toHaveLength(1)
    peer.says('ACK', { seq: 1 + ((peer.connection!.receiveNext - receiveNext) | 0) + 10, ack: 6, data: 'x' })
    expect([peer.connection!.queue.isEmpty, peer.drops]).toEqual([true, ['out-of-window']])
  })

  it('sends an acknowledgment for each segment out of order to a peer that counts them (RFC 5681 §4.2)', () => {
    const answersTo = (sackPermitted: boolean): string[] => {
      const peer = ScriptedPeer.established({ sackPermitted })
      for (const seq of [3, 5, 7]) peer.hears('ACK', { seq, ack: 1, data: 'x' })
      return peer.sends()
    }
    expect(answersTo(false)).toEqual(['ACK 1:1 ack 1', 'ACK 1:1 ack 1', 'ACK 1:1 ack 1'])
    expect(answersTo(true)).toEqual(['ACK 1:1 ack 1 sack 7-8 5-6 3-4'])
  })

  it('answers a probe of a closed window', () => {
    const peer = ScriptedPeer.established()
    expect(peer.says('ACK', { seq: 0, ack: 1 })).toEqual(['ACK 1:1 ack 1'])
  })
})

describe('sending', () => {
  it('sends a lost segment again when three later ones arrived', () => {
    const peer = ScriptedPeer.established()
    expect(peer.writes(new Uint8Array(1380 * 5))).toHaveLength(5)
    peer.now += 20
    const answers = [2_761, 4_141, 5_521].flatMap((end) => peer.says('ACK', { seq: 1, ack: 1, sack: [[1_381, end]] }))
    expect(answers).toEqual(['ACK 1:1381 ack 1'])
  })

  it('sends again after a timeout, doubles it, and gives up on a dead peer', () => {
    const peer = ScriptedPeer.established()
    peer.writes('hello')
    expect(peer.after(180_000).every((sent) => sent.startsWith('ACK 1:6') || sent.startsWith('RST'))).toBe(true)
    expect(peer.events).toEqual(['accepted', 'closed timed-out'])
  })

  it('probes a lost tail with the FIN itself, never with one beyond it', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.shutdown()
    const sent = [...peer.writes(''), ...peer.after(5_000)]
    expect(sent.length).toBeGreaterThan(2)
    expect(new Set(sent)).toEqual(new Set(['FIN,ACK 1:1 ack 1']))
  })

  it('sends small writes at once, and collects them only when told to (Nagle, RFC 9293 §3.7.4)', () => {
    const peer = ScriptedPeer.established()
    expect([...peer.writes('a'), ...peer.writes('b')]).toEqual(['ACK 1:2 ack 1', 'ACK 2:3 ack 1'])
    peer.connection!.setNagle(true)
    expect([...peer.writes('c'), ...peer.writes('d')]).toEqual([])
    expect(peer.says('ACK', { seq: 1, ack: 3 })).toEqual(['ACK 3:5 ack 1'])
    expect(peer.writes(new Uint8Array(1_400))).toEqual(['ACK 5:1385 ack 1'])
    peer.connection!.setNagle(false)
    expect(peer.sends()).toEqual(['ACK 1385:1405 ack 1'])
    peer.connection!.setNagle(true)
    peer.writes('e')
    peer.connection!.shutdown()
    expect(peer.sends()).toEqual(['FIN,ACK 1405:1406 ack 1'])
  })

  it('respects the window of the peer, and probes a closed one', () => {
    const peer = ScriptedPeer.established({ window: 3000 })
    expect(peer.writes(new Uint8Array(10_000))).toEqual(['ACK 1:1381 ack 1', 'ACK 1381:2761 ack 1'])
    expect(peer.says('ACK', { seq: 1, ack: 2761, window: 0 })).toEqual([])
    expect(peer.after(1_000)[0]).toBe('ACK 2760:2760 ack 1')
    for (let i = 0; i < 200; i++) {
      peer.after(30_000)
      peer.says('ACK', { seq: 1, ack: 2761, window: 0 })
    }
    expect(state(peer)).toBe('established')
    expect(peer.says('ACK', { seq: 1, ack: 2761, window: 3000 })).toEqual([
      'ACK 2761:4141 ack 1',
      'ACK 4141:5521 ack 1',
    ])
  })

  it('does not send slivers into a window that opens a little (RFC 9293 §3.8.6.2.1)', () => {
    const peer = ScriptedPeer.established({ window: 5_520 })
    peer.writes(new Uint8Array(20_000))
    expect(peer.says('ACK', { seq: 1, ack: 5_521, window: 100 })).toEqual([])
    expect(peer.after(5_000)).toContain('ACK 5521:5621 ack 1')
  })

  it('fills a window that opens a little soon, however long it was closed', () => {
    const peer = ScriptedPeer.established({ window: 5_520 })
    peer.writes(new Uint8Array(20_000))
    peer.says('ACK', { seq: 1, ack: 5_521, window: 0 })
    for (let i = 0; i < 10; i++) {
      peer.after(30_000)
      peer.says('ACK', { seq: 1, ack: 5_521, window: 0 })
    }
    peer.says('ACK', { seq: 1, ack: 5_521, window: 100 })
    expect(peer.after(1_000)).toContain('ACK 5521:5621 ack 1')
  })

  it('uses only the window of the newest segment (RFC 9293 §3.10.7.4)', () => {
    const peer = ScriptedPeer.established()
    peer.says('ACK', { seq: 4, ack: 1, data: 'def', window: 5_000 })
    peer.says('ACK', { seq: 1, ack: 1, data: 'abc', window: 100 })
    expect(peer.connection!.sendWindow).toBe(5_000)
    peer.says('ACK', { seq: 7, ack: 1, window: 100 })
    expect(peer.connection!.sendWindow).toBe(100)
  })

  it('tolerates a window that shrinks', () => {
    const peer = ScriptedPeer.established({ window: 10_000 })
    peer.writes(new Uint8Array(9_000))
    expect(peer.says('ACK', { seq: 1, ack: 1381, window: 500 })).toEqual([])
    expect(peer.says('ACK', { seq: 1, ack: 9_001, window: 10_000 })).toEqual([])
    expect(peer.connection!.queue.isEmpty).toBe(true)
  })

  it('probes a silent peer ten times, a second apart, and starts over after each sign of life', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.setKeepalive(5_000, peer.now)
    expect(peer.after(13_000)).toHaveLength(9)
    peer.says('ACK', { seq: 1, ack: 1 })
    expect(peer.after(14_999)).toHaveLength(10)
    expect(peer.events).toEqual(['accepted'])
    expect(peer.after(1)).toEqual([expect.stringMatching(/^RST,ACK/)])
    expect(peer.events).toEqual(['accepted', 'closed timed-out'])
  })

  it('gives up a peer that closed its window and then falls silent', () => {
    const peer = ScriptedPeer.established({ window: 0 })
    peer.writes('x')
    peer.after(60_000)
    expect(peer.events).toEqual(['accepted'])
    peer.after(120_000)
    expect(peer.events).toEqual(['accepted', 'closed timed-out'])
  })

  it('starts with ten segments again after idle time (RFC 5681 §4.1)', () => {
    const peer = ScriptedPeer.established()
    for (let ack = 1, i = 0; i < 6; i++) {
      ack += 1_380 * peer.writes(new Uint8Array(30 * 1_380)).length
      peer.now += 10
      while (!peer.connection!.queue.isEmpty) {
        const { sendNext, initialSendSequence } = peer.connection!
        peer.says('ACK', { seq: 1, ack: (sendNext - initialSendSequence) | 0 })
        peer.now += 10
      }
    }
    expect(peer.connection!.congestion.window).toBeGreaterThan(20 * 1_380)
    peer.after(1_000)
    expect(peer.writes(new Uint8Array(30 * 1_380))).toHaveLength(10)
  })

  it('sends no keepalive while data is unacknowledged, whose own timers wait longer (RFC 9293 §3.8.4, MUST-26)', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.setKeepalive(1_000, peer.now)
    peer.writes('hello')
    const repeats = peer.after(90_000)
    expect(new Set(repeats)).toEqual(new Set(['ACK 1:6 ack 1']))
    peer.says('ACK', { seq: 1, ack: 6 })
    expect(peer.events).toEqual(['accepted'])
    peer.after(11_000)
    expect(peer.events).toEqual(['accepted', 'closed timed-out'])
  })

  it('sends no more probes once keepalive is switched off', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.setKeepalive(5_000, peer.now)
    expect(peer.after(5_000)).toEqual(['ACK 0:0 ack 1'])
    peer.connection!.setKeepalive(undefined, peer.now)
    expect(peer.after(3_600_000)).toEqual([])
    expect([peer.stack.nextDeadline(), peer.events]).toEqual([undefined, ['accepted']])
    expect(peer.writes('x')).toEqual(['ACK 1:2 ack 1'])
    expect(peer.after(1_000)).toContain('ACK 1:2 ack 1')
  })

  it('ends a silent peer that answers no keepalive', () => {
    const peer = ScriptedPeer.established()
    peer.connection!.setKeepalive(5_000, peer.now)
    expect(peer.after(4_999)).toEqual([])
    expect(peer.after(1)).toEqual(['ACK 0:0 ack 1'])
    peer.says('ACK', { seq: 1, ack: 1 })
    peer.after(30_000)
    expect(peer.events).toEqual(['accepted', 'closed timed-out'])
  })
})
