import { Duplex } from 'node:stream'
import type { Connection } from '../connection.ts'
import type { ConnectionError } from '../host.ts'
import { type SocketError, errorCodeOf, socketError } from './socket-error.ts'

/** The stack's side of a stream. */
export interface StreamDriver {
  /** The connection has something to send or a new deadline. */
  schedule(): void
  /** Resets the connection. */
  abort(connection: Connection): void
  now(): number
}

export interface TcpStreamOptions {
  localAddress: string
  remoteAddress: string
  remotePort: number
  connecting: boolean
  allowHalfOpen: boolean
}

type WriteCallback = (error?: Error | null) => void

/** The most bytes of one push; it covers everything that arrived in a turn. */
const READ_BYTES = 65_536
const SMALL_READ_BYTES = 512
/** The memory that a stream keeps after a small read. */
const BLOCK_BYTES = 2_048
const NO_BLOCK = new ArrayBuffer(0)
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * A connection as a Duplex that behaves as `net.Socket` does where HTTP needs it. A write is complete when its bytes
 * are copied into the connection's send buffer, and waits while that is full; reading stops taking from the connection
 * while nobody reads, and then the receive window closes.
 */
export class TcpStream extends Duplex {
  readonly localAddress: string
  localPort: number | undefined
  readonly localFamily = 'IPv4'
  readonly remoteAddress: string
  readonly remotePort: number
  readonly remoteFamily = 'IPv4'
  connecting: boolean
  bytesRead = 0
  timeout = 0
  readonly #driver: StreamDriver
  #connection: Connection | undefined
  /** Bytes that `_write` was called with, and those of them whose write is not complete. */
  #bytesTaken = 0
  #bytesInWrite = 0
  /** Bytes that the send buffer had no room for. */
  #pending: { chunks: Uint8Array[]; done: WriteCallback } | undefined
  #wantsRead = false
  /** Memory for small reads, and how much of it is taken. */
  #block = NO_BLOCK
  #blockTaken = 0
  #timer: NodeJS.Timeout | undefined

  constructor(driver: StreamDriver, options: TcpStreamOptions) {
    super({ allowHalfOpen: options.allowHalfOpen, autoDestroy: true, emitClose: true, decodeStrings: true })
    this.#driver = driver
    this.localAddress = options.localAddress
    this.remoteAddress = options.remoteAddress
    this.remotePort = options.remotePort
    this.connecting = options.connecting
  }

  /** Bytes given to `write`, sent or not. */
  get bytesWritten(): number {
    return this.#bytesTaken + this.writableLength - this.#bytesInWrite
  }

  get pending(): boolean {
    return this.connecting
  }

  get readyState(): 'opening' | 'open' | 'readOnly' | 'writeOnly' | 'closed' {
    if (this.connecting) return 'opening'
    if (this.readable) return this.writable ? 'open' : 'readOnly'
    return this.writable ? 'writeOnly' : 'closed'
  }

  /**
   * Emits 'timeout' after this long without traffic, once per idle period; 0 switches it off. The caller decides what
   * to do. Throws ERR_OUT_OF_RANGE for a time that no timer supports, which `setTimeout` would treat as a millisecond.
   */
  setTimeout(timeoutMs: number, callback?: () => void): this {
    if (!(timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS))
      throw Object.assign(new RangeError(`timeout must be 0 to ${MAX_TIMEOUT_MS} ms, not ${timeoutMs}`), {
        code: 'ERR_OUT_OF_RANGE',
      })
    this.timeout = timeoutMs
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (timeoutMs === 0) {
      if (callback !== undefined) this.removeListener('timeout', callback)
      return this
    }
    if (callback !== undefined) this.once('timeout', callback)
    if (this.destroyed) return this
    this.#timer = setTimeout(() => this.emit('timeout'), timeoutMs)
    this.#timer.unref()
    return this
  }

  /** Small segments are not held back for more unless asked for with `false` (RFC 9293 §3.7.4). */
  setNoDelay(noDelay = true): this {
    this.#connection?.setNagle(!noDelay)
    this.#driver.schedule()
    return this
  }

  /** Probes an idle peer after `initialDelayMs`, then each second, ten times at most. */
  setKeepAlive(enable = false, initialDelayMs = 0): this {
    if (this.#connection !== undefined) {
      this.#connection.setKeepalive(enable ? initialDelayMs || DEFAULT_KEEPALIVE_MS : undefined, this.#driver.now())
      this.#driver.schedule()
    }
    return this
  }

  /** The tunnel's socket, not its streams, keeps the process alive. */
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  address(): { address: string; family: 'IPv4'; port: number | undefined } {
    return { address: this.localAddress, family: 'IPv4', port: this.localPort }
  }

