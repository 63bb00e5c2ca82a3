import { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createGatewayConnections, type ConnectionUser, type GatewayConnection } from './gateway-connections.ts'

const GATEWAY = { id: 'barn', address: '10.100.0.2' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** One exchange on a connection that the pool gives at once. */
function takeFrom(connections: ReturnType<typeof createGatewayConnections>): GatewayConnection {
  let taken: GatewayConnection | undefined
  const nothing = () => {}
  const user: ConnectionUser = {
    onConnection: (connection) => (taken = connection),
    onBytes: nothing,
    onDrain: nothing,
    onHalfClose: nothing,
    onClose: nothing,
  }
  connections.poolOf(GATEWAY, 'interface').take(user)
  return taken!
}

function createConnections() {
  const streams: Duplex[] = []
  const dial = () => {
    const stream = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() })
    streams.push(stream)
    return stream
  }
  return { streams, connections: createGatewayConnections({ dial, connectTimeoutMs: 10_000 }) }
}

describe('an idle connection to a gateway', () => {
  it.each([
    ['4 s without an announcement', undefined, 4_000],
    ['a second less than the gateway announced', 3, 2_000],
    ['4 s where the gateway announced more', 60, 4_000],
  ])('is kept for %s', (_, keptSeconds, ms) => {
    const { streams, connections } = createConnections()
    takeFrom(connections).release(keptSeconds)
    vi.advanceTimersByTime(ms - 1)
    expect(streams[0]!.destroyed).toBe(false)
    vi.advanceTimersByTime(1)
    expect(streams[0]!.destroyed).toBe(true)
  })

  it('is not kept where the gateway closes it within a second', () => {
    const { streams, connections } = createConnections()
    takeFrom(connections).release(1)
    expect(streams[0]!.destroyed).toBe(true)
  })

  it('carries the next exchange, however long that takes', () => {
    const { streams, connections } = createConnections()
    takeFrom(connections).release(undefined)
    vi.advanceTimersByTime(3_000)
    expect(takeFrom(connections).isReused).toBe(true)
    vi.advanceTimersByTime(60_000)
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([false])
    connections.stop()
  })
})
