/**
 * Reads HTTP/1 answers of untrusted servers from bytes. Strict where leniency would let two programs read the same
 * bytes differently: line ends are CR LF, no header is folded, and an answer has exactly one valid framing. Everything
 * else is an `UnusableAnswer`. RFC 9112 §4 to §7.
 */
import {
  checkAnswerHead,
  checkHeaders,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  MAX_INTERIM_ANSWERS,
  MAX_REASON_BYTES,
  UnusableAnswer,
  withoutLength,
  type AnswerHead,
} from './answer-head.ts'
import { trimmed } from './fields.ts'

/** Where the parts of one answer go, in this order: perhaps early hints, a head, any number of bodies, an end. */
export type AnswerParts = {
  /** A checked head, final, or of status 101 when that was asked for. */
  onHead(head: AnswerHead): void
  onBody(bytes: Buffer): void
  /** The answer is complete. `trailers` is a checked raw list, unfiltered. */
  onEnd(trailers: readonly string[]): void
  /** The checked raw header list of the first interim answer 103: browsers ignore later ones. */
  onEarlyHints?(headers: readonly string[]): void
}

/** What a head says about the bytes after it, whatever was asked. */
type Framing = {
  length: number | undefined
  isChunked: boolean
  isReusable: boolean
  keepAliveSeconds: number | undefined
}
/** The request decides how its answer is framed. */
export type SentRequest = { method: string; isUpgrade?: boolean }

const MAX_HEAD_BYTES = MAX_HEADER_BYTES + 4 * MAX_HEADERS + MAX_REASON_BYTES + 64
/** The longest line of a chunk's size and its extensions; the extensions are ignored. */
const MAX_CHUNK_LINE_BYTES = 1_024
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/s
const CHUNK_LINE = /^([0-9A-Fa-f]{1,12})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/
const LENGTH = /^\d{1,15}$/
const HEAD_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')
const NOTHING = Buffer.alloc(0)

type State =
  | 'head'
  /** `left` bytes of a body of known length. */
  | 'length'
  | 'until close'
  | 'chunk line'
  /** `left` bytes of a chunk. */
  | 'chunk'
  | 'after chunk'
  | 'trailer'
  /** Complete, or no longer HTTP. */
  | 'over'

/** Reads one answer. Feed it whatever arrives; `rest` is what follows the answer. */
export class AnswerReader {
  /** Whether the connection may carry another request, once the answer is complete. */
  isReusable = false
  /** The server's announcement of how long it keeps an idle connection, in seconds. */
  keepAliveSeconds: number | undefined
  /** Bytes after the answer: of the other protocol after status 101, otherwise sent unasked. */
  rest: Buffer = NOTHING
  readonly #request: SentRequest
  readonly #parts: AnswerParts
  #state: State = 'head'
  #left = 0
  #interim = 0
  #hasHinted = false
  readonly #trailers: string[] = []
  /** The beginning of a head or line whose end has not arrived. */
  #held: Buffer = NOTHING

  constructor(request: SentRequest, parts: AnswerParts) {
    this.#request = request
    this.#parts = parts
  }

  get isComplete(): boolean {
    return this.#state === 'over'
  }

