import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mac1KeyOf, writeMacs } from './cookie.ts'
import { REJECT_AFTER_MESSAGES, REKEY_AFTER_MESSAGES } from './constants.ts'
import type { Crypto } from './crypto.ts'
import { keyBytes } from './keys.ts'
import { Transport, readCounter, writeTransportHeader } from './messages.ts'
import { nodeCrypto } from './node/crypto.ts'
import { createSession, isUsable, openTransport, sealTransport } from './session.ts'
import { createSlab } from './slab.ts'
import { isDueForSending } from './timers.ts'
import { createLink, downPacket, upPacket } from './simulator/link.ts'

const stranger = { address: '203.0.113.66', port: 666 }

/** Bytes that get past the length and header checks more often than noise does. */
const messageLike = fc
  .tuple(fc.constantFrom([1, 148], [2, 92], [3, 64], [4, 32], [4, 96], [4, 1452]), fc.infiniteStream(fc.nat(255)))
  .map(([[type, size], noise]) => {
    const bytes = Uint8Array.from(noise.take(size ?? 0))
    bytes.set([type ?? 0, 0, 0, 0])
    return bytes
  })
const datagram = fc.oneof(fc.uint8Array({ maxLength: 2000 }), messageLike)

test('no datagram makes a device throw, deliver, follow or answer', () => {
  const link = createLink()
  link.connect()
  fc.assert(
    fc.property(datagram, (data) => {
      const outputs = link.hub.device.receive(data, stranger, link.now)
      expect(outputs).toHaveLength(1)
      expect(outputs[0]?.type).toBe('drop')
    }),
    { numRuns: 1000 },
  )
  expect(link.hub.device.peers()[0]?.endpoint).toEqual(link.gateway.endpoint)
  link.send(link.gateway, upPacket())
  link.settle()
  expect(link.hub.packets).toHaveLength(1)
})

test('every drop is counted under its reason', () => {
  const link = createLink()
  link.connect()
  const before = link.hub.device.drops()
  fc.assert(fc.property(datagram, (data) => void link.receive(link.hub, data, stranger)))
  link.send(link.hub, new Uint8Array(3))
  link.send(link.hub, upPacket())
  const expected = { ...before }
  for (const reason of link.hub.drops) expected[reason]++
  expect(link.hub.device.drops()).toEqual(expected)
  expect(expected.malformed).toBeGreaterThan(0)
  expect(expected['bad-packet']).toBe(1)
})

test('no datagram with a right mac1 makes a device throw, and none but the true one gets a session', () => {
  const link = createLink()
  link.connect()
  const mac1Key = mac1KeyOf(nodeCrypto, keyBytes(link.hub.device.publicKey))
  fc.assert(
    fc.property(messageLike, (data) => {
      if (data[0] === 3 || data[0] === 4) return
      writeMacs(nodeCrypto, data, { mac1Key, cookieKey: mac1Key, sentMac1: undefined, cookie: undefined }, 0)
      const outputs = link.hub.device.receive(data, stranger, link.now)
      expect(['bad-handshake', 'unknown-index', 'cookie-required']).toContain(
        outputs.flatMap((output) => (output.type === 'drop' ? [output.reason] : []))[0],
      )
    }),
    { numRuns: 300 },
  )
  expect(link.hub.handshakes).toBe(0)
})

test('a true datagram that lost or gained a byte, or had one changed, is dropped', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  const initiation = link.wire[0]!.data
  link.deliver(link.wire.shift()!)
  const response = link.wire[0]!.data
  link.settle()
  link.send(link.gateway, upPacket())
  const transport = link.wire.shift()!.data
  const originals = fc.constantFrom(initiation, response, transport)
  fc.assert(
    fc.property(
      originals,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.constantFrom('cut', 'grow', 'flip'),
      (original, at, bits, how) => {
        const offset = at % original.length
        let data = Uint8Array.from(original)
        if (how === 'cut') data = data.subarray(0, offset)
        else if (how === 'grow') data = Uint8Array.from([...data, bits])
        // mac2 means nothing to a responder that is not under load.
        else if (original === transport || offset < original.length - 16) data[offset] = (data[offset] ?? 0) ^ bits
        else return
        const side = original === response ? link.gateway : link.hub
        const outputs = side.device.receive(data, stranger, link.now)
        expect(outputs.map((output) => output.type).filter((type) => type !== 'drop')).toEqual([])
        expect(outputs.length).toBeGreaterThan(0)
      },
    ),
    { numRuns: 500 },
  )
})

