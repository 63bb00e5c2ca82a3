/**
 * Connections to gateways' web servers through the tunnel: each carries one exchange at a time, is kept for the
 * next, and counts towards the gateway's limit. HTTP is read and written by their users.
 */
import type { Duplex } from 'node:stream'
import type { Place } from './origins.ts'

/** Which of a gateway's web servers: the one of its own interface, or the one of its applications. */
type Door = 'interface' | 'applications'
/**
 * Opens a stream to a web server at an address in the tunnel: 'connect' or 'error' follows. It takes no port: nothing
 * that a browser sends can lead to another one.
 */
export type Dial = (address: string, door: Door, signal?: AbortSignal) => Duplex

export const doorOf = ({ application }: Place): Door => (application === undefined ? 'interface' : 'applications')

/** The limit for one gateway. Four sessions, each with as many exchanges as it may have, need no more. */
const MAX_CONNECTIONS = 1_024
/** Shorter than the 5 s after which common servers close, so that requests rarely meet a closing connection. */
const IDLE_TIMEOUT_MS = 4_000
/** An idle connection is not used when its announced end is closer than this. */
const ANNOUNCED_MARGIN_MS = 1_000

/** What a connection tells its exchange, until the exchange releases or destroys it. */
export type ConnectionUser = {
  /** The exchange may write to the connection from now on, also while the connection is still being opened. */
  onConnection(connection: GatewayConnection): void
  onBytes(bytes: Buffer): void
  /** There is room again after a write that returned false. */
  onDrain(): void
  /** The gateway has closed its side. */
  onHalfClose(): void
  /** The connection is gone. */
  onClose(error: Error | undefined): void
}

export type Pool = {
  /**
   * Gives `user` a connection: an idle one, unless `fresh`, or a new one; at the limit, when another exchange ends.
   * Returns the function that withdraws a user who still waits.
   */
  take(user: ConnectionUser, options?: { fresh?: boolean }): () => void
}

export type GatewayConnections = {
  poolOf(gateway: { id: string; address: string }, door: Door): Pool
  /** A connection of its own, which is not reused. */
  open(gateway: { address: string }, door: Door): Duplex
  stop(): void
}

export function createGatewayConnections({
  dial,
  connectTimeoutMs,
}: {
  dial: Dial
  connectTimeoutMs: number
}): GatewayConnections {
  const open = (address: string, door: Door) => openStream((signal) => dial(address, door, signal), connectTimeoutMs)
  const pools = new Map<string, { address: string; pool: ConnectionPool }>()

  return {
    poolOf({ id, address }, door) {
      const key = `${door} ${id}`
      const poolOfKey = pools.get(key)
      if (poolOfKey?.address === address) return poolOfKey.pool
      poolOfKey?.pool.endIdle()
      const pool = new ConnectionPool(
        () => open(address, door),
        () => pools.get(key)?.pool === pool && pools.delete(key),
      )
      pools.set(key, { address, pool })
      return pool
    },
    open: ({ address }, door) => open(address, door),
    stop() {
      for (const { pool } of pools.values()) pool.endIdle()
      pools.clear()
    },
  }
}

class ConnectionPool implements Pool {
  readonly #open: () => Duplex
  readonly #onEmpty: () => void
  readonly #waiting = new Set<ConnectionUser>()
  /** In the order of their last use. */
  readonly #idle: GatewayConnection[] = []
  #count = 0

  constructor(open: () => Duplex, onEmpty: () => void) {
    this.#open = open
    this.#onEmpty = onEmpty
  }

  take(user: ConnectionUser, { fresh = false } = {}): () => void {
    const idle = fresh ? undefined : this.#idle.pop()
    if (idle) idle.lend(user)
    else if (this.#count < MAX_CONNECTIONS) this.#connect(user)
    else this.#waiting.add(user)
    return () => void this.#waiting.delete(user)
  }

  endIdle(): void {
    for (const connection of this.#idle) connection.destroy()
  }

  #connect(user: ConnectionUser): void {
    const stream = this.#open()
    this.#count++
    const connection = new GatewayConnection(stream, {
      onFree: () => {
        const [next] = this.#waiting
        if (next) {
          this.#waiting.delete(next)
          connection.lend(next)
        } else this.#idle.push(connection)
      },
      onGone: () => {
        const at = this.#idle.indexOf(connection)
        if (at >= 0) this.#idle.splice(at, 1)
        this.#count--
        const [next] = this.#waiting
        if (next) {
          this.#waiting.delete(next)
          this.#connect(next)
        } else if (this.#count === 0) this.#onEmpty()
      },
    })
    connection.lend(user)
  }
}

export class GatewayConnection {
  readonly #stream: Duplex
  readonly #onFree: () => void
  #user: ConnectionUser | undefined
  #uses = 0
  #error: Error | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #idleMs = 0

  constructor(stream: Duplex, { onFree, onGone }: { onFree: () => void; onGone: () => void }) {
    this.#stream = stream
    this.#onFree = onFree
    // The stream's own buffers end when nobody uses it: bytes that arrive then were not asked for.
    stream.on('data', (bytes: Buffer) => (this.#user ? this.#user.onBytes(bytes) : stream.destroy()))
    stream.on('drain', () => this.#user?.onDrain())
    stream.on('end', () => (this.#user ? this.#user.onHalfClose() : stream.destroy()))
    stream.on('error', (error) => (this.#error = error))
    stream.once('close', () => {
      clearTimeout(this.#idleTimer)
      const user = this.#user
      this.#user = undefined
      onGone()
      user?.onClose(this.#error)
    })
  }

  /** Whether it has carried an earlier exchange: the gateway may be closing it. */
  get isReused(): boolean {
    return this.#uses > 1
  }

  lend(user: ConnectionUser): void {
    this.#uses++
    this.#user = user
    user.onConnection(this)
  }

  /** False when the caller should wait for `onDrain`. */
  write(bytes: Buffer | string): boolean {
    return this.#stream.write(bytes, 'latin1')
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  /**
   * The exchange is over, and none of its bytes are still on the way. `keepAliveSeconds` is the time that the gateway
   * announced.
   */
  release(keepAliveSeconds: number | undefined): void {
    this.#user = undefined
    const idleMs = Math.min(IDLE_TIMEOUT_MS, (keepAliveSeconds ?? Infinity) * 1_000 - ANNOUNCED_MARGIN_MS)
    if (idleMs <= 0 || this.#stream.destroyed || !this.#stream.writable) return void this.#stream.destroy()
    this.#endWhenIdle(idleMs)
    this.#stream.resume()
    this.#onFree()
  }

  /** One timer for all of its idle times: it may end while the connection is in use. */
  #endWhenIdle(idleMs: number): void {
    if (this.#idleTimer && idleMs === this.#idleMs) return void this.#idleTimer.refresh()
    clearTimeout(this.#idleTimer)
    this.#idleMs = idleMs
    this.#idleTimer = setTimeout(() => {
      if (!this.#user) this.#stream.destroy()
    }, idleMs).unref()
  }

  /** Its user gets no further calls. */
  destroy(): void {
    this.#user = undefined
    this.#stream.destroy()
  }
}

function openStream(dial: (signal: AbortSignal) => Duplex, connectTimeoutMs: number): Duplex {
  const abort = new AbortController()
  const stream = dial(abort.signal)
  const timer = setTimeout(() => abort.abort(new Error('the gateway does not accept connections')), connectTimeoutMs)
  stream.once('connect', () => clearTimeout(timer))
  stream.once('close', () => clearTimeout(timer))
  return stream
}
