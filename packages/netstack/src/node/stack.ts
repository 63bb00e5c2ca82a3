/**
 * The stack at Node's edge: gives the core a clock, randomness and a timer, and its connections the shape of streams.
 * It owns no socket: packets come through `receive` and leave through `send`. One timer serves all connections; it does
 * not keep the process alive, the tunnel's socket does. A turn of the event loop handles a batch: packets are taken in
 * as they come, then one immediate delivers what arrived to the streams and sends what follows, so many packets cost
 * one acknowledgment and one push.
 */
import { createHmac, randomBytes, randomInt } from 'node:crypto'
import type { DropReason } from '../drop.ts'
import { formatAddress, isUnicast, parseAddress } from '../ipv4.ts'
import { Stack as Core, type Output } from '../stack.ts'
import { socketError } from './socket-error.ts'
import { TcpStream } from './tcp-stream.ts'

const DEFAULT_MTU = 1420
const MIN_MTU = 576
const MAX_MTU = 65_535
const DEFAULT_PING_TIMEOUT_MS = 5_000
/** Rounds of deliver and send in one turn: the second sends what handlers wrote in the first. */
const ROUNDS_PER_TURN = 2
/**
 * More rounds send what is left while they take less than this share of the time since the last turn: a process with
 * much other work has a dozen long turns a second, and a round sends 64 packets.
 */
const TURN_SHARE = 0.2
const EXTRA_ROUNDS_MAX_MS = 20
/** As many as Node takes from a UDP socket before it handles other events. */
const FULL_POLL_PACKETS = 32
/** The most packets of one turn. */
const MAX_TURN_PACKETS = 128

export interface StackOptions {
  /** Our IPv4 address. */
  address: string
  /** The tunnel's MTU in bytes, IPv4 header included; 1420 when left out. */
  mtu?: number
  /** Data arrives authenticated, as behind WireGuard, so checksums of segments are not verified. Default: false. */
  isAuthenticated?: boolean
  /**
   * Hands an IPv4 packet to the tunnel; must not throw. The packet is overwritten later: what is kept must be copied.
   */
  send(packet: Uint8Array): void
  /** Called with the reason for which a received packet, or part of it, was dropped. */
  onDrop?(reason: DropReason): void
}

export interface ConnectOptions {
  /** An IPv4 address; names are not resolved. */
  host: string
  port: number
  /** Destroys the stream with an AbortError. */
  signal?: AbortSignal
  /** ETIMEDOUT when the handshake takes longer; 100 s without it. */
  timeoutMs?: number
  /** False, as with net.connect: the stream ends writing when the peer does. */
  allowHalfOpen?: boolean
}

export interface ListenOptions {
  /** 0 takes a free port. */
  port: number
  /** The most handshakes in progress; default 4,096. One peer may have 256 of them, or half of a smaller number. */
  backlog?: number
}

export interface Stack {
  readonly address: string
  /**
   * Takes an IPv4 packet from the tunnel; the buffer belongs to the stack from then on. Only packets for `address` are
   * accepted.
   */
  receive(packet: Uint8Array): void
  /** Returns at once; 'connect' or 'error' follows. Throws ERR_SOCKET_BAD_PORT for an invalid port. */
  connect(options: ConnectOptions): TcpStream
  /** Streams come half-open capable, as http.Server wants them. Throws EADDRINUSE when the port is taken. */
  listen(options: ListenOptions, onStream: (stream: TcpStream) => void): { port: number; close(): void }
  /** Round trip in milliseconds; rejects with ETIMEDOUT. */
  ping(host: string, options?: { timeoutMs?: number }): Promise<number>
  /** Resets every connection and stops the timer. Later calls fail with ERR_STACK_CLOSED. */
  close(): void
}

