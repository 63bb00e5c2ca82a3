/**
 * Carries one HTTP exchange between a browser and a gateway, streaming both ways: each side is read only as fast as the
 * other reads, and the end of one ends the other. What arrives together is written together: a small answer leaves in
 * one piece. Called by gateway-proxy.ts once a request is allowed.
 */
import {
  AnswerReader,
  fieldLines,
  forwardedRequestTrailers,
  valuesOf,
  type AnswerHead,
  type AnswerParts,
  type Exchange,
  type ExchangeUser,
} from '@hedgerow/http'
import { GatewayTimeout } from './failures.ts'
import type { ConnectionUser, GatewayConnection, Pool } from './gateway-connections.ts'
import type { OpenExchange } from './open-visits.ts'
import { requestHead } from './request-head.ts'

/** How long a gateway may make no progress: no byte of the upload read, no answer begun. */
export const PROGRESS_TIMEOUT_MS = 60_000
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
/** Events, and pictures of a camera that replace each other. */
const ENDLESS = /^(?:text\/event-stream|multipart\/x-mixed-replace)\b/i
const SAFE_TO_REPEAT = new Set(['GET', 'HEAD', 'OPTIONS'])

export type Passage = {
  pool: Pool
  /** The header lines for the gateway. */
  lines: string
  /** Turns the gateway's head into the browser's. */
  translate(head: AnswerHead): AnswerHead
  progressTimeoutMs: number
  /** Runs `task`; an error ends only this exchange's connection. */
  contain(task: () => void): void
  /** The gateway gave no usable answer; the browser has received nothing yet. */
  onUnreachable(reason: Error): void
  /** Called once, when the whole exchange has ended. */
  onOver(): void
}

export function proxyRequest(exchange: Exchange, passage: Passage): OpenExchange {
  const proxied = new ProxiedExchange(exchange, passage)
  proxied.start()
  return proxied
}

class ProxiedExchange implements OpenExchange, ConnectionUser, AnswerParts, ExchangeUser {
  readonly #exchange: Exchange
  readonly #passage: Passage
  readonly #request: string
  readonly #reader: AnswerReader
  readonly #timer: NodeJS.Timeout
  #connection: GatewayConnection | undefined
  #withdraw = (): void => {}
  #mayRepeat: boolean
  #isUploaded: boolean
  /** Of the gateway's answer, once it has begun. */
  #head: AnswerHead | undefined
  #isAnswered = false

  constructor(exchange: Exchange, passage: Passage) {
    this.#exchange = exchange
    this.#passage = passage
    const { method = 'GET', url = '/', hasBody, isChunked } = exchange
    let framing = ''
    if (isChunked) framing = 'Transfer-Encoding: chunked\r\n'
    else if (!hasBody && !WITHOUT_BODY.has(method) && exchange.headers['content-length'] === undefined)
      framing = 'Content-Length: 0\r\n'
    this.#request = requestHead(method, url, passage.lines + framing)
    this.#mayRepeat = !hasBody && SAFE_TO_REPEAT.has(method)
    this.#isUploaded = !hasBody
    this.#reader = new AnswerReader({ method }, this)
    this.#timer = setTimeout(
      () => passage.contain(() => this.#fail(new GatewayTimeout({ isBusy: this.#connection === undefined }))),
      passage.progressTimeoutMs,
    )
  }

  start(): void {
    this.#exchange.begin(this)
    this.#withdraw = this.#passage.pool.take(this)
  }

  cut(): void {
    this.#leaveConnection()
    this.#exchange.cut()
  }

  isEndless(): boolean {
    return valuesOf(this.#head?.headers ?? [], 'content-type').some((type) => ENDLESS.test(type))
  }

  #leaveConnection(): void {
    this.#withdraw()
    this.#connection?.destroy()
    this.#connection = undefined
  }

