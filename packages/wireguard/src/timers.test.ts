import { expect, test } from 'vitest'
import { createLink, downPacket, loseAll, sentTypes, upPacket } from './simulator/link.ts'

const SECOND = 1000

/** Seconds since `startMs` at which a side sent. */
const sentAtSeconds = (side: { sent: { atMs: number }[] }, startMs: number) =>
  side.sent.map(({ atMs }) => (atMs - startMs) / SECOND)

test('data goes out in two messages and comes back in the third', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  expect(sentTypes(link.gateway)).toEqual([1])
  link.settle()
  expect(sentTypes(link.hub)).toEqual([2])
  expect(sentTypes(link.gateway)).toEqual([1, 4])
  expect(link.hub.packets).toEqual([upPacket()])
  expect([link.hub.handshakes, link.gateway.handshakes]).toEqual([1, 1])
})

test('an initiator with nothing to say confirms the session by a keepalive', () => {
  const link = createLink()
  const [hub] = link.gateway.device.peers()
  link.gateway.device.handshake(hub!.publicKey, link.now)
  link.advance(0)
  expect(sentTypes(link.gateway)).toEqual([1, 4])
  expect(link.gateway.sent[1]?.data.length).toBe(32)
  expect(link.hub.handshakes).toBe(1)
})

test('a responder keeps quiet, and its packets wait, until the initiator has confirmed the session', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  link.deliver(link.wire.shift()!)
  link.send(link.hub, downPacket())
  expect(sentTypes(link.hub)).toEqual([2])
  link.settle()
  expect(sentTypes(link.hub)).toEqual([2, 4])
  expect(link.gateway.packets).toEqual([downPacket()])
})

test('an unanswered initiation is repeated every 5 s and given up after 90 s, with what waited for it', () => {
  const link = createLink()
  const startMs = link.now.monotonicMs
  link.send(link.gateway, upPacket())
  link.advance(300 * SECOND, loseAll)
  expect(sentAtSeconds(link.gateway, startMs)).toEqual(Array.from({ length: 18 }, (_, i) => i * 5))
  expect(new Set(sentTypes(link.gateway))).toEqual(new Set([1]))
  expect(link.gateway.drops).toEqual(['handshake-timeout'])
  link.send(link.gateway, upPacket(100))
  link.settle()
  expect(link.hub.packets).toEqual([upPacket(100)])
})

test('a handshake that is asked for again and again begins every 5 s', () => {
  const link = createLink()
  const startMs = link.now.monotonicMs
  for (let second = 0; second < 13; second++) {
    link.gateway.device.handshake(link.hub.device.publicKey, link.now)
    link.advance(SECOND, loseAll)
  }
  expect(sentAtSeconds(link.gateway, startMs)).toEqual([0, 5, 10])
})

test('repeated initiations carry ever later timestamps and fresh keys', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  link.advance(20 * SECOND, loseAll)
  const ephemerals = link.gateway.sent.map(({ data }) => Buffer.from(data.subarray(8, 40)).toString('hex'))
  expect(new Set(ephemerals).size).toBe(5)
  for (const { data } of link.gateway.sent) link.receive(link.hub, data, link.gateway.endpoint)
  expect(link.hub.drops.filter((reason) => reason === 'replayed-initiation')).toEqual([])
})

test('packets that ask again do not initiate more often than every 5 s, and keep the attempt alive', () => {
  const link = createLink()
  const startMs = link.now.monotonicMs
  for (let second = 0; second < 200; second++) {
    link.send(link.gateway, upPacket())
    link.advance(SECOND, loseAll)
  }
  const times = sentAtSeconds(link.gateway, startMs)
  expect(times).toEqual(Array.from({ length: 41 }, (_, i) => i * 5))
})

test('an initiator renews after 120 s when it sends, and loses nothing', () => {
  const link = createLink()
  link.connect()
  link.advance(119.9 * SECOND)
  link.forget()
  link.send(link.gateway, upPacket())
  expect(sentTypes(link.gateway)).toEqual([4])
  link.advance(0.2 * SECOND)
  link.send(link.gateway, upPacket())
  expect(sentTypes(link.gateway)).toEqual([4, 4, 1])
  link.settle()
  expect(link.hub.packets).toHaveLength(2)
  expect([link.hub.handshakes, link.gateway.handshakes]).toEqual([1, 1])
})

test('a responder does not renew after 120 s', () => {
  const link = createLink()
  link.connect()
  link.advance(150 * SECOND)
  link.forget()
  link.send(link.hub, downPacket())
  link.settle()
  expect(sentTypes(link.hub)).toEqual([4])
  expect(link.gateway.packets).toHaveLength(1)
})

test('an initiator that only receives renews from 165 s, once', () => {
  const link = createLink()
  link.connect()
  link.advance(164 * SECOND)
  link.forget()
  link.send(link.hub, downPacket())
  link.settle()
  expect(sentTypes(link.gateway)).toEqual([])
  link.advance(1.5 * SECOND)
  link.send(link.hub, downPacket())
  link.send(link.hub, downPacket())
  link.settle()
  expect(sentTypes(link.gateway).filter((type) => type === 1)).toEqual([1])
  expect(link.gateway.handshakes).toBe(1)
})

