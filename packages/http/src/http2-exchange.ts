import type { ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { AnswerReader } from './answer-reader.ts'
import { LINGER_MS } from './ending.ts'
import { headerPairs, valuesOf } from './forwarding.ts'

/** Fields of one HTTP/1.1 connection, which HTTP/2 forbids (RFC 9113 §8.2.2). */
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
const METHOD = /^[A-Z]{1,24}$/
const TARGET = /^[\x21-\x7e]+$/
const AUTHORITY = /^[\x21-\x7e]*$/
const FIELD_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/
/** Node's own limit for HTTP/1.1. */
export const MAX_HEAD_BYTES = 16 * 1024

/** With which a stream is reset (RFC 9113 §7). */
export const ERROR_CODES = { noError: 0x0, protocolError: 0x1, internalError: 0x2, http1Required: 0xd } as const

/** A stream's request as the head of an HTTP/1.1 request. */
export type StreamHead = { method: string; bytes: string; body: 'none' | 'length' | 'chunked' }

/** Undefined when HTTP/1.1 cannot express the request. `raw` is the list of all fields, with the pseudo-fields. */
export function headOf(raw: readonly string[], hasBody: boolean): StreamHead | undefined {
  const pseudo = new Map<string, string>()
  const lines: string[] = []
  const cookies: string[] = []
  let host: string | undefined
  let isLengthKnown = false
  for (const [name, value] of headerPairs(raw)) {
    if (!FIELD_TEXT.test(value)) return undefined
    if (name.startsWith(':')) pseudo.set(name, value)
    else if (name === 'host') host = value
    // Several fields become one again (RFC 9113 §8.2.3).
    else if (name === 'cookie') cookies.push(value)
    else if (!OF_THE_CONNECTION.has(name)) {
      if (name === 'content-length') isLengthKnown = true
      lines.push(`${name}: ${value}`)
    }
  }
  const [method = '', path = ''] = [pseudo.get(':method'), pseudo.get(':path')]
  const authority = pseudo.get(':authority') ?? host ?? ''
  if (!METHOD.test(method) || method === 'CONNECT' || !TARGET.test(path) || !AUTHORITY.test(authority)) return undefined
  if (host !== undefined && host !== authority) return undefined
  if (cookies.length > 0) lines.push(`cookie: ${cookies.join('; ')}`)
  const body = isLengthKnown ? 'length' : hasBody ? 'chunked' : 'none'
  if (body === 'chunked') lines.push('transfer-encoding: chunked')
  const first = [`${method} ${path} HTTP/1.1`, `host: ${authority}`, 'connection: close']
  return { method, body, bytes: `${[...first, ...lines].join('\r\n')}\r\n\r\n` }
}

/**
 * One HTTP/2 stream as a connection that carries one HTTP/1.1 request: the server behind it has one way to serve, to
 * bound and to end a request. Destroying it resets the stream and nothing else.
 */
export class Http2Exchange extends Duplex {
  /** As on a TLS socket. */
  readonly encrypted = true
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly localAddress: string | undefined
  readonly #stream: ServerHttp2Stream
  readonly #reader: AnswerReader
  readonly #method: string
  #trailers: readonly string[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(stream: ServerHttp2Stream, socket: TLSSocket, { method, bytes, body }: StreamHead) {
    super()
    this.remoteAddress = socket.remoteAddress
    this.remotePort = socket.remotePort
    this.localAddress = socket.localAddress
    this.#stream = stream
    this.#method = method
    this.#reader = new AnswerReader(
      { method },
      {
        onHead: ({ status, headers }) => this.#respond(status, headers),
        onBody: (part) => void stream.write(part),
        onEnd: (trailers) => {
          this.#trailers = trailers
          stream.end()
        },
        onEarlyHints: (headers) => stream.additionalHeaders({ ':status': 103, link: valuesOf(headers, 'link') }),
      },
    )
    this.push(bytes, 'latin1')
    const isChunked = body === 'chunked'
    stream.on('data', (chunk: Buffer) => {
      this.#refresh()
      if (chunk.length === 0 || this.destroyed) return
      if (isChunked) this.push(`${chunk.length.toString(16)}\r\n`)
      let hasRoom = this.push(chunk)
      if (isChunked) hasRoom = this.push('\r\n')
      if (!hasRoom) stream.pause()
    })
    stream.once('end', () => {
      if (isChunked && !this.destroyed) this.push('0\r\n\r\n')
    })
    stream.on('error', () => {})
    stream.once('close', () => this.destroy())
    stream.on('wantTrailers', () => {
      const byName: Record<string, string> = {}
      for (const [name, value] of headerPairs(this.#trailers)) byName[name.toLowerCase()] = value
      stream.sendTrailers(byName)
    })
  }

  #respond(status: number, raw: readonly string[]): void {
    const sent = [':status', String(status)]
    let isChunked = false
    let isEmpty = this.#method === 'HEAD' || status === 204 || status === 304
    for (const [name, value] of headerPairs(raw)) {
      const lower = name.toLowerCase()
      if (lower === 'transfer-encoding') isChunked = true
      if (lower === 'content-length' && value === '0') isEmpty = true
      if (!OF_THE_CONNECTION.has(lower)) sent.push(lower, value)
    }
    this.#stream.respond(sent, { endStream: isEmpty, waitForTrailers: isChunked && !isEmpty })
  }

  override _read(): void {
    this.#stream.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#refresh()
    const stream = this.#stream
    if (stream.closed || stream.destroyed) return done(new Error('the stream is closed'))
    try {
      if (!this.#reader.isComplete) this.#reader.read(chunk)
    } catch (error) {
      // A browser repeats over HTTP/1.1, which allows more: a longer head, for example.
      const mayRepeat = !stream.headersSent && (this.#method === 'GET' || this.#method === 'HEAD')
      stream.close(mayRepeat ? ERROR_CODES.http1Required : ERROR_CODES.internalError)
      return done(error as Error)
    }
    if (!stream.writableNeedDrain) return done()
    const over = (): void => {
      stream.off('drain', over).off('close', over)
      this.#refresh()
      done()
    }
    stream.on('drain', over).on('close', over)
  }

  override _final(done: () => void): void {
    const stream = this.#stream
    try {
      if (!this.#reader.isComplete) this.#reader.end()
    } catch {
      stream.close(ERROR_CODES.internalError)
    }
    const over = (): void => {
      this.push(null)
      done()
    }
    // Until the client has taken all, this has a deadline.
    if (stream.writableFinished || stream.closed) over()
    else stream.once('finish', over)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer)
    if (!this.#stream.closed) this.#leave()
    done(error)
  }

  /**
   * A complete answer may still be on its way, and so may the end of an upload: Chromium treats an earlier reset as a
   * failure. After this time the rest of the upload is refused (RFC 9113 §8.1).
   */
  #leave(): void {
    const stream = this.#stream
    const isWhole = this.#reader.isComplete && this.writableLength === 0
    if (!isWhole) return stream.close(ERROR_CODES.internalError)
    if (stream.writableFinished && stream.readableEnded) return
    const giveUp = () => stream.close(stream.writableFinished ? ERROR_CODES.noError : ERROR_CODES.internalError)
    const timer = setTimeout(giveUp, LINGER_MS)
    stream.once('close', () => clearTimeout(timer))
    stream.resume()
  }

  /** As on a socket: emits 'timeout' after this long without a byte either way. */
  setTimeout(ms: number, onTimeout?: () => void): this {
    clearTimeout(this.#timer)
    if (onTimeout) this.once('timeout', onTimeout)
    this.#timer = ms > 0 && !this.destroyed ? setTimeout(() => this.emit('timeout'), ms).unref() : undefined
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  #refresh(): void {
    this.#timer?.refresh()
  }
}
