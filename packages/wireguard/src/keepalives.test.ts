import { expect, test } from 'vitest'
import { createLink, downPacket, loseAll, sentTypes, upPacket } from './simulator/link.ts'

const SECOND = 1000

/** Seconds since `startMs` at which a side sent. */
const sentAtSeconds = (side: { sent: { atMs: number }[] }, startMs: number) =>
  side.sent.map(({ atMs }) => (atMs - startMs) / SECOND)

/** A link a minute after its handshake, with nothing owed on either side. */
const atRest = () => {
  const link = createLink()
  link.connect()
  link.advance(60 * SECOND)
  link.forget()
  return { link, startMs: link.now.monotonicMs }
}

test('what only receives answers with one keepalive after 10 s', () => {
  const { link, startMs } = atRest()
  link.send(link.gateway, upPacket())
  link.advance(60 * SECOND)
  expect(sentAtSeconds(link.hub, startMs)).toEqual([10])
  expect(link.hub.sent[0]?.data.length).toBe(32)
  expect(link.gateway.sent).toHaveLength(1)
})

test('data that comes in while a keepalive is owed gets one of its own', () => {
  const { link, startMs } = atRest()
  link.send(link.gateway, upPacket())
  link.advance(5 * SECOND)
  link.send(link.gateway, upPacket())
  link.advance(60 * SECOND)
  expect(sentAtSeconds(link.hub, startMs)).toEqual([10, 20])
})

test('data sent in time spares the keepalive', () => {
  const { link, startMs } = atRest()
  link.send(link.gateway, upPacket())
  link.settle()
  link.advance(5 * SECOND)
  link.send(link.hub, downPacket())
  link.settle()
  link.advance(60 * SECOND)
  expect(sentAtSeconds(link.hub, startMs)).toEqual([5])
  expect(sentAtSeconds(link.gateway, startMs)).toEqual([0, 15])
})

test('data sent in time spares the second keepalive too', () => {
  const { link, startMs } = atRest()
  const receiveAt = (second: number) => {
    link.advance(startMs + second * SECOND - link.now.monotonicMs)
    link.send(link.gateway, upPacket())
    link.settle()
  }
  receiveAt(0)
  receiveAt(1)
  link.send(link.hub, downPacket())
  receiveAt(20)
  link.advance(60 * SECOND)
  expect(sentAtSeconds(link.hub, startMs)).toEqual([1, 30])
})

test('data that goes unanswered for 15 s starts a new handshake', () => {
  const { link, startMs } = atRest()
  link.send(link.gateway, upPacket())
  link.advance(16 * SECOND, loseAll)
  expect(sentTypes(link.gateway)).toEqual([4, 1])
  expect(sentAtSeconds(link.gateway, startMs)).toEqual([0, 15])
})

test('more data without an answer does not put the new handshake off', () => {
  const { link, startMs } = atRest()
  for (let second = 0; second < 16; second++) {
    link.send(link.gateway, upPacket())
    link.advance(SECOND, loseAll)
  }
  const initiations = link.gateway.sent.filter(({ data }) => data[0] === 1)
  expect(sentAtSeconds({ sent: initiations }, startMs)).toEqual([15])
})

test('a persistent keepalive follows the last packet by its interval, and starts the tunnel by itself', () => {
  const link = createLink({ gateway: { persistentKeepaliveSeconds: 25 } })
  const startMs = link.now.monotonicMs
  link.advance(100 * SECOND)
  expect(sentTypes(link.gateway)).toEqual([1, 4, 4, 4, 4, 4])
  expect(sentAtSeconds(link.gateway, startMs)).toEqual([0, 0, 25, 50, 75, 100])
  link.advance(10 * SECOND)
  link.send(link.gateway, upPacket())
  link.settle()
  link.forget()
  link.send(link.hub, downPacket())
  link.settle()
  link.advance(25 * SECOND)
  expect(sentAtSeconds(link.gateway, startMs)).toContain(120)
})

test('a persistent keepalive is changed and turned off on the session that there is', () => {
  const link = createLink({ gateway: { persistentKeepaliveSeconds: 25 } })
  const change = (persistentKeepaliveSeconds: number) =>
    link.gateway.device.updatePeer({
      publicKey: link.hub.device.publicKey,
      allowedIps: ['10.0.0.1/32'],
      persistentKeepaliveSeconds,
    })
  const sentWithin = (seconds: number) => {
    link.forget()
    const startMs = link.now.monotonicMs
    link.advance(seconds * SECOND)
    expect(new Set(sentTypes(link.gateway)).difference(new Set([4])).size).toBe(0)
    return sentAtSeconds(link.gateway, startMs)
  }
  link.advance(30 * SECOND)
  change(10)
  expect(sentWithin(30)).toEqual([0, 10, 20, 30])
  change(25)
  expect(sentWithin(26)).toEqual([0, 25])
  change(0)
  expect(sentWithin(30)).toEqual([])
  change(25)
  expect(sentWithin(24)).toEqual([0])
})

test('a persistent keepalive goes on trying when the other side stays away', () => {
  const link = createLink({ gateway: { persistentKeepaliveSeconds: 25 } })
  link.advance(600 * SECOND, loseAll)
  expect(link.gateway.sent.length).toBeGreaterThan(90)
  link.advance(30 * SECOND)
  expect(link.gateway.handshakes).toBe(1)
})
