import { expect, it } from 'vitest'
import { ScriptedPeer } from '../scripted-peer.ts'
import { TcpStream } from './tcp-stream.ts'

it('goes on with a write that waited in a callback of its own: what HTTP holds until the end of one counts on it', async () => {
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
