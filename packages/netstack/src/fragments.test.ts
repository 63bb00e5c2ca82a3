import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldChecksum, sumWords } from './checksum.ts'
import { encodeEchoRequest } from './icmp.ts'
import { writeUint16 } from './ipv4.ts'
import { OUR_ADDRESS, PEER_ADDRESS, ScriptedPeer } from './scripted-peer.ts'

interface Cut {
  from: number
  to: number
  isLast?: boolean
  identification?: number
  source?: number
}

/** An echo request of `length` data bytes, recognisable by place. */
function echo(length: number, source = PEER_ADDRESS): Uint8Array {
  const plain = encodeEchoRequest(source, OUR_ADDRESS, 1, 1)
  const packet = new Uint8Array(plain.length + length)
  packet.set(plain)
  for (let i = 0; i < length; i++) packet[plain.length + i] = i * 7
  writeUint16(packet, 22, 0)
  writeUint16(packet, 22, foldChecksum(sumWords(packet, 20, packet.length)))
  return packet
}

/** One piece of `whole`; offsets are of its payload. */
function fragment(whole: Uint8Array, cut: Cut): Uint8Array {
  const packet = new Uint8Array(20 + cut.to - cut.from)
  packet.set(whole.subarray(0, 20))
  packet.set(whole.subarray(20 + cut.from, 20 + cut.to), 20)
  writeUint16(packet, 2, packet.length)
  writeUint16(packet, 4, cut.identification ?? 77)
  const isLast = cut.isLast ?? cut.to === whole.length - 20
  writeUint16(packet, 6, (isLast ? 0 : 0x2000) | (cut.from / 8))
  writeUint16(packet, 10, 0)
  writeUint16(packet, 10, foldChecksum(sumWords(packet, 0, 20)))
  return packet
}

function receive(peer: ScriptedPeer, whole: Uint8Array, cuts: Cut[]): void {
  for (const cut of cuts) peer.take(peer.stack.receive(fragment(whole, cut), peer.now))
}

describe('fragments (RFC 815)', () => {
  it('are joined in any order and cuts, duplicated or not', () => {
    const whole = echo(992)
    const cutsOf = fc.uniqueArray(fc.integer({ min: 1, max: 124 }), { maxLength: 12 }).chain((marks) => {
      const edges = [0, ...marks.toSorted((a, b) => a - b).map((mark) => mark * 8), 1000]
      const cuts = edges.slice(1).map((to, i): Cut => ({ from: edges[i]!, to }))
      return fc.tuple(fc.shuffledSubarray(cuts, { minLength: cuts.length }), fc.nat(cuts.length - 1))
    })
    fc.assert(
      fc.property(cutsOf, ([cuts, doubled]) => {
        if (cuts.length === 1) return
        const peer = new ScriptedPeer()
        receive(peer, whole, [cuts[doubled]!, ...cuts.filter((cut) => cut !== cuts[doubled])].slice(0, -1))
        expect(peer.packets).toEqual([])
        receive(peer, whole, [cuts[doubled]!, cuts.filter((cut) => cut !== cuts[doubled]).at(-1)!])
        expect(peer.packets.map((packet) => packet.subarray(24))).toEqual([whole.subarray(24)])
        expect(peer.drops).toEqual([])
      }),
    )
  })

  it('that overlap refuse their datagram, and its later fragments (RFC 5722)', () => {
    const whole = echo(992)
    const peer = new ScriptedPeer()
    receive(peer, whole, [
      { from: 0, to: 504 },
      { from: 496, to: 1000 },
      { from: 0, to: 504 },
      { from: 504, to: 1000 },
    ])
    expect(peer.drops).toEqual(['fragment-overlap', 'fragment-overlap', 'fragment-overlap'])
    expect(peer.packets).toEqual([])
  })

  it('that disagree on where the datagram ends refuse it', () => {
    const whole = echo(992)
    for (const cuts of [
      [
        { from: 504, to: 1000 },
        { from: 0, to: 504, isLast: true },
      ],
      [
        { from: 0, to: 504, isLast: true },
        { from: 504, to: 1000 },
      ],
    ]) {
      const peer = new ScriptedPeer()
      receive(peer, whole, cuts)
      expect([peer.packets, peer.drops.at(-1)].flat()).toSatisfy(
        (end: unknown[]) => end.includes('fragment-overlap') || end.includes('bad-icmp'),
      )
    }
  })

  it('of odd length, of none, and past the longest datagram are refused', () => {
    const whole = echo(992)
    const peer = new ScriptedPeer()
    receive(peer, whole, [{ from: 0, to: 500 }])
    receive(peer, whole, [{ from: 8, to: 8 }])
    const beyond = fragment(whole, { from: 0, to: 496 })
    writeUint16(beyond, 6, 0x1fff)
    writeUint16(beyond, 10, 0)
    writeUint16(beyond, 10, foldChecksum(sumWords(beyond, 0, 20)))
    peer.take(peer.stack.receive(beyond, peer.now))
    expect(peer.drops).toEqual(['bad-fragment', 'bad-fragment', 'bad-fragment'])
  })

  it('wait 15 s for each other', () => {
    const whole = echo(992)
    const peer = new ScriptedPeer()
    receive(peer, whole, [{ from: 0, to: 504 }])
    expect(peer.stack.nextDeadline()).toBe(peer.now + 15_000)
    peer.after(15_000)
    expect(peer.stack.nextDeadline()).toBeUndefined()
    receive(peer, whole, [{ from: 504, to: 1000 }])
    expect(peer.packets).toEqual([])
  })

  it('of a sender that never completes them leave room for others', () => {
    const peer = new ScriptedPeer()
    const honest = echo(992, PEER_ADDRESS + 1)
    receive(peer, honest, [{ from: 0, to: 504 }])
    for (let id = 0; id < 5_000; id++) receive(peer, echo(992), [{ from: 0, to: 504, identification: id }])
    receive(peer, honest, [{ from: 504, to: 1000 }])
    expect(peer.packets).toHaveLength(1)
  })

  it('of any kind neither throw nor yield more bytes than came', () => {
    const whole = echo(992)
    const cut = fc.record({
      from: fc.nat(124).map((word) => word * 8),
      length: fc.nat(1_000),
      isLast: fc.boolean(),
      identification: fc.nat(2),
    })
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 40 }), (cuts) => {
        const peer = new ScriptedPeer()
        for (const { from, length, ...rest } of cuts)
          receive(peer, whole, [{ from, to: Math.min(from + length, 1_000), ...rest }])
        for (const packet of peer.packets) expect([...whole.subarray(24)]).toEqual([...packet.subarray(24)])
      }),
      { numRuns: 500 },
    )
  })

  it('too small for anything but an attack end with the 64th', () => {
    const whole = echo(992)
    const peer = new ScriptedPeer()
    receive(
      peer,
      whole,
      Array.from({ length: 100 }, (_, i) => ({ from: i * 8, to: i * 8 + 8 })),
    )
    expect(peer.drops[0]).toBe('bad-fragment')
  })
})
