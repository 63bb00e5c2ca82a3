import { expect, test } from 'vitest'
import { mac1KeyOf, writeMacs } from './cookie.ts'
import { keyBytes } from './keys.ts'
import { Response, Transport } from './messages.ts'
import { nodeCrypto } from './node/crypto.ts'
import { createLink, downPacket, sentTypes, upPacket } from './simulator/link.ts'

test('an initiation counts once', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  const initiation = link.wire[0]!
  link.settle()
  link.moveTo(link.now.monotonicMs + 1000)
  link.deliver(initiation)
  expect(link.hub.drops).toEqual(['replayed-initiation'])
  expect(sentTypes(link.hub)).toEqual([2])
})

test('a response counts once', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  link.deliver(link.wire.shift()!)
  const response = link.wire[0]!
  link.settle()
  link.deliver(response)
  expect(link.gateway.drops).toEqual(['unexpected-response'])
})

test('data counts once, and a reflected datagram finds no one', () => {
  const link = createLink()
  link.connect()
  link.send(link.gateway, upPacket())
  const datagram = link.wire[0]!
  link.settle()
  link.deliver(datagram)
  expect(link.hub.drops).toEqual(['replayed-counter'])
  link.receive(link.gateway, datagram.data, link.hub.endpoint)
  expect(link.gateway.drops).toEqual(['unknown-index'])
  expect(link.hub.packets).toHaveLength(1)
})

test('of initiations that follow each other within 20 ms, only the first counts: fifty a second', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  for (let retry = 0; retry < 2; retry++) {
    link.moveTo(link.now.monotonicMs + 5_000)
    link.tick(link.gateway)
  }
  const [first, second, third] = link.wire.splice(0)
  link.deliver(first!)
  link.moveTo(link.now.monotonicMs + 19.9)
  link.deliver(second!)
  expect(link.hub.drops).toEqual(['initiation-flood'])
  expect(sentTypes(link.hub)).toEqual([2])
  link.moveTo(link.now.monotonicMs + 0.1)
  link.deliver(third!)
  expect(link.hub.drops).toEqual(['initiation-flood'])
  expect(sentTypes(link.hub)).toEqual([2, 2])
})

test('a forged datagram does not use up the counter that it claims', () => {
  const link = createLink()
  link.connect()
  link.send(link.gateway, upPacket())
  const { data } = link.wire[0]!
  const forged = Uint8Array.from(data)
  forged[20] = (forged[20] ?? 0) ^ 1
  link.receive(link.hub, forged, link.gateway.endpoint)
  link.settle()
  expect(link.hub.drops).toEqual(['bad-transport'])
  expect(link.hub.packets).toHaveLength(1)
})

test('a response that names a live session, not its initiation, is refused, and the true one counts', () => {
  const link = createLink()
  link.connect()
  link.send(link.hub, downPacket())
  const sessionIndex = link.wire.shift()!.data.subarray(Transport.receiver, Transport.counter)
  link.moveTo(link.now.monotonicMs + 121_000)
  link.send(link.gateway, upPacket())
  link.deliver(link.wire.pop()!)
  const response = link.wire.pop()!
  const misled = Uint8Array.from(response.data)
  misled.set(sessionIndex, Response.receiver)
  const mac1Key = mac1KeyOf(nodeCrypto, keyBytes(link.gateway.device.publicKey))
  writeMacs(nodeCrypto, misled, { mac1Key, cookieKey: mac1Key, sentMac1: undefined, cookie: undefined }, 0)
  link.receive(link.gateway, misled, link.hub.endpoint)
  expect(link.gateway.drops).toEqual(['unexpected-response'])
  link.deliver(response)
  expect(link.gateway.handshakes).toBe(1)
})
