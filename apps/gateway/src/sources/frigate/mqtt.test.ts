import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createPacketGuard } from '@hedgerow/http'
import { afterEach, describe, expect, test } from 'vitest'
import { startFrigateSource, type TestSource } from '../../../testing/frigate-source.ts'
import { startFrigate, type TestFrigate } from '../../../../../test/harness/frigate.ts'
import { startMosquitto, type Mosquitto } from '../../../../../test/harness/mosquitto.ts'
import { skipWithout } from '../../../../../test/harness/privileges.ts'

const life: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

type Started = { frigate: TestFrigate; broker: Mosquitto; source: TestSource; later(ms: number): void }

async function start(): Promise<Started> {
  let now = Date.now()
  const broker = await startMosquitto()
  life.push(() => broker.stop())
  const frigate = await startFrigate()
  life.push(() => frigate.stop())
  await frigate.joinBroker(broker.url)
  const source = await startFrigateSource({ url: frigate.url, mqtt: { url: broker.url } }, { clock: () => now })
  life.push(() => source.stop())
  await expect.poll(() => source.state().cameras).toHaveLength(2)
  return { frigate, broker, source, later: (ms) => void (now += ms) }
}

const ids = (source: TestSource) => source.detections().map(({ id }) => id)

describe.skipIf(skipWithout("Frigate's messages over Mosquitto", 'command mosquitto'))('over a broker', () => {
  test('Frigate’s messages become detections with pictures, and no WebSocket is opened', async () => {
    const { frigate, source } = await start()
    const review = frigate.see({ label: 'deer', score: 0.9 })
    await expect.poll(() => source.detections()[0]?.thumbnail).toBeDefined()
    expect(source.detections()[0]).toMatchObject({ id: review.id, label: 'deer', score: 0.9, severity: 'alert' })
    frigate.end(review)
    await expect.poll(() => source.detections()[0]?.endedAt).toBeDefined()
    expect(frigate.viewers()).toBe(0)
  })

  test('a camera that goes offline is offline in the heartbeat', async () => {
    const { frigate, source } = await start()
    await expect
      .poll(() => {
        // Again and again: nobody hears the first ones if the source has not yet subscribed.
        frigate.publish('yard/status/detect', 'offline')
        return source.state().cameras.find(({ name }) => name === 'yard')
      })
      .toEqual({ name: 'yard', state: 'offline', fps: 0 })
  })

  test('items of the time without the broker are fetched once when it is back', async () => {
    const { frigate, broker, source } = await start()
    const before = frigate.see({ label: 'fox' })
    await expect.poll(() => ids(source)).toEqual([before.id])
    await broker.kill9()
    frigate.end(before)
    const meanwhile = frigate.see({ label: 'boar' })
    frigate.end(meanwhile)
    await broker.start()
    await expect.poll(() => ids(source)).toEqual([before.id, meanwhile.id])
    await expect.poll(() => source.detections().every(({ endedAt }) => endedAt !== undefined)).toBe(true)
    const after = frigate.see({ label: 'hare' })
    await expect.poll(() => ids(source)).toEqual([before.id, meanwhile.id, after.id])
  })

  test('a Frigate that leaves the broker is a problem in words', async () => {
    const { frigate, source, later } = await start()
    await frigate.stop()
    await expect
      .poll(() => {
        later(30_000)
        return source.state().problems
      })
      .toContain('Frigate says that it is offline.')
  })
})

/** A broker that accepts everybody and then sends `bytes` to subscribers. */
async function startLiar(bytes: Buffer): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (packet: Buffer) => {
      if (packet[0] === 0x10) socket.write(Buffer.from([0x20, 2, 0, 0]))
      else if (packet[0] === 0x82) socket.write(Buffer.concat([subscribed(packet), bytes]))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  life.push(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** SUBACK with the packet's own identifier, and a grant for each of the five topics. */
function subscribed(packet: Buffer): Buffer {
  return Buffer.from([0x90, 7, packet[2]!, packet[3]!, 0, 0, 0, 0, 0])
}

test('the connection to a broker that announces 200 MB ends, and that is a problem', async () => {
  const frigate = await startFrigate()
  life.push(() => frigate.stop())
  // PUBLISH with a remaining length of 200 MB (MQTT 3.1.1 §2.2.3).
  const url = await startLiar(Buffer.concat([Buffer.from([0x30, 0x80, 0x84, 0xaf, 0x5f]), Buffer.alloc(70_000)]))
  let now = Date.now()
  const source = await startFrigateSource({ url: frigate.url, mqtt: { url } }, { clock: () => now })
  life.push(() => source.stop())
  await expect
    .poll(() => {
      now += 10_000
      return source.state().problems.join(' ')
    })
    .toContain('it sent a message of more than 1024 KiB')
})

describe('the guard of packet lengths', () => {
  const publish = (length: number) => {
    const digits = []
    for (let rest = length; ;) {
      const digit = rest % 128
      rest = Math.floor(rest / 128)
      digits.push(rest > 0 ? digit | 128 : digit)
      if (rest === 0) break
    }
    return Buffer.from([0x30, ...digits])
  }

  test.each([0, 1, 127, 128, 5_000])('passes a packet of %d bytes, however it is cut', (length) => {
    const stream = Buffer.concat([publish(length), Buffer.alloc(length, 0xff), publish(3), Buffer.alloc(3, 0xff)])
    for (const step of [1, 2, 7, stream.length]) {
      const guard = createPacketGuard(5_000)
      for (let at = 0; at < stream.length; at += step) expect(guard(stream.subarray(at, at + step))).toBe(true)
      expect(guard(publish(5_001))).toBe(false)
    }
  })

  test('stops a length that never ends', () => {
    expect(createPacketGuard(1_000_000_000)(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0xff]))).toBe(false)
  })
})