  /** Ends writing and destroys the stream once everything is written. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  /** Sends a reset instead of a FIN. */
  resetAndDestroy(): this {
    if (this.#connection !== undefined && !this.destroyed) this.#driver.abort(this.#connection)
    return this.destroy()
  }

  /** For the stack: sets the connection of this stream. */
  attach(connection: Connection): void {
    this.#connection = connection
    connection.owner = this
    this.localPort = connection.localPort
  }

  /** For the stack: the handshake is over. */
  handleConnected(): void {
    this.connecting = false
    this.#touch()
    this.emit('connect')
    this.emit('ready')
    this.beginReading()
  }

  /**
   * For the stack: from here on the stream fills its buffer, as a socket does, so that the end is noticed by one that
   * nobody reads.
   */
  beginReading(): void {
    if (!this.isPaused()) this.read(0)
  }

  /** For the stack: there is something to read. */
  handleReadable(): void {
    this.#touch()
    if (this.#wantsRead) this._read()
  }

  /**
   * For the stack: the send buffer has room again. Completes the waiting write in a callback of its own, as a socket
   * does: Node's HTTP holds the writes of one callback until its end, and expects no write to complete meanwhile.
   * Otherwise its 'drain' may never come.
   */
  handleWritable(): void {
    this.#touch()
    if (this.#pending !== undefined) setImmediate(() => this.#resumeWrite())
  }

  #resumeWrite(): void {
    const pending = this.#pending
    if (pending === undefined) return
    this.#pending = undefined
    this.#queue(pending.chunks, pending.done)
  }

  /** For the stack: the connection is gone. Data in order can still be read after a clean end. */
  handleClosed(error: ConnectionError | undefined): void {
    if (this.#wantsRead) this._read()
    if (error === undefined) return
    this.#connection = undefined
    // Our own side ended it: that is no error of the stream, as with destroy().
    if (error === 'aborted') return void this.destroy()
    const syscall = this.connecting ? 'connect' : 'read'
    this.destroy(socketError(errorCodeOf(error), syscall, { address: this.remoteAddress, port: this.remotePort }))
  }

  override _read(): void {
    this.#wantsRead = true
    const connection = this.#connection
    if (connection === undefined) return
    while (this.#wantsRead) {
      const chunks = connection.read(READ_BYTES)
      const [first] = chunks
      if (first === undefined) break
      const chunk =
        chunks.length === 1 && isCompact(first) ? Buffer.from(first.buffer, 0, first.length) : this.#join(chunks)
      this.bytesRead += chunk.length
      this.#touch()
      if (!this.push(chunk)) this.#wantsRead = false
    }
    if (connection.isEnded && !this.readableEnded) {
      this.#wantsRead = false
      this.push(null)
      if (this.readableLength === 0) this.read(0)
    }
    this.#driver.schedule()
  }

  /**
   * Returns memory that only this stream uses: a caller that keeps data, or reads nothing, must hold neither packets
   * nor a part of Buffer's pool. Small reads share a block, because a buffer for each would cost more than the rest of
   * the read.
   */
  #join(chunks: readonly Uint8Array[]): Buffer {
    let length = 0
    for (const chunk of chunks) length += chunk.length
    const joined = length > SMALL_READ_BYTES ? Buffer.allocUnsafeSlow(length) : this.#cut(length)
    let at = 0
    for (const chunk of chunks) {
      joined.set(chunk, at)
      at += chunk.length
    }
    return joined
  }

  #cut(length: number): Buffer {
    if (this.#blockTaken + length > this.#block.byteLength) {
      this.#block = new ArrayBuffer(BLOCK_BYTES)
      this.#blockTaken = 0
    }
    const cut = Buffer.from(this.#block, this.#blockTaken, length)
    this.#blockTaken += length
    return cut
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: WriteCallback): void {
    this.#begin([chunk], done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: WriteCallback): void {
    this.#begin(
      chunks.map(({ chunk }) => chunk),
      done,
    )
  }

  override _final(done: WriteCallback): void {
    if (this.#connection === undefined) return done()
    this.#connection.shutdown()
    this.#driver.schedule()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.connecting = false
    const connection = this.#connection
    this.#connection = undefined
    if (connection !== undefined) {
      connection.owner = undefined
      connection.close(this.#driver.now())
      this.#driver.schedule()
    }
    const pending = this.#pending
    this.#pending = undefined
    pending?.done(error ?? this.#brokenPipe())
    done(error)
  }

  #begin(chunks: Uint8Array[], done: WriteCallback): void {
    for (const chunk of chunks) this.#bytesInWrite += chunk.length
    this.#bytesTaken += this.#bytesInWrite
    this.#queue(chunks, done)
  }

  #queue(chunks: Uint8Array[], done: WriteCallback): void {
    const connection = this.#connection
    if (connection === undefined || connection.state === 'closed') return done(this.#brokenPipe())
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]!
      const taken = connection.send(chunk)
      if (taken < chunk.length) {
        this.#pending = { chunks: [chunk.subarray(taken), ...chunks.slice(i + 1)], done }
        this.#driver.schedule()
        return
      }
    }
    this.#touch()
    this.#driver.schedule()
    this.#bytesInWrite = 0
    done()
  }

  #touch(): void {
    this.#timer?.refresh()
  }

  #brokenPipe(): SocketError {
    return socketError('EPIPE', 'write', { address: this.remoteAddress, port: this.remotePort })
  }
}

/** As Linux: two hours (RFC 9293 §3.8.4). */
const DEFAULT_KEEPALIVE_MS = 7_200_000

/** Whether the chunk starts its ArrayBuffer and fills more than half of it. */
const isCompact = (chunk: Uint8Array): boolean => chunk.byteOffset === 0 && 2 * chunk.length > chunk.buffer.byteLength
