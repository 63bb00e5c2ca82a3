/**
 * A connection whose requests the front reads itself while they are plain (`head.ts`) and served by exchanges:
 * node:http costs more for each. The first other request, and whatever follows it, goes to node:http,
 * byte for byte.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { endConnection } from '../ending.ts'
import type { Exchange } from '../exchange.ts'
import { PlainExchange } from './exchange.ts'
import { readPlainHead, type PlainHead } from './head.ts'

export type PlainServer = {
  owns(head: { host: string; method: string; url: string }): boolean
  /** Serves a request, or refuses it because its source has too many. Returns the function to call at its end. */
  serve(exchange: Exchange): (() => void) | undefined
  contain(socket: Duplex, task: () => void): void
  /** Gives the connection to node:http. Nothing has been read from it that it does not get. */
  leave(socket: Duplex): void
  /** Nothing new is to be served. */
  isClosing(): boolean
  /** For the first request to arrive. */
  headersMs: number
  /** Without traffic, while an exchange is under way. */
  idleMs: number
  /** Between two exchanges; not shorter than `idleMs`. */
  keepAliveMs: number
  lingerMs: number
}

/** What a client may send ahead of its answers. No browser sends anything. */
const MAX_AHEAD_BYTES = 64 * 1024

export class PlainConnection {
  readonly #socket: Duplex
  readonly #server: PlainServer
  #exchange: PlainExchange | undefined
  #over: (() => void) | undefined
  /** The rest of the body under way. */
  #left = 0
  /** Arrived, and not read yet. */
  #ahead: Buffer | undefined
  /** Which limit it has: that of its first request, `idleMs`, or the rest of `keepAliveMs`. */
  #limit: 'first' | 'idle' | 'keep-alive' = 'first'
  #hasLeft = false

  constructor(socket: Duplex, server: PlainServer) {
    this.#socket = socket
    this.#server = server
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('close', this.#onClose)
    const timed = socket as Socket
    timed.on('timeout', this.#onTimeout)
    timed.setTimeout(server.headersMs)
  }

  /** Ends the connection when no answer is due on it. */
  endIdle(): void {
    if (!this.#hasLeft && !this.#exchange) this.#socket.destroy()
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#server.contain(this.#socket, () => this.#take(bytes))
  }

  readonly #onDrain = (): void => {
    const exchange = this.#exchange
    if (exchange) this.#server.contain(this.#socket, () => exchange.emitDrained())
  }

  /** As node:http: a client that ends its half wants nothing more. */
  readonly #onEnd = (): void => {
    if (this.#exchange) this.#socket.destroy()
    else this.#socket.end()
  }

  readonly #onClose = (): void => {
    const exchange = this.#exchange
    if (!exchange) return
    this.#server.contain(this.#socket, () => exchange.emitClosed())
  }

  readonly #onTimeout = (): void => {
    const { idleMs, keepAliveMs } = this.#server
    const isWorking = this.#exchange !== undefined && this.#socket.writableLength === 0
    if (isWorking) (this.#socket as Socket).setTimeout(idleMs)
    // The rest of its time between two exchanges: setting a new timer for each would cost more.
    else if (!this.#exchange && this.#limit === 'idle' && keepAliveMs > idleMs) {
      this.#limit = 'keep-alive'
      ;(this.#socket as Socket).setTimeout(keepAliveMs - idleMs)
    } else this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0 && !this.#socket.destroyed) {
      if (this.#left > 0 && this.#exchange?.isReading) rest = this.#takeBody(rest)
      else if (this.#exchange) return this.#keep(rest)
      else {
        const head = readPlainHead(rest)
        if (!head || !this.#owns(head)) return this.#leave(rest)
        rest = rest.subarray(head.end)
        this.#serve(head)
      }
    }
  }

  #owns({ method, url, fields: { host } }: PlainHead): boolean {
    return this.#server.owns({ host, method, url })
  }

  #takeBody(bytes: Buffer): Buffer {
    const exchange = this.#exchange!
    const end = Math.min(bytes.length, this.#left)
    this.#left -= end
    exchange.emitBody(end === bytes.length ? bytes : bytes.subarray(0, end), this.#left === 0)
    return bytes.subarray(end)
  }

  #keep(bytes: Buffer): void {
    this.#ahead = this.#ahead === undefined ? bytes : Buffer.concat([this.#ahead, bytes])
    if (this.#left > 0) this.#socket.pause()
    else if (this.#ahead.length > MAX_AHEAD_BYTES) this.#socket.destroy()
  }

  #serve(head: PlainHead): void {
    if (this.#limit !== 'idle') {
      this.#limit = 'idle'
      ;(this.#socket as Socket).setTimeout(this.#server.idleMs)
    }
    this.#left = head.fields.bodyBytes
    const exchange = new PlainExchange(this.#socket as Socket, head, {
      isLast: head.fields.isLast || this.#server.isClosing(),
      onReading: () => this.#server.contain(this.#socket, () => this.#readOn()),
      onOver: (isLast) => this.#end(exchange, isLast),
    })
    this.#exchange = exchange
    this.#over = this.#server.serve(exchange)
  }

  /** What has waited for its reader, or for the end of the exchange before it. */
  #readOn(): void {
    const ahead = this.#ahead
    this.#ahead = undefined
    this.#socket.resume()
    if (ahead) this.#take(ahead)
  }

  #end(exchange: PlainExchange, isLast: boolean): void {
    if (this.#exchange !== exchange) return
    const over = this.#over
    this.#over = undefined
    over?.()
    if (this.#socket.destroyed) return
    if (isLast || this.#server.isClosing()) return this.#endConnection()
    this.#exchange = undefined
    if (this.#ahead || this.#socket.isPaused()) this.#readOn()
  }

  /** Whatever arrives from now on is dropped. */
  #endConnection(): void {
    this.#stop()
    endConnection(this.#socket, '', this.#server.lingerMs)
  }

  #leave(bytes: Buffer): void {
    this.#hasLeft = true
    this.#stop()
    this.#socket.unshift(bytes)
    this.#server.leave(this.#socket)
  }

  #stop(): void {
    const socket = this.#socket as Socket
    socket.off('data', this.#onData).off('end', this.#onEnd).off('drain', this.#onDrain)
    socket.off('close', this.#onClose).off('timeout', this.#onTimeout)
  }
}
