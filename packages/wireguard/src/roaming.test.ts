import { expect, test } from 'vitest'
import type { Link } from './simulator/link.ts'
import { createLink, downPacket, upPacket } from './simulator/link.ts'

const elsewhere = { address: '192.0.2.77', port: 9 }
const hubKnows = (link: Link) => link.hub.device.peers()[0]?.endpoint

test('the hub follows a gateway whose authenticated data comes from elsewhere', () => {
  const link = createLink()
  link.connect()
  link.send(link.gateway, upPacket())
  link.receive(link.hub, link.wire.shift()!.data, elsewhere)
  expect(hubKnows(link)).toEqual(elsewhere)
  const [output] = link.hub.device.send(downPacket(), link.now)
  expect(output).toMatchObject({ type: 'datagram', to: elsewhere })
})

test.each([
  ['address', { address: '192.0.2.77', port: 40_000 }],
  ['port', { address: '192.0.2.2', port: 9 }],
])('the %s alone may change', (_, to) => {
  const link = createLink()
  link.connect()
  link.send(link.gateway, upPacket())
  link.receive(link.hub, link.wire.shift()!.data, to)
  expect(hubKnows(link)).toEqual(to)
})

test('a gateway follows a hub that answers from elsewhere, and counts the answer', () => {
  const link = createLink()
  link.send(link.gateway, upPacket())
  link.deliver(link.wire.shift()!)
  link.receive(link.gateway, link.wire.shift()!.data, elsewhere)
  expect(link.gateway.device.peers()[0]).toMatchObject({ endpoint: elsewhere, receivedBytes: 92 })
  expect(link.wire.map(({ to }) => to)).toEqual([elsewhere])
})

test('it follows nothing that is replayed, changed or made up', () => {
  const link = createLink()
  link.connect()
  link.send(link.gateway, upPacket())
  const { data } = link.wire[0]!
  link.settle()
  const changed = Uint8Array.from(data)
  changed[8] = 9
  link.receive(link.hub, data, elsewhere)
  link.receive(link.hub, changed, elsewhere)
  link.receive(link.hub, new Uint8Array(148).fill(1), elsewhere)
  expect(link.hub.drops).toEqual(['replayed-counter', 'bad-transport', 'malformed'])
  expect(hubKnows(link)).toEqual(link.gateway.endpoint)
})

test('it follows a new handshake', () => {
  const link = createLink()
  link.connect()
  link.advance(200_000)
  link.send(link.gateway, upPacket())
  link.receive(link.hub, link.wire.shift()!.data, elsewhere)
  expect(hubKnows(link)).toEqual(elsewhere)
})
