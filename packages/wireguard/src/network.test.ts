import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generatePresharedKey } from './node/keys.ts'
import type { Link } from './simulator/link.ts'
import { createLink, downPacket, sentTypes, upPacket } from './simulator/link.ts'
import { ipv4Packet } from './simulator/packet.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('over a network that loses, doubles and reorders', () => {
  /** What happens to the next datagram on its way. */
  const fate = fc.constantFrom('deliver', 'deliver', 'deliver', 'lose', 'double', 'delay', 'wait')
  const act = fc.constantFrom('up', 'down', 'second', 'net', 'net', 'net')

  test('no packet arrives twice, changed or from nowhere, and the tunnel works as soon as the network does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(act, fate), { maxLength: 200 }), (steps) => {
        const link = createLink({ hub: { endpoint: { address: '192.0.2.2', port: 40_000 } } })
        const sent = new Set<string>()
        const send = (side: typeof link.hub, packet: Uint8Array, id: number) => {
          packet.set([id >> 8, id & 0xff], 30)
          sent.add(hex(packet))
          link.send(side, packet)
        }
        for (const [id, [action, fated]] of steps.entries()) {
          if (action === 'up') send(link.gateway, upPacket(), id)
          if (action === 'down') send(link.hub, downPacket(), id)
          if (action === 'second') link.advance(1000)
          const datagram = action === 'net' ? link.wire.shift() : undefined
          if (datagram === undefined) continue
          if (fated === 'deliver' || fated === 'double') link.deliver(datagram)
          if (fated === 'double' || fated === 'delay') link.wire.push(datagram)
          if (fated === 'wait') link.wire.unshift(datagram)
        }
        link.advance(20_000)
        for (const side of [link.hub, link.gateway]) {
          const arrived = side.packets.map(hex)
          expect(new Set(arrived).size).toBe(arrived.length)
          for (const packet of arrived) expect(sent.has(packet)).toBe(true)
        }
        const before = [link.hub.packets.length, link.gateway.packets.length]
        link.send(link.gateway, upPacket())
        link.settle()
        link.send(link.hub, downPacket())
        link.advance(10_000)
        expect([link.hub.packets.length, link.gateway.packets.length]).toEqual(before.map((count) => count + 1))
      }),
      { numRuns: 150 },
    )
  })

  test('a lost confirmation is made up for by the next data', () => {
    const link = createLink()
    link.send(link.gateway, upPacket())
    link.settle(({ data }) => data[0] === 4)
    expect(link.hub.handshakes).toBe(0)
    link.send(link.gateway, upPacket())
    link.settle()
    expect(link.hub.handshakes).toBe(1)
    expect(link.hub.packets).toHaveLength(1)
  })
})

describe('cryptokey routing', () => {
  test('a source outside the allowed IPs is dropped', () => {
    const link = createLink()
    link.connect()
    link.send(link.gateway, ipv4Packet('10.0.0.3', '10.0.0.1', 60))
    link.settle()
    expect(link.hub.drops).toEqual(['source-not-allowed'])
    expect(link.hub.packets).toEqual([])
  })

  test('a source that another peer has is dropped', () => {
    const link = createLink()
    link.connect()
    link.hub.device.addPeer({ publicKey: createLink().hub.device.publicKey, allowedIps: ['10.0.0.2/32'] })
    link.send(link.gateway, upPacket())
    link.settle()
    expect(link.hub.drops).toEqual(['source-not-allowed'])
  })

  test.each([
    ['a destination that no peer has', ipv4Packet('10.0.0.2', '10.9.9.9', 60), 'no-route'],
    [
      'an IPv6 destination that no peer has',
      Uint8Array.from({ length: 40 }, (_, i) => (i === 0 ? 0x60 : 0)),
      'no-route',
    ],
    ['what is not an IP packet', Uint8Array.of(1, 2, 3), 'bad-packet'],
    ['a packet with bytes after its end', Uint8Array.from([...upPacket(), 0]), 'bad-packet'],
    ['a packet larger than UDP', ipv4Packet('10.0.0.2', '10.0.0.1', 65_500), 'bad-packet'],
  ])('%s is not sent', (_, packet, reason) => {
    const link = createLink()
    expect(link.send(link.gateway, packet)).toEqual([{ type: 'drop', reason }])
  })

  test('a packet for a peer whose place is not known waits for its handshake', () => {
    const link = createLink()
    expect(link.send(link.hub, downPacket())).toEqual([])
    link.gateway.device.handshake(link.hub.device.publicKey, link.now)
    link.advance(0)
    expect(link.gateway.packets).toEqual([downPacket()])
  })

  test('and is given up when the peer does not come within 90 s', () => {
    const link = createLink()
    link.send(link.hub, downPacket())
    link.advance(60_000)
    link.send(link.hub, downPacket())
    expect(link.hub.drops).toEqual([])
    link.hub.device.handshake(link.gateway.device.publicKey, link.now)
    link.advance(30_000)
    expect(link.hub.drops).toEqual(['handshake-timeout', 'handshake-timeout'])
    expect(link.hub.device.nextDeadline()).toBeUndefined()
  })

  test('no later because a keepalive is kept up', () => {
    const link = createLink({ hub: { persistentKeepaliveSeconds: 25 } })
    link.send(link.hub, downPacket())
    link.advance(89_999)
    expect(link.hub.drops).toEqual([])
    link.advance(1)
    expect(link.hub.drops).toEqual(['handshake-timeout'])
    expect(link.hub.sent).toEqual([])
  })
})

