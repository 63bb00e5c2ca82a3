import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import { initialSequence, timestampOffset } from './four-tuple.ts'
import { distance } from './sequence.ts'
import { Stack } from './stack.ts'

const [OURS, PEER, OTHER] = [0x0a640001, 0x0a640002, 0x0a640003]
const TUPLE = { localPort: 80, remoteAddress: PEER, remotePort: 4000 }

const hashWith =
  (key: string) =>
  (bytes: Uint8Array): number =>
    createHmac('sha256', key).update(bytes).digest().readUInt32BE(0)

const createCore = (key = 'secret'): Stack => new Stack({ address: OURS, mtu: 1420, keyedHash: hashWith(key) })

describe('the initial sequence number (RFC 6528 §3)', () => {
  const at = (now: number, tuple = TUPLE, key = 'secret'): number => initialSequence(hashWith(key), OURS, tuple, now)

  it('moves on by one every 4 us, so that a tuple that is used again begins beyond where it was', () => {
    expect(distance(at(1_000), at(0))).toBe(250_000)
    // The counter's lap takes 4.77 hours; it wraps and continues.
    expect(distance(at(17_179_870), at(17_179_869))).toBe(250)
  })

  it('differs by each part of the tuple and by the key, so that none tells another', () => {
    const others = [
      at(0, { ...TUPLE, localPort: 81 }),
      at(0, { ...TUPLE, remotePort: 4001 }),
      at(0, { ...TUPLE, remoteAddress: OTHER }),
      at(0, TUPLE, 'another secret'),
      timestampOffset(hashWith('secret'), OURS, TUPLE),
    ]
    expect(new Set([at(0), ...others]).size).toBe(6)
  })

  it('is what a SYN carries', () => {
    const stack = createCore()
    const connection = stack.connect(PEER, 80, 5_000)!
    const { localPort } = connection
    expect(connection.initialSendSequence).toBe(at(5_000, { localPort, remoteAddress: PEER, remotePort: 80 }))
  })
})

describe('a local port (RFC 6056 §3.3.3)', () => {
  const portsTo = (stack: Stack, address: number, count: number): number[] =>
    Array.from({ length: count }, () => stack.connect(address, 80, 0)!.localPort)

  it('follows the last one from a start that differs by destination and by key', () => {
    const [first, second] = portsTo(createCore(), PEER, 2) as [number, number]
    expect(second).toBe(first === 65_535 ? 32_768 : first + 1)
    expect(portsTo(createCore(), OTHER, 1)).not.toEqual([first])
    expect(portsTo(createCore('another secret'), PEER, 1)).not.toEqual([first])
  })

  it('is free: neither of an open connection to there nor of a listener', () => {
    const stack = createCore()
    const ports = portsTo(stack, PEER, 32_768)
    expect(new Set(ports).size).toBe(32_768)
    expect([Math.min(...ports), Math.max(...ports)]).toEqual([32_768, 65_535])
    // None is left towards there, all are towards elsewhere.
    expect(stack.connect(PEER, 80, 0)).toBeUndefined()
    expect(portsTo(stack, OTHER, 1)).toHaveLength(1)
    expect(portsTo(stack, PEER + 0x100, 1)).toHaveLength(1)
    const listening = createCore()
    const [taken] = portsTo(createCore(), PEER, 1) as [number]
    listening.listen(taken)
    expect(portsTo(listening, PEER, 1)).not.toEqual([taken])
  })

  it('can be used again when its connection is over', () => {
    const stack = createCore()
    const connections: Connection[] = Array.from({ length: 32_768 }, () => stack.connect(PEER, 80, 0)!)
    const [over] = connections as [Connection]
    stack.abort(over)
    expect(stack.connect(PEER, 80, 0)!.localPort).toBe(over.localPort)
  })
})