test('a transport message without room for its tag is malformed, whatever session it names', () => {
  const link = createLink()
  link.connect()
  link.send(link.gateway, upPacket())
  const { data } = link.wire.shift()!
  for (let length = 16; length < 32; length++) link.receive(link.hub, data.subarray(0, length), stranger)
  expect(link.hub.drops).toEqual(Array.from({ length: 16 }, () => 'malformed'))
})

test('a message with anything in its reserved bytes is malformed', () => {
  const link = createLink()
  link.connect()
  link.send(link.gateway, upPacket())
  const { data } = link.wire.shift()!
  for (const at of [1, 2, 3]) {
    const changed = new Uint8Array(data)
    changed[at] = 1
    link.receive(link.hub, changed, link.gateway.endpoint)
  }
  expect(link.hub.drops).toEqual(['malformed', 'malformed', 'malformed'])
})

test('an index that is in use is never given again, whatever chance says', () => {
  let asked = 0
  /** 1, 1, 1, 2, 2, 2, 3 and so on. */
  const random = (length: number) =>
    length === 4 ? Uint8Array.of(0, 0, 0, 1 + Math.floor(asked++ / 3)) : nodeCrypto.random(length)
  const link = createLink({ gatewayOptions: { crypto: { ...nodeCrypto, random } } })
  for (let round = 0; round < 3; round++) {
    link.moveTo(link.now.monotonicMs + 121_000)
    link.send(link.gateway, upPacket())
    link.settle()
  }
  // The session of 1 lives when the second initiation asks, and those of 1 and 2 when the third does.
  const initiations = link.gateway.sent.filter(({ data }) => data[0] === 1)
  expect(initiations.map(({ data }) => data[4])).toEqual([1, 2, 3])
})

const sealer = { crypto: nodeCrypto, mtu: 1420, slab: createSlab() }

function emptyTransport(counter: number): Uint8Array {
  const datagram = new Uint8Array(Transport.minSize)
  writeTransportHeader(datagram, 1, counter)
  return datagram
}

/** A link whose gateway seals `smuggled` instead of the packet to send. */
function createSmuggler() {
  let smuggled: Uint8Array | undefined
  const crypto: Crypto = {
    ...nodeCrypto,
    seal(key, counter, plaintext, ad, out) {
      const changed = Uint8Array.from(plaintext)
      changed.set(smuggled ?? [])
      nodeCrypto.seal(key, counter, changed, ad, out)
    },
  }
  const link = createLink({ gatewayOptions: { crypto } })
  link.connect()
  /** What the hub makes of the packet. */
  return (packet: Uint8Array) => {
    link.forget()
    smuggled = packet
    link.send(link.gateway, upPacket(Math.max(packet.length, 20)))
    smuggled = undefined
    link.settle()
    return link.hub
  }
}

test.each([
  ['no IP version', [0x05, 0, 0, 32]],
  ['IPv4 that says it is longer than it is', [0x45, 0, 0, 33]],
  ['IPv4 that says it is shorter than its header', [0x45, 0, 0, 19]],
  ['IPv6 without room for its header', [0x60, 0, 0, 0, 0, 0]],
])('a peer that sends %s is heard and not believed', (_, start) => {
  const hub = createSmuggler()(Uint8Array.from({ length: 32 }, (_, i) => start[i] ?? 0))
  expect(hub.drops).toEqual(['bad-inner-packet'])
  expect(hub.packets).toEqual([])
  expect(hub.device.drops()['bad-inner-packet']).toBe(1)
})

