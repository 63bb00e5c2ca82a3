import { describe, expect, it } from 'vitest'
import { encodeUnreachable } from './icmp.ts'
import { OUR_ADDRESS, PEER_ADDRESS, ScriptedPeer } from './scripted-peer.ts'

const FULL = 1_380
const lengthsOf = (sent: string[]): number[] =>
  sent.map((text) => {
    const [, start, end] = / (-?\d+):(\d+)/.exec(text)!
    return Number(end) - Number(start)
  })

/** Our next sequence number, as the traces count. */
const nextOf = ({ connection }: ScriptedPeer): number => (connection!.sendNext - connection!.initialSendSequence) | 0

/** Everything in flight is acknowledged; returns the segments that leave then. */
const acknowledgesAll = (peer: ScriptedPeer): string[] => peer.says('ACK', { seq: 1, ack: nextOf(peer) })

/** Nothing came back for three timeouts, then acknowledgments for everything in flight. */
function narrowed(): ScriptedPeer {
  const peer = ScriptedPeer.established()
  peer.writes(new Uint8Array(FULL))
  while (peer.connection!.segmentBytes === FULL) peer.after(100)
  expect(peer.connection!.segmentBytes).toBe(1_240)
  peer.now += 20
  acknowledgesAll(peer)
  return peer
}

describe('a path that drops long segments (RFC 4821 §7.7)', () => {
  it('gets what IPv6 guarantees after three timeouts, and what IPv4 does after the next', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(FULL))
    // First the tail-loss probe.
    expect(lengthsOf(peer.after(8_000)).slice(0, 6)).toEqual([FULL, FULL, FULL, 1_240, 140, 536])
  })

  it('is probed by one long segment once it works again, and by the others when that arrived', () => {
    const peer = narrowed()
    expect(lengthsOf(peer.writes(new Uint8Array(FULL * 4)))).toEqual([FULL, 1_240])
    expect(lengthsOf(acknowledgesAll(peer))).toEqual([FULL, FULL, 140])
  })

  it('is probed three times, and then keeps its size', () => {
    const peer = narrowed()
    let asked = 0
    for (let i = 0; i < 10; i++) {
      const lost = nextOf(peer)
      if (!lengthsOf(peer.writes(new Uint8Array(FULL * 2))).includes(FULL)) continue
      asked++
      peer.now += 20
      const inParts = [
        ...peer.says('ACK', { seq: 1, ack: lost, sack: [[lost + FULL, nextOf(peer)]] }),
        ...peer.after(20),
      ]
      expect(lengthsOf(inParts)).toEqual([1_240, 140])
      acknowledgesAll(peer)
    }
    expect([asked, peer.connection!.segmentBytes]).toEqual([3, 1_240])
  })
})

describe('a router that reports its MTU', () => {
  const says = (peer: ScriptedPeer, mtu: number): void => {
    const error = encodeUnreachable(PEER_ADDRESS, OUR_ADDRESS, 4, peer.packets.at(-1)!, mtu)
    peer.take(peer.stack.receive(error, peer.now))
  }

  it('is believed (RFC 1191 §4), though not that a path takes less than every IPv4 host', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(1_000))
    says(peer, 1_300)
    expect(peer.connection!.segmentBytes).toBe(1_260)
    says(peer, 68)
    expect(peer.connection!.segmentBytes).toBe(536)
  })

  it('cannot make segments longer', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(1_000))
    says(peer, 9_000)
    expect(peer.connection!.segmentBytes).toBe(FULL)
  })

  it('ends the probes for more than it accepts', () => {
    const peer = narrowed()
    peer.writes(new Uint8Array(100))
    says(peer, 1_300)
    acknowledgesAll(peer)
    expect(lengthsOf(peer.writes(new Uint8Array(4_000)))[0]).toBe(1_260)
  })
})
