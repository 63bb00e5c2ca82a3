import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Endpoint } from '../outputs.ts'
import { sendSegments } from './send-segments.ts'
import type { Outgoing, SegmentationOffload } from './segmentation-offload.ts'
import { openSegmentationOffload } from './segmentation-offload.ts'
import { descriptorOf } from './socket-descriptor.ts'

const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) {
    socket.close()
    await once(socket, 'close')
  }
})

async function bound(address: string): Promise<{ socket: Socket; endpoint: Endpoint; received: Buffer[] }> {
  const family = address.includes(':') ? 6 : 4
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  sockets.push(socket)
  const received: Buffer[] = []
  socket.on('message', (message) => received.push(message))
  const listening = once(socket, 'listening')
  socket.bind(0, address)
  await listening
  return { socket, endpoint: { address, port: socket.address().port }, received }
}

async function offloadOf(address: string): Promise<SegmentationOffload> {
  const { endpoint } = await bound(address)
  const family = address.includes(':') ? 6 : 4
  const descriptor = descriptorOf({ port: endpoint.port, family })
  const offload = descriptor === undefined ? undefined : openSegmentationOffload({ descriptor, family })
  if (offload === undefined) throw new Error('the socket was not found')
  return offload
}

/** Lengths as given, each with contents of its own. */
const datagrams = (to: Endpoint, lengths: number[]): Outgoing[] =>
  lengths.map((length, index) => ({ data: new Uint8Array(length).fill(index + 1), to }))

const bytesOf = (messages: readonly Uint8Array[]) => messages.map((message) => Buffer.from(message).toString('hex'))

describe.skipIf(sendSegments() === undefined)('where the kernel cuts what is sent', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['::', '127.0.0.1'],
  ])('from %s to %s what leaves together arrives piece by piece, in order, as it was', async (from, to) => {
    const offload = await offloadOf(from)
    const { endpoint, received } = await bound(to)
    const sent = datagrams(endpoint, [1452, 1452, 1452, 96, 96, 1452, 1452, 700])
    // The first 96 ends the run of 1452, so the next 96 is alone before a longer one.
    expect(offload.send(sent)).toEqual([sent[4]])
    const together = sent.filter((_, index) => index !== 4)
    await vi.waitFor(() => expect(received).toHaveLength(together.length), { timeout: 30_000 })
    expect(bytesOf(received)).toEqual(bytesOf(together.map(({ data }) => data)))
  })

  test('more than one call takes go in several, and nothing is lost between them', async () => {
    const offload = await offloadOf('127.0.0.1')
    const { endpoint, received } = await bound('127.0.0.1')
    for (const [count, length] of [
      [130, 40],
      [64, 1452],
    ] as const) {
      received.length = 0
      const sent = datagrams(
        endpoint,
        Array.from({ length: count }, () => length),
      )
      const left = offload.send(sent)
      await vi.waitFor(() => expect(received).toHaveLength(count - left.length), { timeout: 30_000 })
      const gone = sent.filter((datagram) => !left.includes(datagram))
      expect(bytesOf(received)).toEqual(bytesOf(gone.map(({ data }) => data)))
      expect(left.length).toBeLessThan(2)
    }
  })

  test('a datagram alone, and what goes to different peers in turn, is left to the socket', async () => {
    const offload = await offloadOf('127.0.0.1')
    const [one, other] = [(await bound('127.0.0.1')).endpoint, (await bound('127.0.0.1')).endpoint]
    const sent = [one, other, one, other].flatMap((to) => datagrams(to, [100]))
    expect(offload.send(sent)).toEqual(sent)
  })

  test('what the kernel refuses is left to the socket, and so is what follows it for a while', async () => {
    const offload = await offloadOf('127.0.0.1')
    // This socket may not send to the broadcast address.
    const forbidden = { address: '255.255.255.255', port: 9 }
    const refused = datagrams(forbidden, [100, 100])
    expect(offload.send(refused)).toEqual(refused)
    expect(offload.send(refused)).toEqual(refused)
    const { endpoint, received } = await bound('127.0.0.1')
    expect(offload.send(datagrams(endpoint, [100, 100]))).toEqual([])
    await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 30_000 })
  })

  test('an address with a zone, or of the other family, is left to the socket', async () => {
    const offload = await offloadOf('127.0.0.1')
    for (const address of ['fe80::1%lo', '::1']) {
      const sent = datagrams({ address, port: 9 }, [100, 100])
      expect(offload.send(sent)).toEqual(sent)
    }
  })

  test('a port that no socket of this process has is not found', async () => {
    const { socket, endpoint } = await bound('127.0.0.1')
    sockets.splice(sockets.indexOf(socket), 1)
    socket.close()
    await once(socket, 'close')
    expect(descriptorOf({ port: endpoint.port, family: 4 })).toBeUndefined()
  })
})
