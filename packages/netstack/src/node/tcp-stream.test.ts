import { expect, it } from 'vitest'
import { ScriptedPeer } from '../scripted-peer.ts'
import { TcpStream } from './tcp-stream.ts'

it('completes a waiting write in its own callback, because HTTP holds writes until the callback ends', async () => {
  const peer = ScriptedPeer.established()
  const driver = { schedule: () => undefined, abort: () => undefined, now: () => peer.now }
  const at = { localAddress: '10.100.0.1', remoteAddress: '10.100.0.2', remotePort: 4000 }
  const stream = new TcpStream(driver, { ...at, connecting: false, allowHalfOpen: true })
  stream.attach(peer.connection!)
  const bytes = 150_000
  const written = new Promise((resolve) => stream.write(Buffer.alloc(bytes), resolve))
  const sent = peer.sends().length
  expect(sent).toBe(10)
  peer.now += 10
  for (let ack = 1; peer.connection!.sendSpace < 30_000;) {
    peer.says('ACK', { seq: 1, ack: (ack += 1_380) })
    peer.now += 10
  }
  stream.handleWritable()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(stream.writableLength).toBe(bytes)
  await written
  expect(stream.writableLength).toBe(0)
})

it('returns data in memory of its own, of about the same size: who keeps it keeps no packet', async () => {
  const read = [1, 2].map((): Buffer[] => [])
  for (const chunks of read) {
    const peer = ScriptedPeer.established()
    const driver = { schedule: () => undefined, abort: () => undefined, now: () => peer.now }
    const at = { localAddress: '10.100.0.1', remoteAddress: '10.100.0.2', remotePort: 4000 }
    const stream = new TcpStream(driver, { ...at, connecting: false, allowHalfOpen: true })
    stream.attach(peer.connection!)
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    await new Promise<void>((resolve) => process.nextTick(resolve))
    for (let i = 0, seq = 1; i < 200; i++) {
      const data = new Uint8Array(i % 20 === 0 ? 1_380 : 100 + i).fill(i)
      peer.says('ACK', { seq, ack: 1, data })
      seq += data.length
      stream.handleReadable()
    }
  }
  const [one, other] = read.map((chunks) => new Set(chunks.map(({ buffer }) => buffer)))
  for (const buffer of one!) expect(other!.has(buffer)).toBe(false)
  const bytes = read[0]!.reduce((total, { length }) => total + length, 0)
  const kept = [...one!].reduce((total, { byteLength }) => total + byteLength, 0)
  expect(read[0]).toHaveLength(200)
  expect(read[0]!.every((chunk, i) => chunk.every((byte) => byte === i))).toBe(true)
  expect(kept).toBeLessThan(1.3 * bytes + 2_048)
  // A buffer of its own for each small read would cost more than all else of the read.
  expect(one!.size).toBeLessThan(50)
})
