/** Attacks from inside or beside a connection, each with the outcome that limits it. */
import { describe, expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import { encodeSegment, ACK, RST, SYN } from './segment.ts'
import { OUR_ADDRESS, PEER_ADDRESS, ScriptedPeer } from './scripted-peer.ts'
import { createCore } from './simulator.ts'

const MEGABYTE = 1 << 20

/** A segment to us from anyone, sequence numbers absolute. */
function segment(from: number, port: number, flags: number): Uint8Array {
  return encodeSegment(
    {
      source: from,
      destination: OUR_ADDRESS,
      sourcePort: port,
      destinationPort: 80,
      sequence: 1,
      acknowledgment: 0,
      flags,
      window: 1000,
    },
    (length) => new Uint8Array(length),
  )
}

describe('a flood of SYNs', () => {
  it('from one peer is answered for its share of the backlog, and another peer still gets in', () => {
    const stack = createCore(OUR_ADDRESS)
    stack.listen(80)
    const flagsOfAnswers: number[] = []
    for (let port = 1; port <= 5_000; port++) {
      for (const output of [...stack.receive(segment(PEER_ADDRESS, port, SYN), 1), ...stack.tick(1)])
        if (output.type === 'packet') flagsOfAnswers.push(output.packet[33]!)
    }
    expect(flagsOfAnswers.filter((flags) => flags === (SYN | ACK))).toHaveLength(256)
    expect(flagsOfAnswers.filter((flags) => flags === (RST | ACK))).toHaveLength(5_000 - 256)
    stack.receive(segment(PEER_ADDRESS + 1, 1, SYN), 1)
    expect(stack.tick(1).map((output) => output.type)).toEqual(['packet'])
  })

  it('from as many peers as fill the backlog leaves a peer with few connections its place', () => {
    const stack = createCore(OUR_ADDRESS)
    stack.listen(80)
    const answersTo = (peer: number, port: number): string[] =>
      [...stack.receive(segment(peer, port, SYN), 1), ...stack.tick(1)].flatMap((output) =>
        output.type === 'packet' ? `${output.packet[19]! - (PEER_ADDRESS & 255)} ${output.packet[33]}` : [],
      )
    for (let peer = 0; peer < 20; peer++) for (let port = 1; port <= 600; port++) answersTo(PEER_ADDRESS + peer, port)
    // The oldest connection of the peer with the most is reset for it.
    const [reset, answer] = answersTo(PEER_ADDRESS + 20, 1)
    expect([reset, answer]).toEqual([expect.stringMatching(/ 20$/), `20 ${SYN | ACK}`])
    expect(reset).not.toMatch(/^20/)
    expect(answersTo(PEER_ADDRESS, 601)).toEqual([`0 ${RST | ACK}`])
  })

  it('from everywhere stops at the backlog, and is dropped within half a minute', () => {
    const stack = createCore(OUR_ADDRESS)
    stack.listen(80, 64)
    const flood = (now: number): number => {
      let dropped = 0
      for (let peer = 1; peer <= 1_000; peer++)
        dropped += stack
          .receive(segment(PEER_ADDRESS + peer, 1, SYN), now)
          .filter((output) => output.type === 'drop' && output.reason === 'backlog-full').length
      stack.tick(now)
      return dropped
    }
    expect(flood(1)).toBe(936)
    for (let now = 1; now <= 32_000; now += 500) stack.tick(now)
    expect(stack.nextDeadline()).toBeUndefined()
    expect(flood(33_000)).toBe(936)
  })

  it('that completes its handshakes stops at 1,024 connections of one peer', () => {
    const stack = createCore(OUR_ADDRESS)
    stack.listen(80)
    let accepted = 0
    let refused = 0
    for (let port = 1; port <= 1_200; port++) {
      const refusal = stack.receive(segment(PEER_ADDRESS, port, SYN), 1)
      const [answer] = stack.tick(1)
      if (answer?.type !== 'packet') {
        if (refusal.map((output) => output.type).join() === 'packet,drop') refused++
        continue
      }
      const view = new DataView(answer.packet.buffer, answer.packet.byteOffset)
      const packet = encodeSegment(
        {
          source: PEER_ADDRESS,
          destination: OUR_ADDRESS,
          sourcePort: port,
          destinationPort: 80,
          sequence: 2,
          acknowledgment: view.getUint32(24) + 1,
          flags: ACK,
          window: 1000,
        },
        (length) => new Uint8Array(length),
      )
      accepted += stack.receive(packet, 1).filter((output) => output.type === 'accepted').length
    }
    expect([accepted, refused]).toEqual([1_024, 176])
  })
})

describe('a peer that opens and closes endlessly', () => {
  it('is not counted by those in TIME-WAIT, nor by those that are over', () => {
    const peer = new ScriptedPeer().listen()
    for (let minute = 0; minute < 2; minute++) {
      for (let port = 1; port <= 1_030; port++) {
        peer.says('SYN', { seq: 0, port })
        peer.says('ACK', { seq: 1, ack: 1, port })
        peer.connection!.shutdown()
        peer.sends()
        peer.says('FIN,ACK', { seq: 1, ack: 2, port })
        expect(peer.connection!.state).toBe('time-wait')
      }
      peer.after(61_000)
    }
    expect(peer.drops).toEqual([])
    expect(peer.events.filter((event) => event === 'accepted')).toHaveLength(2_060)
  })
})

describe('a peer that lies about received data', () => {
  it('and acknowledges unsent data is challenged, and nothing is freed', () => {
    const peer = ScriptedPeer.established()
    peer.writes('hello')
    expect(peer.says('ACK', { seq: 1, ack: 7 })).toEqual(['ACK 6:6 ack 1'])
    expect([peer.drops, peer.connection!.sendBuffer.length]).toEqual([['bad-acknowledgment'], 5])
  })

  it('and reports everything but acknowledges nothing gets it again, and is given up', () => {
    const peer = ScriptedPeer.established()
    peer.writes('hello')
    peer.says('ACK', { seq: 1, ack: 1, sack: [[1, 6]] })
    const sent = peer.after(200_000)
    expect(sent[0]).toBe('ACK 1:6 ack 1')
    expect(peer.events.at(-1)).toBe('closed timed-out')
  })

  it('and acknowledges a byte at a time gains no more window than the bytes', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(100_000))
    const before = peer.connection!.congestion.window
    for (let ack = 2; ack <= 1_381; ack++) peer.says('ACK', { seq: 1, ack })
    expect(peer.connection!.congestion.window - before).toBeLessThanOrEqual(1_380)
  })

  it('and repeats an acknowledgment endlessly gets each segment once', () => {
    const peer = ScriptedPeer.established({ sackPermitted: false })
    peer.writes(new Uint8Array(1_380 * 5))
    const drawn = Array.from({ length: 1_000 }, () => peer.says('ACK', { seq: 1, ack: 1 })).flat()
    expect(drawn).toEqual(['ACK 1:1381 ack 1'])
  })

  it('and reports ranges that do not exist is ignored', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(5_000))
    peer.says('ACK', {
      seq: 1,
      ack: 1,
      sack: [
        [9_000, 12_000],
        [4_000, 3_000],
        [-50_000, 100],
      ],
    })
    expect(peer.connection!.queue.sackedBytes).toBe(0)
  })
})

