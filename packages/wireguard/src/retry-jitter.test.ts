import { expect, test } from 'vitest'
import type { Crypto } from './crypto.ts'
import { nodeCrypto } from './node/crypto.ts'
import { createLink, loseAll, upPacket } from './simulator/link.ts'

/** One random byte is the jitter. */
const withJitter = (byte: number): Crypto => ({
  ...nodeCrypto,
  random: (length) => (length === 1 ? Uint8Array.of(byte) : nodeCrypto.random(length)),
})

/** When a gateway with this jitter sends what it does, in milliseconds since it was told to send. */
function linkWith(byte: number) {
  const link = createLink({ gatewayOptions: { crypto: withJitter(byte) } })
  const since = (startMs: number) => link.gateway.sent.map(({ atMs }) => atMs - startMs)
  return { link, since }
}

const jitters: [byte: number, ms: number][] = [
  [0, 0],
  [128, 167],
  [255, 332.6953125],
]

test.each(jitters)('with a random byte of %i, a retry comes %f ms after its 5 s', (byte, ms) => {
  const { link, since } = linkWith(byte)
  const startMs = link.now.monotonicMs
  link.send(link.gateway, upPacket())
  link.advance(11_000, loseAll)
  expect(since(startMs)).toEqual([0, 5_000 + ms, 10_000 + 2 * ms])
})

test.each(jitters)('and with one of %i, a handshake for want of an answer %f ms after its 15 s', (byte, ms) => {
  const { link, since } = linkWith(byte)
  link.connect()
  link.advance(60_000)
  link.forget()
  const startMs = link.now.monotonicMs
  link.send(link.gateway, upPacket())
  link.advance(16_000, loseAll)
  expect(since(startMs)).toEqual([0, 15_000 + ms])
})

test.each(jitters)(
  'and with one of %i, the first of a new attempt %f ms after 5 s since the last initiation',
  (byte, ms) => {
    const { link, since } = linkWith(byte)
    link.connect()
    const startMs = link.now.monotonicMs
    link.advance(1_000)
    // A new session before the last initiation is 5 s old, so the next has to wait.
    const config = { publicKey: link.hub.device.publicKey, allowedIps: ['10.0.0.1/32'] }
    link.gateway.device.updatePeer({ ...config, presharedKey: Buffer.alloc(32, 1).toString('base64') as never })
    link.forget()
    link.send(link.gateway, upPacket())
    link.advance(5_000, loseAll)
    expect(since(startMs)).toEqual([5_000 + ms])
  },
)