  #fail(reason: Error): void {
    clearTimeout(this.#timer)
    this.#leaveConnection()
    const exchange = this.#exchange
    // The rest of an upload is read and dropped, so that the browser reads the answer.
    exchange.resume()
    if (!exchange.isOpen) return
    if (exchange.isSent) exchange.cut()
    else this.#passage.onUnreachable(reason)
  }

  /** The exchange is over for the connection: it carries the next, if it can. */
  #giveBack(): void {
    const connection = this.#connection
    if (!connection) return
    if (!this.#reader.isReusable) return this.#leaveConnection()
    this.#connection = undefined
    connection.release(this.#reader.keepAliveSeconds)
  }

  /** Whether the gateway closed an idle connection as this request was sent: then it never saw the request. */
  #repeat(): boolean {
    if (!this.#mayRepeat || !this.#connection?.isReused || this.#exchange.isSent || !this.#exchange.isOpen) return false
    this.#leaveConnection()
    this.#mayRepeat = false
    this.#withdraw = this.#passage.pool.take(this, { fresh: true })
    return true
  }

  // Of the connection to the gateway.

  onConnection(connection: GatewayConnection): void {
    this.#connection = connection
    connection.write(this.#request)
    if (this.#exchange.hasBody) this.#passage.contain(() => this.#exchange.resume())
  }

  onBytes(bytes: Buffer): void {
    this.#mayRepeat = false
    this.#passage.contain(() => {
      if (this.#isAnswered) return this.#leaveConnection()
      try {
        this.#reader.read(bytes)
      } catch (error) {
        return this.#fail(error as Error)
      }
      this.#passOn()
    })
  }

  /** Passes on what was read, and pauses the gateway while the browser is slower. */
  #passOn(): void {
    if (!this.#isAnswered) {
      if (this.#head && !this.#exchange.flush()) this.#connection?.pause()
    } else if (this.#isUploaded) this.#giveBack()
  }

  onHalfClose(): void {
    if (this.#isAnswered) return this.#leaveConnection()
    if (this.#repeat()) return
    this.#passage.contain(() => {
      try {
        this.#reader.end()
      } catch {
        return this.#fail(new Error('the gateway closed the connection before its answer was complete'))
      }
      this.#passOn()
    })
  }

  onClose(error: Error | undefined): void {
    if (this.#isAnswered || this.#repeat()) return
    this.#passage.contain(() => this.#fail(error ?? new Error('the gateway gave no answer')))
  }

  onDrain(): void {
    this.#exchange.resume()
  }

  // Of the gateway's answer.

  onHead(head: AnswerHead): void {
    clearTimeout(this.#timer)
    this.#head = head
    this.#exchange.start(this.#passage.translate(head))
  }

  onBody(bytes: Buffer): void {
    if (!this.#exchange.write(bytes)) this.#connection?.pause()
  }

  onEnd(trailers: readonly string[]): void {
    this.#isAnswered = true
    this.#exchange.end(trailers)
  }

  onEarlyHints(headers: readonly string[]): void {
    this.#exchange.sendEarlyHints(headers)
  }

  // Of the browser's side.

  onUpload(chunk: Buffer): void {
    const connection = this.#connection
    if (!connection) return
    if (!this.#head) this.#timer.refresh()
    const { isChunked } = this.#exchange
    if (isChunked) connection.write(`${chunk.length.toString(16)}\r\n`)
    let hasRoom = connection.write(chunk)
    if (isChunked) hasRoom = connection.write('\r\n')
    if (!hasRoom) this.#exchange.pause()
  }

  onUploaded(trailers: readonly string[]): void {
    this.#isUploaded = true
    if (this.#exchange.isChunked) this.#connection?.write(`0\r\n${fieldLines(forwardedRequestTrailers(trailers))}\r\n`)
    if (this.#isAnswered) this.#giveBack()
  }

  onRoom(): void {
    this.#connection?.resume()
  }

  onAnswered(isWhole: boolean): void {
    if (!isWhole) this.#leaveConnection()
  }

  onOver(): void {
    clearTimeout(this.#timer)
    this.#passage.onOver()
  }
}