/** A peer's connection to port 80, and its segments there. */
function dial(stack: ReturnType<typeof createCore>, source: number, port: number) {
  const say = (flags: number, sequence: number, acknowledgment: number, payload?: Uint8Array) => {
    const packet = encodeSegment(
      {
        source,
        destination: OUR_ADDRESS,
        sourcePort: port,
        destinationPort: 80,
        sequence,
        acknowledgment,
        flags,
        window: 65_535,
        payload,
      },
      (length) => new Uint8Array(length),
    )
    return [...stack.receive(packet, 1), ...stack.tick(1)]
  }
  const answer = say(SYN, 0, 0).find((output) => output.type === 'packet')!.packet
  const acknowledgment = new DataView(answer.buffer, answer.byteOffset).getUint32(24) + 1
  const opened = say(ACK, 1, acknowledgment).find((output) => output.type === 'accepted')
  return {
    connection: opened!.connection,
    /** Offsets count from the first byte of the stream. */
    sends: (offset: number, bytes: number) => say(ACK, 1 + offset, acknowledgment, new Uint8Array(bytes)),
  }
}

describe('memory for unread data', () => {
  const keptBy = (connections: { connection: Connection }[]): number =>
    connections.reduce((total, { connection }) => total + connection.reassembly.bufferedBytes, 0)
  const drops = (outputs: { type: string }[]): number => outputs.filter(({ type }) => type === 'drop').length

  it('above gaps stops at 8 MiB for a peer, and its other connections continue in order', () => {
    const stack = createCore(OUR_ADDRESS)
    stack.listen(80)
    const all = Array.from({ length: 300 }, (_, i) => dial(stack, PEER_ADDRESS, i + 1))
    let refused = 0
    for (const { sends } of all) for (let at = 1; at < 62_000; at += 1_380) refused += drops(sends(at, 1_380))
    expect(refused).toBeGreaterThan(0)
    expect(keptBy(all)).toBeLessThan(8.1 * MEGABYTE)
    const { sends, connection } = all.at(-1)!
    for (let at = 0; at < 13_800; at += 1_380) {
      expect(drops(sends(at, 1_380))).toBe(0)
      connection.read(1 << 20)
    }
    // Room comes back with the connections.
    for (const { connection: held } of all.slice(0, -1)) stack.abort(held)
    expect(drops(sends(20_000, 1_380))).toBe(0)
  })

  it('that nobody reads stops at 16 MiB for a peer and 64 MiB for all, and readers that read continue', () => {
    const stack = createCore(OUR_ADDRESS)
    stack.listen(80)
    const fill = (peer: number) => {
      const all = Array.from({ length: 300 }, (_, i) => dial(stack, peer, i + 1))
      for (const { sends } of all) for (let at = 0; at < 62_000; at += 1_240) sends(at, 1_240)
      return keptBy(all)
    }
    const kept = Array.from({ length: 6 }, (_, i) => fill(PEER_ADDRESS + i))
    expect(Math.max(...kept)).toBeLessThan(17 * MEGABYTE)
    expect(kept.reduce((total, bytes) => total + bytes, 0)).toBeLessThan(66 * MEGABYTE)
    const reader = dial(stack, PEER_ADDRESS + 100, 1)
    for (let at = 0; at < 124_000; at += 1_240) {
      expect(drops(reader.sends(at, 1_240))).toBe(0)
      expect(reader.connection.read(1 << 20)[0]).toHaveLength(1_240)
    }
  })
})

