import { describe, expect, it } from 'vitest'
import { foldChecksum, sumWords } from './checksum.ts'
import { encodeEchoRequest, encodeUnreachable } from './icmp.ts'
import { writeIpv4Header } from './ipv4.ts'
import { OUR_ADDRESS, PEER_ADDRESS, ScriptedPeer } from './scripted-peer.ts'

const FRAGMENTATION_NEEDED = 4

/** The address of neither end of a connection. */
const ROUTER_ADDRESS = 0xc6336401

/** A router's message about one of our packets. */
function unreachable(code: number, packet: Uint8Array): Uint8Array {
  return encodeUnreachable(ROUTER_ADDRESS, OUR_ADDRESS, code, packet)
}

describe('ICMP', () => {
  it('echo is answered with its own data', () => {
    const peer = new ScriptedPeer()
    const outputs = peer.stack.receive(encodeEchoRequest(PEER_ADDRESS, OUR_ADDRESS, 7, 9), 0)
    expect(outputs).toHaveLength(1)
    const [reply] = outputs
    if (reply?.type !== 'packet') throw new Error('no packet')
    expect([...reply.packet.subarray(20, 22), ...reply.packet.subarray(24)]).toEqual([0, 0, 0, 7, 0, 9])
  })

  it('unreachable ends a connection that is being opened', () => {
    for (const [code, error] of [
      [1, 'unreachable'],
      [3, 'refused'],
    ] as const) {
      const peer = new ScriptedPeer().connect()
      peer.sends()
      peer.take(peer.stack.receive(unreachable(code, peer.packets[0]!), peer.now))
      expect(peer.events).toEqual([`closed ${error}`])
    }
  })

  it('unreachable does not end an open connection (RFC 5927 §5.2)', () => {
    const peer = ScriptedPeer.established()
    peer.writes('x')
    peer.take(peer.stack.receive(unreachable(1, peer.packets[0]!), peer.now))
    expect([peer.connection?.state, peer.drops]).toEqual(['established', []])
  })

  it('about what is not in flight is not believed (RFC 5927 §4.1)', () => {
    const peer = ScriptedPeer.established()
    peer.writes('x')
    const [packet] = peer.packets
    peer.says('ACK', { seq: 1, ack: 2 })
    peer.take(peer.stack.receive(unreachable(FRAGMENTATION_NEEDED, packet!), peer.now))
    expect(peer.drops).toEqual(['unmatched-icmp'])
  })

  it('about a packet of another sender is ignored', () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    const packet = peer.packets[0]!.slice()
    packet[15]!++
    peer.take(peer.stack.receive(unreachable(1, packet), peer.now))
    expect([peer.drops, peer.events]).toEqual([['unmatched-icmp'], []])
  })

  it('fragmentation needed makes segments fit and sends them again (RFC 1191)', () => {
    const peer = ScriptedPeer.established()
    peer.writes(new Uint8Array(2_000))
    peer.take(peer.stack.receive(unreachable(FRAGMENTATION_NEEDED, peer.packets[0]!), peer.now))
    expect(peer.sends()).toEqual([
      'ACK 1:537 ack 1',
      'ACK 537:1073 ack 1',
      'ACK 1073:1381 ack 1',
      'ACK 1381:1917 ack 1',
      'ACK 1917:2001 ack 1',
    ])
  })

  it('informs the sender of another protocol, a limited number of times', () => {
    const peer = new ScriptedPeer()
    for (let i = 0; i < 200; i++) {
      const packet = new Uint8Array(28)
      writeIpv4Header(packet, PEER_ADDRESS, OUR_ADDRESS, 17)
      peer.take(peer.stack.receive(packet, peer.now))
    }
    expect(peer.packets).toHaveLength(50)
    expect(peer.packets[0]!.subarray(20, 22)).toEqual(Uint8Array.of(3, 3))
    // A peer that used up its share leaves another peer its own.
    const ofAnother = new Uint8Array(28)
    writeIpv4Header(ofAnother, PEER_ADDRESS + 1, OUR_ADDRESS, 17)
    peer.take(peer.stack.receive(ofAnother, peer.now))
    expect(peer.packets).toHaveLength(51)
  })
})

describe('IPv4', () => {
  const drop = (
    change: (packet: Uint8Array) => Uint8Array | void,
    source = PEER_ADDRESS,
    destination = OUR_ADDRESS,
  ): string[] => {
    const peer = new ScriptedPeer()
    const packet = encodeEchoRequest(source, destination, 1, 1)
    peer.take(peer.stack.receive(change(packet) ?? packet, 0))
    return peer.drops
  }

  it('refuses what is not whole, not for us or from nobody, and says why', () => {
    expect(drop((packet) => packet.subarray(0, 19))).toEqual(['short-packet'])
    expect(drop((packet) => void (packet[0] = 0x65))).toEqual(['not-ipv4'])
    expect(drop((packet) => void (packet[0] = 0x44))).toEqual(['bad-ip-header'])
    expect(drop((packet) => packet.subarray(0, 27))).toEqual(['bad-ip-header'])
    expect(drop((packet) => void packet[8]!--)).toEqual(['bad-ip-checksum'])
    expect(drop(() => undefined, PEER_ADDRESS, 0x0a640003)).toEqual(['wrong-destination'])
    for (const source of [0, 0x7f000001, 0xe0000001, 0xffffffff, OUR_ADDRESS])
      expect(drop(() => undefined, source)).toEqual(['bad-source'])
  })

  it('skips options, padding and the type of service (RFC 791 §3.1)', () => {
    const peer = new ScriptedPeer()
    const plain = encodeEchoRequest(PEER_ADDRESS, OUR_ADDRESS, 1, 1)
    // Record route for one address, an end of options, and what an Ethernet would have padded.
    const packet = new Uint8Array(20 + 8 + 8 + 18)
    packet.set(plain.subarray(0, 20))
    packet.set([7, 7, 4, 0, 0, 0, 0, 0], 20)
    packet.set(plain.subarray(20), 28)
    packet.set([0x47, 0xb8, 0, 36], 0)
    packet.set([0, 0], 10)
    const sum = foldChecksum(sumWords(packet, 0, 28))
    packet.set([sum >> 8, sum & 255], 10)
    const [answer] = peer.stack.receive(packet, 0)
    if (answer?.type !== 'packet') throw new Error('no packet')
    expect([answer.packet.length, answer.packet[20]]).toEqual([28, 0])
  })
})
