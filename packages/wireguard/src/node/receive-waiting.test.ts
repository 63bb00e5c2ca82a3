import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Endpoint } from '../outputs.ts'
import { ipv4Packet } from '../simulator/packet.ts'
import { openInterface } from './interface.ts'
import type { WireGuardInterface } from './interface.ts'
import { generateKeyPair } from './keys.ts'
import { openReceiveWaiting } from './receive-waiting.ts'
import { descriptorOf } from './socket-descriptor.ts'

const closers: (() => Promise<unknown>)[] = []
const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000 })

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function bound(address: string): Promise<Socket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  const listening = once(socket, 'listening')
  socket.bind(0, address)
  await listening
  // As large as an interface's, so that datagrams of one turn find room.
  socket.setRecvBufferSize(4 << 20)
  closers.push(() => {
    const closed = once(socket, 'close')
    socket.close()
    return closed
  })
  return socket
}

type Received = { data: string; from: Endpoint }

/** A socket that reads as an interface does: in the event of one datagram also the waiting ones. */
async function reader(address: string) {
  const socket = await bound(address)
  const { port } = socket.address()
  const descriptor = descriptorOf({ port, family: address.includes(':') ? 6 : 4 })
  const receiveWaiting = descriptor === undefined ? undefined : openReceiveWaiting(descriptor)
  if (receiveWaiting === undefined) throw new Error('the socket was not found')
  const received: Received[] = []
  let behind = 0
  let inTurn = 0
  let mostInTurn = 0
  const add = (data: Uint8Array, from: Endpoint): void => {
    if (inTurn++ === 0) setImmediate(() => (inTurn = 0))
    mostInTurn = Math.max(mostInTurn, inTurn)
    received.push({ data: Buffer.from(data).toString('hex'), from: { address: from.address, port: from.port } })
  }
  socket.on('message', (data, from) => {
    add(data, { ...from, address: from.address.replace('::ffff:', '') })
    for (const next of receiveWaiting()) {
      behind++
      add(next.data, next.from)
    }
  })
  return { port, received, behind: () => behind, mostInTurn: () => mostInTurn }
}

/** Lengths as given, each with contents of its own. */
const contents = (lengths: number[]) => lengths.map((length, i) => Buffer.alloc(length, i + 1))

describe.skipIf(process.platform !== 'linux')('what waits in a socket is read together', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['::', '127.0.0.1'],
    ['::', '::1'],
  ])('by %s from %s: all of it, in order, with its sender, whatever its size', async (at, from) => {
    const { port, received, behind } = await reader(at)
    const [one, other] = [await bound(from), await bound(from)]
    const expected: Received[] = []
    const lengths = [1, 0, 1452, 60_000, 148, 1452, 65_507, 32]
    // Repeats until datagrams waited after others: the system decides how many arrive in one turn.
    for (let round = 0; round < 100 && behind() === 0; round++) {
      for (const [i, data] of contents(lengths).entries()) {
        const socket = i % 3 === 0 ? other : one
        socket.send(data, port, from)
        expected.push({ data: data.toString('hex'), from: { address: from, port: socket.address().port } })
      }
      await until(() => expect(received).toHaveLength(expected.length))
    }
    expect(behind()).toBeGreaterThan(0)
    expect(received).toEqual(expected)
  })

  test('a flood leaves room for the rest of the event loop, and nothing of it is lost', async () => {
    const { port, received, mostInTurn } = await reader('127.0.0.1')
    const sender = await bound('127.0.0.1')
    const sent = contents(Array.from({ length: 300 }, () => 8))
    for (const data of sent) sender.send(data, port, '127.0.0.1')
    await until(() => expect(received).toHaveLength(sent.length))
    expect(received.map(({ data }) => data)).toEqual(sent.map((data) => data.toString('hex')))
    // 256 together, and what Node reads by itself in a turn.
    expect(mostInTurn()).toBeLessThanOrEqual(256 + 32)
  })

  test('a datagram stays unchanged while more are read', async () => {
    const socket = await bound('127.0.0.1')
    const { port } = socket.address()
    const receiveWaiting = openReceiveWaiting(descriptorOf({ port, family: 4 })!)!
    const kept: Uint8Array[] = []
    socket.on('message', (data) => kept.push(data, ...receiveWaiting().map((next) => next.data)))
    const sender = await bound('127.0.0.1')
    const sent = contents(Array.from({ length: 200 }, () => 1452))
    for (let at = 0; at < sent.length; at += 40) {
      for (const data of sent.slice(at, at + 40)) sender.send(data, port, '127.0.0.1')
      await until(() => expect(kept).toHaveLength(at + 40))
    }
    expect(kept.map((data) => Buffer.from(data).toString('hex'))).toEqual(sent.map((data) => data.toString('hex')))
  })
})