describe('a window', () => {
  it('that never opens holds at most the send buffer, is probed ever less, and ends with its application', () => {
    const peer = ScriptedPeer.established({ window: 0 })
    const taken = peer.connection!.send(new Uint8Array(16 * MEGABYTE))
    expect(taken).toBeLessThanOrEqual(MEGABYTE)
    let probes = 0
    for (let minute = 0; minute < 60; minute++) {
      probes += peer.after(60_000).length
      peer.says('ACK', { seq: 1, ack: 1, window: 0 })
    }
    expect(probes).toBeLessThan(80)
    expect(peer.connection!.state).toBe('established')
    peer.connection!.close(peer.now)
    peer.after(61_000)
    expect(peer.events.at(-1)).toBe('closed timed-out')
  })

  it('that shrinks is respected: nothing new beyond it, and nothing lost', () => {
    const peer = ScriptedPeer.established({ window: 10_000 })
    peer.writes(new Uint8Array(20_000))
    expect(peer.says('ACK', { seq: 1, ack: 1_381, window: 1_000 })).toEqual([])
    const sent = peer.says('ACK', { seq: 1, ack: 9_661, window: 20_000 })
    expect(sent[0]).toBe('ACK 9661:11041 ack 1')
  })

  it('that opens by a byte at a time is filled at the pace of the persist timer (RFC 9293 §3.8.6.2.1)', () => {
    const peer = ScriptedPeer.established({ window: 5_520 })
    peer.writes(new Uint8Array(50_000))
    const small: string[] = []
    for (let i = 0; i < 50; i++) {
      const ack = 5_521 + i
      small.push(...peer.says('ACK', { seq: 1, ack: Math.min(ack, 5_521), window: 1 + i }), ...peer.after(2))
    }
    expect(small.length).toBeLessThanOrEqual(1)
  })

  it('of ours never moves back, whatever the peer sends', () => {
    const peer = ScriptedPeer.established()
    let edge = peer.connection!.receiveWindow.edge
    for (let i = 0; i < 400; i++) {
      peer.says('ACK', { seq: 1 + i * 1_000 + (i % 3) * 500, ack: 1, data: new Uint8Array(1_000) })
      expect((peer.connection!.receiveWindow.edge - edge) | 0).toBeGreaterThanOrEqual(0)
      edge = peer.connection!.receiveWindow.edge
    }
  })

  it('of ours is not overrun: data beyond it is cut off', () => {
    const peer = ScriptedPeer.established()
    const edge = (peer.connection!.receiveWindow.edge - peer.connection!.receiveNext) | 0
    expect(peer.says('ACK', { seq: edge - 99, ack: 1, data: new Uint8Array(1_000) })).toEqual([
      `ACK 1:1 ack 1 sack ${edge - 99}-${edge + 1}`,
    ])
    const wider = (peer.connection!.receiveWindow.edge - peer.connection!.receiveNext) | 0
    peer.says('ACK', { seq: wider + 1, ack: 1, data: new Uint8Array(1_000) })
    expect(peer.drops).toEqual(['out-of-window'])
  })
})