test('whatever an authenticated peer seals, nothing but its own packets comes out', () => {
  const smuggle = createSmuggler()
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 100 }), (packet) => {
      const hub = smuggle(packet)
      expect(hub.drops.length + hub.packets.length).toBe(1)
      for (const reason of hub.drops) expect(['bad-inner-packet', 'source-not-allowed']).toContain(reason)
      for (const inner of hub.packets) expect(inner.subarray(12, 16).join('.')).toBe('10.0.0.2')
    }),
  )
})

test('bytes that are no packet are not sent', () => {
  const link = createLink()
  link.connect()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (packet) => {
      const outputs = link.hub.device.send(packet, link.now)
      expect(outputs.map((output) => output.type)).toEqual(['drop'])
    }),
  )
})

test('a session renews long before its counter ends, and at the end refuses', () => {
  const keys = { sendKey: new Uint8Array(32), receiveKey: new Uint8Array(32) }
  const session = createSession({ ...keys, localIndex: 1, remoteIndex: 1, isInitiator: false, createdAtMs: 0 })
  session.sendCounter = REKEY_AFTER_MESSAGES - 1
  expect(isDueForSending(session, 0)).toBe(false)
  session.sendCounter++
  expect(isDueForSending(session, 0)).toBe(true)
  session.sendCounter = REJECT_AFTER_MESSAGES - 1
  expect(isUsable(session, 0)).toBe(true)
  const last = sealTransport(sealer, session, new Uint8Array())
  expect(readCounter(last)).toBe(REJECT_AFTER_MESSAGES - 1)
  expect(typeof openTransport(nodeCrypto, session, last, 0)).toBe('object')
  expect(isUsable(session, 0)).toBe(false)
  expect(openTransport(nodeCrypto, session, emptyTransport(REJECT_AFTER_MESSAGES), 0)).toBe('counter-exhausted')
  const greatest = emptyTransport(0).fill(255, 8, 16)
  expect(openTransport(nodeCrypto, session, greatest, 0)).toBe('counter-exhausted')
  expect([REKEY_AFTER_MESSAGES, REJECT_AFTER_MESSAGES]).toEqual([4_503_599_627_370_496, 9_007_199_254_732_799])
})

test('of 50,000 handshake messages with a wrong mac1 each is dropped for that, and a live tunnel loses nothing', () => {
  const link = createLink({ hubOptions: { handshakesPerSecond: 1 } })
  link.connect()
  const deadline = link.hub.device.nextDeadline()
  const forged = new Uint8Array(148)
  forged[0] = 1
  for (let i = 0; i < 50_000; i++) {
    forged.set([i & 0xff, i >> 8], 8)
    link.receive(link.hub, forged, { address: `198.18.${i >> 8}.${i & 0xff}`, port: 1 })
    if (i % 500 === 0) link.send(link.gateway, upPacket())
    link.settle()
  }
  expect(link.hub.drops).toHaveLength(50_000)
  expect(new Set(link.hub.drops)).toEqual(new Set(['bad-mac1']))
  expect(link.hub.packets).toHaveLength(100)
  expect(link.hub.sent).toEqual([])
  expect(link.hub.device.nextDeadline()).toBeGreaterThanOrEqual(deadline ?? 0)
})

test('a flood of initiations from strangers leaves nothing behind', () => {
  const link = createLink({ hubOptions: { handshakesPerSecond: 1e9 } })
  const other = createLink()
  other.gateway.device.addPeer({
    publicKey: link.hub.device.publicKey,
    allowedIps: ['10.0.0.9/32'],
    endpoint: link.hub.endpoint,
  })
  for (let i = 0; i < 20; i++) {
    other.gateway.device.handshake(link.hub.device.publicKey, other.now)
    for (const output of other.gateway.device.tick(other.now)) {
      if (output.type === 'datagram') link.receive(link.hub, output.data, stranger)
    }
    other.moveTo(other.now.monotonicMs + 6_000)
  }
  expect(link.hub.drops).toEqual(Array.from({ length: 20 }, () => 'unknown-peer'))
  expect(link.hub.device.nextDeadline()).toBeUndefined()
  expect(link.hub.device.send(downPacket(), link.now)).toEqual([])
})
