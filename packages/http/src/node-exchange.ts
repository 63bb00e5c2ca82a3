import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AnswerHead } from './answer-head.ts'
import { addTrailers, sendEarlyHints } from './around-answers.ts'
import { SMALL_BODY_BYTES, type Exchange, type ExchangeUser } from './exchange.ts'

/** A request that node:http has read, as an exchange. */
export class NodeExchange implements Exchange {
  readonly hasBody: boolean
  readonly isChunked: boolean
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  /** The beginning of the answer, until it leaves. */
  #head: AnswerHead | undefined
  #firstBody: Buffer | undefined
  /** Begins to read the body, once. */
  #read: (() => void) | undefined

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
    this.isChunked = request.headers['transfer-encoding'] !== undefined
    this.hasBody = this.isChunked || Number(request.headers['content-length'] ?? 0) > 0
  }

  get method() {
    return this.#request.method
  }

  get url() {
    return this.#request.url
  }

  get headers() {
    return this.#request.headers
  }

  get rawHeaders() {
    return this.#request.rawHeaders
  }

  get socket() {
    return this.#request.socket
  }

  get complete(): boolean {
    return this.#request.complete
  }

  get isSent(): boolean {
    return this.#response.headersSent
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded
  }

  begin(user: ExchangeUser): void {
    const [request, response] = [this.#request, this.#response]
    let isOver = false
    function settle(): void {
      if (isOver || !response.closed || !(request.complete || request.destroyed)) return
      isOver = true
      user.onOver()
    }
    request.on('error', () => {})
    response.on('error', () => {})
    request.once('end', settle)
    request.once('close', settle)
    response.on('drain', () => user.onRoom())
    response.once('close', () => {
      user.onAnswered(response.writableFinished)
      settle()
    })
    if (!this.hasBody) return
    this.#read = () => {
      request.on('data', (chunk: Buffer) => user.onUpload(chunk))
      request.once('end', () => user.onUploaded(request.rawTrailers))
    }
  }

  pause(): void {
    this.#request.pause()
  }

  resume(): void {
    this.#read?.()
    this.#read = undefined
    this.#request.resume()
  }

  sendEarlyHints(headers: readonly string[]): void {
    sendEarlyHints(this.#response, headers)
  }

  start(head: AnswerHead): void {
    this.#head = head
    this.#firstBody = undefined
  }

  write(bytes: Buffer): boolean {
    if (this.#head && !this.#firstBody) {
      this.#firstBody = bytes
      return true
    }
    this.flush()
    return this.#response.write(bytes)
  }

  flush(): boolean {
    const [head, firstBody] = [this.#head, this.#firstBody]
    this.#head = this.#firstBody = undefined
    if (!head) return !this.#response.writableNeedDrain
    this.#response.writeHead(head.status, head.reason, [...head.headers])
    if (firstBody) return this.#response.write(firstBody)
    this.#response.flushHeaders()
    return true
  }

  end(trailers: readonly string[] = []): void {
    addTrailers(this.#response, trailers)
    const [head, firstBody] = [this.#head, this.#firstBody]
    if (head && (firstBody?.length ?? 0) <= SMALL_BODY_BYTES) {
      this.#head = this.#firstBody = undefined
      this.#response.writeHead(head.status, head.reason, [...head.headers])
      // Node joins a head with a string and not with a buffer.
      this.#response.end(firstBody?.toString('latin1'), 'latin1')
    } else {
      this.flush()
      this.#response.end()
    }
  }

  cut(): void {
    this.#request.socket.destroy()
  }
}