describe('segments', () => {
  it('that overlap and disagree change no earlier byte, in any order', () => {
    const peer = ScriptedPeer.established()
    peer.says('ACK', { seq: 3, ack: 1, data: 'CD' })
    peer.says('ACK', { seq: 2, ack: 1, data: 'xxxxx' })
    peer.says('ACK', { seq: 1, ack: 1, data: 'Ayyyyyy' })
    expect(peer.reads()).toBe('AxCDxxy')
  })

  it('of a byte with a byte between them stop at 512 held, and the stream still completes', () => {
    const peer = ScriptedPeer.established()
    for (let i = 0; i < 3_000; i++) peer.says('ACK', { seq: 2 + 2 * i, ack: 1, data: 'b' })
    expect(peer.drops.filter((reason) => reason === 'reassembly-full').length).toBe(3_000 - 512)
    for (let seq = 1; seq < 6_001; seq++) peer.says('ACK', { seq, ack: 1, data: seq % 2 === 1 ? 'a' : 'b' })
    expect(peer.reads()).toBe('ab'.repeat(3_000))
  })

  it('that are urgent are read like any other (RFC 6093 §5)', () => {
    const peer = ScriptedPeer.established()
    peer.says('URG,ACK', { seq: 1, ack: 1, data: 'now' })
    expect(peer.reads()).toBe('now')
  })

  it('with every flag or none open no connection', () => {
    const peer = ScriptedPeer.established()
    expect(peer.says('SYN,FIN,RST,ACK', { seq: 2, ack: 1 })).toEqual(['ACK 1:1 ack 1'])
    expect(peer.says('none', { seq: 1, data: 'x' })).toEqual([])
    expect([peer.connection!.state, peer.reads(), peer.drops]).toEqual([
      'established',
      '',
      ['challenged', 'bad-acknowledgment'],
    ])
  })

  it('beyond a FIN are cut off, and reset a peer whose FIN lies in data it sent before', () => {
    const peer = ScriptedPeer.established()
    peer.says('FIN,ACK', { seq: 11, ack: 1 })
    peer.says('ACK', { seq: 1, ack: 1, data: 'x'.repeat(20) })
    expect([peer.reads().length, peer.connection!.state]).toEqual([10, 'close-wait'])
    const other = ScriptedPeer.established()
    other.says('ACK', { seq: 6, ack: 1, data: 'y'.repeat(20) })
    other.says('FIN,ACK', { seq: 11, ack: 1 })
    expect(other.says('ACK', { seq: 1, ack: 1, data: 'x'.repeat(5) })).toEqual([expect.stringMatching(/^RST,ACK/)])
    expect(other.events.at(-1)).toBe('closed reset')
  })
})

describe('sequence numbers', () => {
  it('wrap on both sides while data flows, and blocks are reported across the wrap', () => {
    const peer = ScriptedPeer.established()
    expect(peer.writes('x'.repeat(40))).toEqual(['ACK 1:41 ack 1'])
    expect(peer.says('ACK', { seq: 3, ack: 41, data: 'c'.repeat(20) })).toEqual(['ACK 41:41 ack 1 sack 3-23'])
    expect(peer.says('ACK', { seq: 1, ack: 41, data: 'ab' })).toEqual(['ACK 41:41 ack 23'])
    expect(peer.reads().length).toBe(22)
  })
})

describe('time', () => {
  it.each([
    ['one peer', 1, 1_024],
    ['five peers', 5, 4_096],
  ])('in TIME-WAIT is limited in number, of %s: the oldest is dropped', (_who, count, expected) => {
    const stack = createCore(OUR_ADDRESS)
    const peers = Array.from({ length: count }, (_, i) => createCore(PEER_ADDRESS + i))
    for (const peer of peers) peer.listen(80)
    for (let i = 0; i < 5_000; i++) {
      const peer = peers[i % count]!
      const connection = stack.connect(peer.address, 80, i)!
      exchange(stack, peer, i)
      connection.shutdown()
      exchange(stack, peer, i)
      for (const accepted of closing) accepted.shutdown()
      closing.length = 0
      exchange(stack, peer, i)
      expect(connection.state).toBe('time-wait')
    }
    let ended = 0
    for (let now = 5_000; now < 70_000; now += 1_000)
      ended += stack.tick(now).filter((output) => output.type === 'closed').length
    expect(ended).toBe(expected)
  })
})

const closing: Connection[] = []

/** Carries packets between two cores until neither has more to send now. */
function exchange(a: ReturnType<typeof createCore>, b: ReturnType<typeof createCore>, now: number): void {
  for (let round = 0; round < 6; round++) {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      for (const output of from.tick(now)) {
        if (output.type !== 'packet') continue
        for (const event of to.receive(output.packet, now))
          if (event.type === 'accepted') closing.push(event.connection)
      }
    }
  }
}
