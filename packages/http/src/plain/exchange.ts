import type { Socket } from 'node:net'
import type { AnswerHead } from '../answer-head.ts'
import { forwardedTrailers } from '../around-answers.ts'
import { SMALL_BODY_BYTES, type Exchange, type ExchangeUser } from '../exchange.ts'
import { fieldLines } from '../fields.ts'
import { valuesOf } from '../forwarding.ts'
import type { PlainFields, PlainHead } from './head.ts'

type Connection = {
  /** The client wants no other answer on it. */
  isLast: boolean
  /** Its body can be told from now on. */
  onReading(): void
  /** `isLast`: nothing else may be sent on it. */
  onOver(isLast: boolean): void
}

/** A request that the front has read itself, and its answer, written straight to the connection. */
export class PlainExchange implements Exchange {
  readonly method: string
  readonly url: string
  readonly socket: Socket
  readonly hasBody: boolean
  readonly isChunked = false
  complete: boolean
  isSent = false
  /** For the connection: the body can be told. */
  isReading = false
  readonly #connection: Connection
  readonly #fields: PlainFields
  #user: ExchangeUser | undefined
  /** Of the answer, until it leaves. */
  #out = ''
  #hasAnswerBody = true
  #isAnswerChunked = false
  #isLast: boolean
  #isEnded = false
  #isAnswered = false
  #isOver = false

  constructor(socket: Socket, head: PlainHead, connection: Connection) {
    this.socket = socket
    this.method = head.method
    this.url = head.url
    this.#fields = head.fields
    this.hasBody = head.fields.bodyBytes > 0
    this.complete = !this.hasBody
    this.#isLast = connection.isLast
    this.#connection = connection
  }

  get headers() {
    return this.#fields.byName
  }

  get rawHeaders() {
    return this.#fields.raw
  }

  get isOpen(): boolean {
    return !this.#isEnded && !this.socket.destroyed
  }

  begin(user: ExchangeUser): void {
    this.#user = user
  }

  resume(): void {
    if (this.isReading || !this.hasBody) return void this.socket.resume()
    this.isReading = true
    this.#connection.onReading()
  }

  pause(): void {
    this.socket.pause()
  }

  sendEarlyHints(headers: readonly string[]): void {
    const links = valuesOf(headers, 'link')
    if (links.length === 0 || this.isSent || !this.isOpen) return
    this.socket.write(`HTTP/1.1 103 Early Hints\r\nLink: ${links.join(', ')}\r\n\r\n`, 'latin1')
  }

  start(head: AnswerHead): void {
    const { status } = head
    const { lines, hasLength, hasDate, isClosing } = writtenHead(head)
    let text = lines
    if (!hasDate) text += `Date: ${httpDate()}\r\n`
    // Nobody reads the rest of the request.
    this.#isLast ||= isClosing || (!this.complete && !this.isReading)
    if (this.#isLast && !isClosing) text += 'Connection: close\r\n'
    this.#hasAnswerBody = this.method !== 'HEAD' && status !== 204 && status !== 304
    this.#isAnswerChunked = this.#hasAnswerBody && !hasLength
    if (this.#isAnswerChunked) text += 'Transfer-Encoding: chunked\r\n'
    this.#out = `${text}\r\n`
  }

  write(bytes: Buffer): boolean {
    if (!this.#hasAnswerBody || bytes.length === 0) return true
    const [before, after] = this.#isAnswerChunked ? [`${bytes.length.toString(16)}\r\n`, '\r\n'] : ['', '']
    if (this.#out.length + bytes.length <= SMALL_BODY_BYTES) {
      this.#out += before + bytes.toString('latin1') + after
      return true
    }
    this.isSent = true
    const { socket } = this
    socket.cork()
    const first = this.#out + before
    if (first !== '') socket.write(first, 'latin1')
    socket.write(bytes)
    if (after !== '') socket.write(after, 'latin1')
    socket.uncork()
    this.#out = ''
    return !socket.writableNeedDrain
  }

  flush(): boolean {
    const out = this.#out
    if (out === '') return !this.socket.writableNeedDrain
    this.isSent = true
    this.#out = ''
    return this.socket.write(out, 'latin1')
  }

  end(trailers: readonly string[] = []): void {
    if (this.#isEnded) return
    this.#isEnded = this.isSent = true
    if (this.#isAnswerChunked) this.#out += `0\r\n${fieldLines(forwardedTrailers(trailers))}\r\n`
    const out = this.#out
    this.#out = ''
    // Also without bytes: it is over when the system has taken what was written before.
    this.socket.write(out, 'latin1', this.#onWritten)
  }

  cut(): void {
    this.socket.destroy()
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error) return
    this.#answered(true)
    this.#settle()
  }

  /** For the connection, as all `emit`. */
  emitBody(bytes: Buffer, isLast: boolean): void {
    this.#user?.onUpload(bytes)
    if (!isLast) return
    this.complete = true
    this.#user?.onUploaded([])
    this.#settle()
  }

  emitDrained(): void {
    this.#user?.onRoom()
  }

  emitClosed(): void {
    this.#answered(false)
    this.#finish()
  }

  #answered(isWhole: boolean): void {
    if (this.#isAnswered) return
    this.#isAnswered = this.#isEnded = true
    this.#user?.onAnswered(isWhole)
  }

  /** Without a reader, the rest of the request ends with the connection. */
  #settle(): void {
    if (this.#isAnswered && (this.complete || !this.isReading)) this.#finish()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#user?.onOver()
    this.#connection.onOver(this.#isLast)
  }
}

/** A head without what depends on the connection and the time. */
function writtenHead({ status, reason, headers }: AnswerHead) {
  let [hasLength, hasDate, isClosing] = [false, false, false]
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    // Names of other lengths need no comparison.
    if (name.length === 14) hasLength ||= name.toLowerCase() === 'content-length'
    else if (name.length === 4) hasDate ||= name.toLowerCase() === 'date'
    else if (name.length === 10) isClosing ||= name.toLowerCase() === 'connection' && value === 'close'
  }
  return { lines: `HTTP/1.1 ${status} ${reason}\r\n${fieldLines(headers)}`, hasLength, hasDate, isClosing }
}

let date = { second: 0, text: '' }

/** RFC 9110 §5.6.7. */
function httpDate(): string {
  const now = Date.now()
  const second = Math.floor(now / 1_000)
  if (second !== date.second) date = { second, text: new Date(now).toUTCString() }
  return date.text
}