export function createStack(options: StackOptions): Stack {
  const address = parseAddress(options.address)
  if (address === undefined || !isUnicast(address))
    throw socketError('ERR_INVALID_IP_ADDRESS', 'createStack', { address: options.address })
  const mtu = options.mtu ?? DEFAULT_MTU
  if (!Number.isInteger(mtu) || mtu < MIN_MTU || mtu > MAX_MTU)
    throw new RangeError(`mtu must be ${MIN_MTU} to ${MAX_MTU}, not ${mtu}`)

  const secret = randomBytes(32)
  const keyedHash = (bytes: Uint8Array): number => createHmac('sha256', secret).update(bytes).digest().readUInt32BE(0)
  const core = new Core({ address, mtu, keyedHash, isAuthenticated: options.isAuthenticated ?? false, allocateSlab })
  const handlers = new Map<number, (stream: TcpStream) => void>()
  const pings = new Map<number, { host: number; answered(): void; failed(error: Error): void }>()
  let events: Output[] = []
  let immediate: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined
  let timerAt = Infinity
  let isClosed = false
  let turnedAt = performance.now()
  /** Packets since the last turn, and since the last check whether one is due. */
  let arrived = 0
  let arrivedLately = 0

  const now = (): number => performance.now()
  const driver = {
    schedule,
    now,
    abort: (connection: Parameters<Core['abort']>[0]) => dispatch(core.abort(connection)),
  }

  function schedule(): void {
    if (!isClosed) immediate ??= setImmediate(runTurn)
  }

  /** Packets leave at once, in order; events wait for the turn, so that no handler runs inside `receive`. */
  function dispatch(outputs: Output[]): void {
    for (const output of outputs) {
      if (output.type === 'packet') options.send(output.packet)
      else if (output.type === 'drop') options.onDrop?.(output.reason)
      else events.push(output)
    }
    if (events.length > 0) schedule()
  }

  function runTurn(): void {
    immediate = undefined
    if (arrivedLately >= FULL_POLL_PACKETS && arrived < MAX_TURN_PACKETS) {
      // The socket holds more packets: packets received together are acknowledged and delivered together.
      arrivedLately = 0
      schedule()
      return
    }
    arrived = arrivedLately = 0
    const startedAt = now()
    const extraUntil = startedAt + Math.min(EXTRA_ROUNDS_MAX_MS, TURN_SHARE * (startedAt - turnedAt))
    for (let round = 1; ; round++) {
      deliver()
      if (isClosed) return
      dispatch(core.tick(now()))
      core.reusePackets()
      if (events.length > 0 && round < ROUNDS_PER_TURN) continue
      const isMore = events.length > 0 || core.nextDeadline() === -Infinity
      if (!isMore || now() >= extraUntil) break
    }
    turnedAt = now()
    const deadline = core.nextDeadline()
    if (events.length > 0 || deadline === -Infinity) schedule()
    else if (deadline !== undefined) arm(deadline)
  }

  /** A handler that throws ends the turn, but not the later events. */
  function deliver(): void {
    const batch = events
    events = []
    let next = 0
    try {
      while (next < batch.length) deliverOne(batch[next++]!)
      next = Infinity
    } finally {
      if (next !== Infinity) {
        events = [...batch.slice(next), ...events]
        schedule()
      }
    }
  }

  function deliverOne(event: Output): void {
    if (event.type === 'echo-reply') {
      const ping = pings.get(event.identifier)
      if (ping?.host === event.from) ping.answered()
      return
    }
    if (event.type === 'packet' || event.type === 'drop') return
    const { connection } = event
    if (event.type === 'accepted') {
      const handler = handlers.get(connection.localPort)
      if (handler === undefined) return dispatch(core.abort(connection))
      const stream = new TcpStream(driver, {
        localAddress: options.address,
        remoteAddress: formatAddress(connection.remoteAddress),
        remotePort: connection.remotePort,
        connecting: false,
        allowHalfOpen: true,
      })
      stream.attach(connection)
      stream.beginReading()
      handler(stream)
      return
    }
    const stream = connection.owner
    if (!(stream instanceof TcpStream)) return
    if (event.type === 'connected') stream.handleConnected()
    else if (event.type === 'readable') stream.handleReadable()
    else if (event.type === 'writable') stream.handleWritable()
    else stream.handleClosed(event.error)
  }

  function arm(deadline: number): void {
    if (deadline >= timerAt) return
    clearTimeout(timer)
    timerAt = deadline
    timer = setTimeout(
      () => {
        timerAt = Infinity
        schedule()
      },
      Math.min(Math.max(Math.ceil(deadline - now()), 0), 0x7fffffff),
    )
    timer.unref()
  }

  function checkPort(port: number, lowest: number): void {
    if (Number.isInteger(port) && port >= lowest && port <= 65_535) return
    throw Object.assign(new RangeError(`port must be ${lowest} to 65535, not ${port}`), { code: 'ERR_SOCKET_BAD_PORT' })
  }

  function connect(target: ConnectOptions): TcpStream {
    checkPort(target.port, 1)
    const stream = new TcpStream(driver, {
      localAddress: options.address,
      remoteAddress: target.host,
      remotePort: target.port,
      connecting: true,
      allowHalfOpen: target.allowHalfOpen ?? false,
    })
    const fail = (code: Parameters<typeof socketError>[0]): TcpStream =>
      stream.destroy(socketError(code, 'connect', { address: target.host, port: target.port }))
    if (target.signal?.aborted === true) return stream.destroy(abortError(target.signal))
    if (isClosed) return fail('ERR_STACK_CLOSED')
    const host = parseAddress(target.host)
    if (host === undefined) return fail('ERR_INVALID_IP_ADDRESS')
    if (!isUnicast(host) || host === address) return fail('EHOSTUNREACH')
    const connection = core.connect(host, target.port, now())
    if (connection === undefined) return fail('EADDRNOTAVAIL')
    stream.attach(connection)
    bound(stream, target, () => fail('ETIMEDOUT'))
    schedule()
    return stream
  }

  return {
    address: options.address,

    receive(packet) {
      if (isClosed) return
      arrived++
      arrivedLately++
      dispatch(core.receive(packet, now()))
      schedule()
    },

    connect,

    listen({ port, backlog }, onStream) {
      checkPort(port, 0)
      if (isClosed) throw socketError('ERR_STACK_CLOSED', 'listen', { address: options.address, port })
      const listener = core.listen(port, backlog)
      if (listener === undefined) throw socketError('EADDRINUSE', 'listen', { address: options.address, port })
      handlers.set(listener.port, onStream)
      return {
        port: listener.port,
        close() {
          if (handlers.get(listener.port) === onStream) handlers.delete(listener.port)
          dispatch(core.unlisten(listener))
        },
      }
    },

    ping(host, { timeoutMs = DEFAULT_PING_TIMEOUT_MS } = {}) {
      const target = parseAddress(host)
      if (isClosed) return Promise.reject(socketError('ERR_STACK_CLOSED', 'ping', { address: host }))
      if (target === undefined) return Promise.reject(socketError('ERR_INVALID_IP_ADDRESS', 'ping', { address: host }))
      return new Promise((resolve, reject) => {
        let identifier = randomInt(65_536)
        while (pings.has(identifier)) identifier = (identifier + 1) % 65_536
        const startedAt = now()
        const settle = (finish: () => void): void => {
          clearTimeout(timeout)
          pings.delete(identifier)
          finish()
        }
        const timeout = setTimeout(
          () => settle(() => reject(socketError('ETIMEDOUT', 'ping', { address: host }))),
          timeoutMs,
        )
        const answered = (): void => settle(() => resolve(now() - startedAt))
        pings.set(identifier, { host: target, answered, failed: (error) => settle(() => reject(error)) })
        dispatch(core.ping(target, identifier, 1))
      })
    },

    close() {
      if (isClosed) return
      dispatch(core.close())
      isClosed = true
      handlers.clear()
      clearImmediate(immediate)
      clearTimeout(timer)
      deliver()
      for (const ping of pings.values()) ping.failed(socketError('ERR_STACK_CLOSED', 'ping'))
    },
  }
}

/** Not zeroed first, because all of it is written before it is read. */
const allocateSlab = (length: number): Uint8Array => new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)

/** Limits a handshake by time and by signal; the signal also applies while the stream is open. */
function bound(stream: TcpStream, { signal, timeoutMs }: ConnectOptions, onTimeout: () => void): void {
  if (timeoutMs !== undefined) {
    const timeout = setTimeout(onTimeout, timeoutMs)
    timeout.unref()
    const clear = (): void => clearTimeout(timeout)
    stream.once('connect', clear)
    stream.once('close', clear)
  }
  if (signal === undefined) return
  const onAbort = (): void => void stream.destroy(abortError(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  stream.once('close', () => signal.removeEventListener('abort', onAbort))
}

const abortError = (signal: AbortSignal): Error =>
  Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  })