  /** Throws `UnusableAnswer`; then nothing more may be read. */
  read(chunk: Buffer): void {
    let bytes = chunk
    if (this.#held.length > 0) {
      bytes = Buffer.concat([this.#held, chunk])
      this.#held = NOTHING
    }
    let at = 0
    while (at < bytes.length && this.#state !== 'over') {
      const next = this.#step(bytes, at)
      if (next === undefined) {
        this.#held = bytes.subarray(at)
        return
      }
      at = next
    }
    if (at < bytes.length) {
      this.rest = bytes.subarray(at)
      this.isReusable = false
    }
  }

  /** The server has closed its side. Throws `UnusableAnswer` when the answer is not complete. */
  end(): void {
    if (this.#state === 'until close') this.#finish()
    if (this.#state !== 'over') throw new UnusableAnswer('it ended before its end')
  }

  /** Reads one part from `bytes` at `at`. Returns where the next part begins; undefined when more bytes are needed. */
  #step(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at)
      case 'until close':
        this.#parts.onBody(at === 0 ? bytes : bytes.subarray(at))
        return bytes.length
      case 'length':
      case 'chunk':
        return this.#readBody(bytes, at)
      case 'chunk line':
        return this.#readChunkLine(bytes, at)
      case 'after chunk':
        return this.#readChunkEnd(bytes, at)
      case 'trailer':
        return this.#readTrailer(bytes, at)
      case 'over':
    }
    return at
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(HEAD_END, at)
    if ((end < 0 ? bytes.length : end) - at > MAX_HEAD_BYTES) throw new UnusableAnswer('its head is too long')
    if (end < 0) {
      if (!mayBeginAnswer(bytes, at)) throw new UnusableAnswer('it is not HTTP')
      return undefined
    }
    const text = bytes.toString('latin1', at, end)
    const next = end + HEAD_END.length
    const lineEnd = text.indexOf('\r\n')
    const [, minor, digits, reason = ''] = STATUS_LINE.exec(lineEnd < 0 ? text : text.slice(0, lineEnd)) ?? []
    if (digits === undefined) throw new UnusableAnswer('it is not HTTP')
    const headers: string[] = []
    if (lineEnd >= 0) readFields(text, lineEnd + 2, headers)
    const head: AnswerHead = { status: Number(digits), reason, headers }
    checkAnswerHead(head)
    if (head.status < 200 && !(head.status === 101 && this.#request.isUpgrade)) {
      if (head.status < 100 || head.status === 101 || ++this.#interim > MAX_INTERIM_ANSWERS)
        throw new UnusableAnswer('its interim answers are not valid')
      if (head.status === 103 && !this.#hasHinted) {
        this.#hasHinted = true
        this.#parts.onEarlyHints?.(head.headers)
      }
      return next
    }
    if (head.status > 599) throw new UnusableAnswer('its status is not valid')
    const framing = framingOf(head, minor === '1')
    // With a length on an answer that has no body (RFC 9110 §8.6), the next answer would be read as that body.
    if (head.status === 204 && framing.length !== undefined) head.headers = withoutLength(headers)
    this.#begin(head, framing)
    return next
  }

  /** RFC 9112 §6.3. */
  #begin(head: AnswerHead, { length, isChunked, isReusable, keepAliveSeconds }: Framing): void {
    const { status } = head
    this.isReusable = isReusable
    this.keepAliveSeconds = keepAliveSeconds
    const hasBody = status !== 101 && status !== 204 && status !== 304 && this.#request.method !== 'HEAD'
    this.#parts.onHead(head)
    if (!hasBody) this.#finish()
    else if (isChunked) this.#state = 'chunk line'
    else if (length === undefined) {
      this.#state = 'until close'
      this.isReusable = false
    } else {
      this.#left = length
      this.#state = 'length'
      if (this.#left === 0) this.#finish()
    }
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    this.#parts.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
    if (this.#left === 0) {
      if (this.#state === 'chunk') this.#state = 'after chunk'
      else this.#finish()
    }
    return end
  }

  #readChunkLine(bytes: Buffer, at: number): number | undefined {
    const end = lineEnd(bytes, at, MAX_CHUNK_LINE_BYTES)
    if (end === undefined) return undefined
    const size = CHUNK_LINE.exec(bytes.toString('latin1', at, end))?.[1]
    if (size === undefined) throw new UnusableAnswer('its chunks are not valid')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left > 0 ? 'chunk' : 'trailer'
    if (this.#left === 0) this.#left = MAX_HEAD_BYTES
    return end + LINE_END.length
  }

  #readChunkEnd(bytes: Buffer, at: number): number | undefined {
    if (bytes[at] !== 0x0d || (at + 1 < bytes.length && bytes[at + 1] !== 0x0a))
      throw new UnusableAnswer('its chunks are not valid')
    if (at + 1 === bytes.length) return undefined
    this.#state = 'chunk line'
    return at + 2
  }

  /** `left` bounds all trailers together. */
  #readTrailer(bytes: Buffer, at: number): number | undefined {
    const end = lineEnd(bytes, at, this.#left)
    if (end === undefined) return undefined
    if (end > at) {
      const field: string[] = []
      readFields(bytes.toString('latin1', at, end), 0, field)
      checkHeaders(field)
      this.#trailers.push(...field)
    } else this.#finish()
    this.#left -= end + LINE_END.length - at
    return end + LINE_END.length
  }

  #finish(): void {
    this.#state = 'over'
    this.#parts.onEnd(this.#trailers)
  }
}

/** Throws `UnusableAnswer` when programs could disagree about where the answer ends. */
function framingOf({ headers }: AnswerHead, isPersistent: boolean): Framing {
  let length: string | undefined
  let keepAliveSeconds: number | undefined
  let isChunked = false
  let connection = ''
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    // Names of other lengths need no comparison.
    if (name.length === 10) {
      const lower = name.toLowerCase()
      if (lower === 'connection') connection += `,${value.toLowerCase()}`
      else if (lower === 'keep-alive') keepAliveSeconds = Number(/timeout=(\d{1,6})/i.exec(value)?.[1] ?? Infinity)
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined || !LENGTH.test(value)) throw new UnusableAnswer('its length is not valid')
      length = value
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (isChunked || value.toLowerCase() !== 'chunked')
        throw new UnusableAnswer('its transfer coding is not supported')
      isChunked = true
    }
  }
  if (isChunked && (length !== undefined || !isPersistent)) throw new UnusableAnswer('its framing is ambiguous')
  return {
    length: length === undefined ? undefined : Number(length),
    isChunked,
    isReusable: isPersistent && !/(?:^|,)\s*close\s*(?:,|$)/.test(connection),
    keepAliveSeconds,
  }
}

/** Appends the fields of `text` from `at` on: lines joined by CR LF. They are not checked yet. */
function readFields(text: string, at: number, headers: string[]): void {
  for (let start = at; start <= text.length;) {
    const found = text.indexOf('\r\n', start)
    const end = found < 0 ? text.length : found
    const colon = text.indexOf(':', start)
    if (colon < 0 || colon >= end) throw new UnusableAnswer('a header is not valid')
    headers.push(text.slice(start, colon), trimmed(text, colon + 1, end))
    if (headers.length > 2 * MAX_HEADERS) throw new UnusableAnswer('it has too many headers')
    start = end + 2
  }
}

/** The end of the line that begins at `at`; undefined when it has not arrived. */
function lineEnd(bytes: Buffer, at: number, maxBytes: number): number | undefined {
  const end = bytes.indexOf(LINE_END, at)
  if ((end < 0 ? bytes.length : end) - at > maxBytes) throw new UnusableAnswer('its chunks are not valid')
  return end < 0 ? undefined : end
}

/** Whether the bytes so far can still become an answer: another protocol is refused at its first bytes. */
function mayBeginAnswer(bytes: Buffer, at: number): boolean {
  const start = 'HTTP/1.'
  const length = Math.min(start.length, bytes.length - at)
  return bytes.toString('latin1', at, at + length) === start.slice(0, length)
}