describe('padding', () => {
  test.each([
    [28, 32],
    [32, 32],
    [33, 48],
    [1408, 1408],
    [1409, 1420],
    [1420, 1420],
    [1421, 1421],
    [9000, 9000],
  ])('a packet of %i bytes is sealed as %i and arrives as it was', (length, padded) => {
    const link = createLink()
    link.connect()
    link.send(link.gateway, upPacket(length))
    expect(link.gateway.sent[0]?.data.length).toBe(padded + 32)
    link.settle()
    expect(link.hub.packets).toEqual([upPacket(length)])
  })
})

describe('peers changed live', () => {
  const configs = (link: Link) => ({
    publicKey: link.gateway.device.publicKey,
    allowedIps: ['10.0.0.2/32', '10.5.0.0/16'],
  })

  test('new allowed IPs work on the session that there is', () => {
    const link = createLink()
    link.connect()
    link.hub.device.updatePeer(configs(link))
    link.send(link.gateway, ipv4Packet('10.5.1.1', '10.0.0.1', 60))
    link.settle()
    expect(link.hub.packets).toHaveLength(1)
    expect(link.gateway.sent).toHaveLength(1)
    expect(link.hub.device.peers()[0]?.allowedIps).toEqual(['10.0.0.2/32', '10.5.0.0/16'])
  })

  test('removed allowed IPs no longer count, as source or as destination', () => {
    const link = createLink()
    link.hub.device.updatePeer(configs(link))
    link.connect()
    link.hub.device.updatePeer({ ...configs(link), allowedIps: ['10.0.0.2/32'] })
    link.send(link.gateway, ipv4Packet('10.5.1.1', '10.0.0.1', 60))
    link.settle()
    link.send(link.hub, ipv4Packet('10.0.0.1', '10.5.1.1', 60))
    expect(link.hub.drops).toEqual(['source-not-allowed', 'no-route'])
  })

  test('a configuration that changes nothing sends nothing', () => {
    const keepalive = { persistentKeepaliveSeconds: 25 }
    const link = createLink({ hub: keepalive })
    link.connect()
    link.hub.device.updatePeer({ ...configs(link), ...keepalive })
    link.advance(1_000)
    expect(link.hub.sent).toEqual([])
  })

  test('a new preshared key ends the session that there is', () => {
    const link = createLink()
    link.connect()
    const presharedKey = Buffer.alloc(32, 7).toString('base64') as never
    link.hub.device.updatePeer({ ...configs(link), presharedKey })
    link.send(link.gateway, upPacket())
    link.settle()
    expect(link.hub.drops).toEqual(['unknown-index'])
    link.gateway.device.updatePeer({ publicKey: link.hub.device.publicKey, allowedIps: ['10.0.0.1/32'], presharedKey })
    link.moveTo(link.now.monotonicMs + 5_000)
    link.send(link.gateway, upPacket())
    link.settle()
    expect(link.hub.packets).toHaveLength(1)
  })

  test('a removed peer hears nothing, not even of packets that waited', () => {
    const link = createLink()
    link.connect()
    link.advance(200_000)
    link.forget()
    link.send(link.hub, downPacket())
    link.wire.length = 0
    link.hub.device.removePeer(link.gateway.device.publicKey)
    expect(link.hub.device.nextDeadline()).toBeUndefined()
    link.send(link.gateway, upPacket())
    link.settle()
    expect(link.hub.drops).toEqual(['unknown-peer'])
    expect(sentTypes(link.hub)).toEqual([1])
  })

  test('a peer tells what `wg show` tells of it', () => {
    const presharedKey = generatePresharedKey()
    const link = createLink({
      hub: { presharedKey, persistentKeepaliveSeconds: 25, allowedIps: ['10.0.0.2', 'FD00::/9'] },
      gateway: { presharedKey },
    })
    const [before] = link.hub.device.peers()
    expect(before).toEqual({
      publicKey: link.gateway.device.publicKey,
      allowedIps: ['10.0.0.2/32', 'fd00::/9'],
      persistentKeepaliveSeconds: 25,
      hasPresharedKey: true,
      receivedBytes: 0,
      sentBytes: 0,
    })
    link.send(link.gateway, upPacket(60))
    link.settle()
    expect(link.hub.device.peers()[0]).toEqual({
      ...before,
      endpoint: link.gateway.endpoint,
      latestHandshakeAtMs: link.now.unixMs,
      // TAI64N of the initiation: 2^62 + 10 s + the seconds since 1970, and no nanoseconds.
      latestTimestamp: '400000006553f10a00000000',
      receivedBytes: 148 + 32 + 64,
      sentBytes: 92,
    })
    expect(link.gateway.device.peers()[0]).toMatchObject({ receivedBytes: 92, sentBytes: 148 + 32 + 64 })
    expect(link.hub.device.traffic()).toEqual(
      new Map([[link.gateway.device.publicKey, { receivedBytes: 148 + 32 + 64, sentBytes: 92 }]]),
    )
  })

  test('a closed device drops everything', () => {
    const link = createLink()
    link.connect()
    link.hub.device.close()
    link.send(link.gateway, upPacket())
    link.settle()
    link.send(link.hub, downPacket())
    expect(link.hub.drops).toEqual(['unknown-index', 'no-route'])
    expect(link.hub.device.peers()).toEqual([])
  })
})