describe.each([true, false])('an interface with offload %s', (offload) => {
  type Side = { wireguard: WireGuardInterface; packets: Uint8Array[]; drops: string[] }

  async function openSide(onDrop?: (side: Side) => void): Promise<Side> {
    const packets: Uint8Array[] = []
    const drops: string[] = []
    const wireguard = await openInterface({
      privateKey: generateKeyPair().privateKey,
      host: '127.0.0.1',
      offload,
      onPacket: (packet) => packets.push(packet),
      onDrop(reason) {
        drops.push(reason)
        onDrop?.(side)
      },
    })
    const side = { wireguard, packets, drops }
    closers.push(wireguard.close)
    return side
  }

  async function openPair(): Promise<[Side, Side]> {
    const [hub, gateway] = [await openSide(), await openSide()]
    hub.wireguard.addPeer({ publicKey: gateway.wireguard.publicKey, allowedIps: ['10.0.0.2/32'] })
    gateway.wireguard.addPeer({
      publicKey: hub.wireguard.publicKey,
      allowedIps: ['10.0.0.1/32'],
      endpoint: { address: '127.0.0.1', port: hub.wireguard.port },
    })
    // Makes the session first, because the queue of packets that wait for one is limited.
    gateway.wireguard.send(ipv4Packet('10.0.0.2', '10.0.0.1', 60))
    await until(() => expect(hub.packets).toHaveLength(1))
    hub.packets.length = 0
    return [hub, gateway]
  }

  test('packets of all sizes come out as they went in, in order', async () => {
    const [hub, gateway] = await openPair()
    const sent = Array.from({ length: 60 }, (_, i) => ipv4Packet('10.0.0.2', '10.0.0.1', i % 4 === 3 ? 60 + i : 1420))
    for (const [i, packet] of sent.entries()) packet.fill(i, 20)
    for (const packet of sent) gateway.wireguard.send(packet)
    await until(() => expect(hub.packets).toHaveLength(sent.length))
    const text = (packets: Uint8Array[]) => packets.map((packet) => Buffer.from(packet).toString('hex'))
    expect(text(hub.packets)).toEqual(text(sent))
    expect(hub.drops).toEqual([])
  })

  test('noise is counted to the last datagram, oversized or empty', async () => {
    const hub = await openSide()
    const stranger = await bound('127.0.0.1')
    let count = 0
    for (let round = 0; round < 10; round++) {
      for (const length of [0, 1, 31, 65_507, 1500, 4, 4, 4]) {
        stranger.send(Buffer.alloc(length, 1), hub.wireguard.port, '127.0.0.1')
        count++
      }
      await until(() => expect(hub.wireguard.drops().malformed).toBe(count))
    }
  })

  test('fifty thousand datagrams of noise do not cost a live tunnel one packet', async () => {
    const [hub, gateway] = await openPair()
    const stranger = await bound('127.0.0.1')
    const packet = ipv4Packet('10.0.0.2', '10.0.0.1', 60)
    const noise = Buffer.alloc(96)
    noise[0] = 4
    for (let round = 1; round <= 250; round++) {
      for (let i = 0; i < 200; i++) stranger.send(noise, hub.wireguard.port, '127.0.0.1')
      gateway.wireguard.send(packet)
      while (hub.wireguard.drops()['unknown-index'] < round * 200 || hub.packets.length < round) await nextTurn()
    }
    expect(hub.packets).toHaveLength(250)
    expect(hub.wireguard.drops()['unknown-index']).toBe(50_000)
  })

  test('when one datagram closes it, it reads none of those after it', async () => {
    const closed = Promise.withResolvers<void>()
    const hub = await openSide(({ wireguard }) => closed.resolve(wireguard.close()))
    const stranger = await bound('127.0.0.1')
    for (let i = 0; i < 20; i++) stranger.send(Buffer.of(9), hub.wireguard.port, '127.0.0.1')
    await closed.promise
    // This socket may have got the descriptor; its datagrams are not for the closed one.
    const next = await bound('127.0.0.1')
    const message = once(next, 'message')
    stranger.send(Buffer.of(7), next.address().port, '127.0.0.1')
    await message
    expect(hub.drops).toEqual(['malformed'])
  })
})
