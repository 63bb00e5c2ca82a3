import { expect, test } from 'vitest'
import type { Link } from './simulator/link.ts'
import { createLink, sentTypes, upPacket } from './simulator/link.ts'

/** A hub that takes any handshake at all for load. */
const loaded = () => createLink({ hubOptions: { handshakesPerSecond: 0 } })

/** Sends again after the 5 s that the protocol leaves between initiations. */
function retry(link: Link): void {
  link.moveTo(link.now.monotonicMs + 5_000)
  link.tick(link.gateway)
}

test('under load the first initiation gets a cookie and the next, with it, a session', () => {
  const link = loaded()
  link.send(link.gateway, upPacket())
  link.settle()
  expect(sentTypes(link.hub)).toEqual([3])
  expect(link.hub.drops).toEqual(['cookie-required'])
  expect(link.gateway.drops).toEqual([])
  retry(link)
  link.settle()
  expect(sentTypes(link.hub)).toEqual([3, 2])
  expect(link.hub.packets).toHaveLength(1)
})

test('a cookie reply is smaller than the message that it answers', () => {
  const link = loaded()
  link.send(link.gateway, upPacket())
  link.settle()
  expect(link.hub.sent[0]?.data.length).toBe(64)
})

test('a cookie is good from the address and port that it was given to, and no other', () => {
  const link = loaded()
  link.send(link.gateway, upPacket())
  link.settle()
  retry(link)
  const { data } = link.wire[0]!
  for (const from of [
    { ...link.gateway.endpoint, port: 1 },
    { ...link.gateway.endpoint, address: '192.0.2.3' },
  ]) {
    expect(link.receive(link.hub, data, from)).toContainEqual({ type: 'drop', reason: 'cookie-required' })
  }
})

test('the initiator drops a cookie before the responder changes its secret', () => {
  const link = loaded()
  link.send(link.gateway, upPacket())
  link.settle()
  link.moveTo(link.now.monotonicMs + 115_000)
  link.send(link.gateway, upPacket())
  expect(link.gateway.sent.at(-1)?.data.subarray(132)).toEqual(new Uint8Array(16))
  link.moveTo(link.now.monotonicMs + 11_000)
  link.settle()
  expect(link.hub.drops).toEqual(['cookie-required', 'cookie-required'])
})

test('a cookie is good for 115 s', () => {
  const link = loaded()
  link.send(link.gateway, upPacket())
  link.settle()
  link.moveTo(link.now.monotonicMs + 114_900)
  link.send(link.gateway, upPacket())
  link.settle()
  expect(sentTypes(link.hub)).toEqual([3, 2])
})

test('by default a device accepts 500 handshake messages a second before it asks for cookies', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  const { data } = link.wire.shift()!
  for (let i = 0; i < 500; i++) link.receive(link.hub, data, link.gateway.endpoint)
  expect(new Set(link.hub.drops)).toEqual(new Set(['replayed-initiation']))
  link.receive(link.hub, data, link.gateway.endpoint)
  expect(link.hub.drops.at(-1)).toBe('cookie-required')
})

test('a cookie reply is taken once, and not when it is changed or bound to another message', () => {
  const link = loaded()
  link.send(link.gateway, upPacket())
  link.deliver(link.wire.shift()!)
  const reply = link.wire.shift()!
  const forged = Uint8Array.from(reply.data)
  forged[40] = (forged[40] ?? 0) ^ 1
  link.deliver({ ...reply, data: forged })
  link.deliver(reply)
  link.deliver(reply)
  expect(link.gateway.drops).toEqual(['bad-cookie-reply', 'bad-cookie-reply'])
  retry(link)
  link.deliver(reply)
  expect(link.gateway.drops).toEqual(['bad-cookie-reply', 'bad-cookie-reply', 'unknown-index'])
})

test('under load one address may have 5 handshakes at once and 20 a second', () => {
  const link = loaded()
  const from = link.gateway.endpoint
  link.send(link.gateway, upPacket())
  link.settle()
  retry(link)
  const { data } = link.wire.shift()!
  const outcomes: string[] = []
  const attempt = () => {
    const output = link.receive(link.hub, data, from).at(-1)
    outcomes.push(output?.type === 'drop' ? output.reason : (output?.type ?? ''))
  }
  for (let i = 0; i < 7; i++) attempt()
  expect(outcomes).toEqual([
    'datagram',
    ...Array.from({ length: 4 }, () => 'replayed-initiation'),
    'rate-limited',
    'rate-limited',
  ])
  link.moveTo(link.now.monotonicMs + 51)
  attempt()
  attempt()
  expect(outcomes.slice(7)).toEqual(['replayed-initiation', 'rate-limited'])
})

test('load ends a second after the handshakes do', () => {
  const link = createLink({ hubOptions: { handshakesPerSecond: 3 } })
  link.send(link.gateway, upPacket())
  const { data } = link.wire.shift()!
  const isAskedForCookie = () =>
    link
      .receive(link.hub, data, link.gateway.endpoint)
      .some((output) => output.type === 'drop' && output.reason === 'cookie-required')
  expect([1, 2, 3, 4].map(isAskedForCookie)).toEqual([false, false, false, true])
  link.moveTo(link.now.monotonicMs + 999)
  expect(isAskedForCookie()).toBe(true)
  link.moveTo(link.now.monotonicMs + 2_000)
  expect(isAskedForCookie()).toBe(false)
})

test('a wrong mac1 costs no more than its check and is not counted as load', () => {
  const link = createLink({ hubOptions: { handshakesPerSecond: 3 } })
  link.send(link.gateway, upPacket())
  const forged = Uint8Array.from(link.wire[0]!.data)
  forged[120] = (forged[120] ?? 0) ^ 1
  for (let i = 0; i < 100; i++) link.receive(link.hub, forged, link.gateway.endpoint)
  expect(new Set(link.hub.drops)).toEqual(new Set(['bad-mac1']))
  link.settle()
  expect(link.hub.packets).toHaveLength(1)
})