test('an initiator that only receives asks once, however much comes in', () => {
  const link = createLink()
  link.connect()
  link.advance(165 * SECOND)
  link.forget()
  const startMs = link.now.monotonicMs
  for (let second = 0; second < 14; second++) {
    link.send(link.hub, downPacket())
    link.advance(SECOND, ({ data }) => data[0] === 1)
  }
  link.advance(300 * SECOND, loseAll)
  const initiations = link.gateway.sent.filter(({ data }) => data[0] === 1)
  expect(sentAtSeconds({ sent: initiations }, startMs).at(-1)).toBeLessThan(90)
})

test('it does so in each session anew', () => {
  const link = createLink()
  link.connect()
  for (let session = 1; session <= 3; session++) {
    link.advance(166 * SECOND)
    link.forget()
    link.send(link.hub, downPacket())
    link.settle()
    expect({ session, sent: sentTypes(link.gateway) }).toEqual({ session, sent: [1, 4] })
  }
})

test('a responder that receives on an old session leaves renewing it to the initiator', () => {
  const link = createLink()
  link.connect()
  link.advance(170 * SECOND)
  link.forget()
  link.send(link.gateway, upPacket())
  link.settle(({ data }) => data[0] === 1)
  expect(link.hub.packets).toHaveLength(1)
  expect(sentTypes(link.hub)).toEqual([])
})

test('what travels on the old session while a new one is confirmed still arrives', () => {
  const link = createLink()
  link.connect()
  link.advance(121 * SECOND)
  link.forget()
  link.send(link.gateway, upPacket(100))
  const late = link.wire.shift()!
  link.send(link.hub, downPacket(100))
  const lateDown = link.wire.pop()!
  link.settle()
  link.send(link.gateway, upPacket(200))
  link.settle()
  link.deliver(late)
  link.deliver(lateDown)
  expect(link.hub.packets.map((packet) => packet.length)).toEqual([200, 100])
  expect(link.gateway.packets.map((packet) => packet.length)).toEqual([100])
})

test('a responder whose initiator never confirms starts over by itself when it has data', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  link.deliver(link.wire.shift()!)
  link.wire.length = 0
  const startMs = link.now.monotonicMs
  link.moveTo(startMs + SECOND)
  link.send(link.hub, downPacket())
  while (link.now.monotonicMs < startMs + 6 * SECOND) {
    link.moveTo(link.now.monotonicMs + 100)
    link.tick(link.hub)
  }
  expect(sentTypes(link.hub)).toEqual([2, 1])
  expect(sentAtSeconds(link.hub, startMs)).toEqual([0, 5])
  link.settle()
  expect(link.gateway.packets).toEqual([downPacket()])
})

test('a session of 180 s neither sends nor receives', () => {
  const link = createLink()
  link.connect()
  link.send(link.hub, downPacket())
  const late = link.wire.shift()!
  link.advance(180 * SECOND, loseAll)
  link.forget()
  link.deliver(late)
  expect(link.gateway.drops).toEqual(['expired-session'])
  link.send(link.gateway, upPacket())
  expect(sentTypes(link.gateway)).toEqual([1])
})

test('keys that nothing renews are erased after 540 s, and nothing is awaited any more', () => {
  const link = createLink()
  link.connect()
  link.send(link.hub, downPacket())
  const late = link.wire.shift()!
  link.advance(539 * SECOND, loseAll)
  link.forget()
  link.deliver(late)
  expect(link.gateway.drops).toEqual(['expired-session'])
  link.advance(60 * SECOND, loseAll)
  link.deliver(late)
  expect(link.gateway.drops).toContain('unknown-index')
  link.advance(1200 * SECOND, loseAll)
  expect(link.gateway.device.nextDeadline()).toBeUndefined()
})

test('both sides may begin at once and end with a tunnel that carries both ways', () => {
  const link = createLink()
  link.connect()
  link.advance(200 * SECOND)
  link.forget()
  link.send(link.gateway, upPacket())
  link.send(link.hub, downPacket())
  link.settle()
  expect(link.hub.packets).toEqual([upPacket()])
  expect(link.gateway.packets).toEqual([downPacket()])
  expect([link.hub.handshakes, link.gateway.handshakes]).toEqual([1, 1])
  for (let round = 0; round < 3; round++) {
    link.send(link.gateway, upPacket())
    link.send(link.hub, downPacket())
    link.advance(SECOND)
  }
  expect(link.hub.packets).toHaveLength(4)
  expect(link.gateway.packets).toHaveLength(4)
})

test('the oldest of too many waiting packets gives way', () => {
  const link = createLink()
  for (let i = 0; i < 130; i++) link.send(link.gateway, upPacket(100 + i))
  expect(link.gateway.drops).toEqual(['queue-full', 'queue-full'])
  link.settle()
  expect(link.hub.packets.map((packet) => packet.length)).toEqual(Array.from({ length: 128 }, (_, i) => 102 + i))
})

test('a clock set back a year does not stop new handshakes', () => {
  const link = createLink()
  link.connect()
  link.now.unixMs -= 365 * 86_400_000
  link.advance(200 * SECOND)
  link.forget()
  link.send(link.gateway, upPacket())
  link.settle()
  expect(link.hub.packets).toHaveLength(1)
  expect(link.hub.drops).toEqual([])
})
