import type { IncomingMessage } from 'node:http'
import type { AnswerHead } from './answer-head.ts'

/** The head of a request. `complete`: its body has arrived. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket' | 'complete'> & {
  readonly rawHeaders: readonly string[]
}

/**
 * One request and the place for its answer, whoever reads them from the connection: node:http (`NodeExchange`) or the
 * front itself (`PlainExchange`). An answer is `start`, any number of `write`, and `end`.
 */
export type Exchange = RequestHead & {
  readonly hasBody: boolean
  /** The length of its body is not known before its end. */
  readonly isChunked: boolean
  /** Some of an answer has left. Before that, `start` replaces an answer that was begun. */
  readonly isSent: boolean
  /** An answer can still be given, or be completed. */
  readonly isOpen: boolean
  /** Tells `user` what becomes of the request from now on. Called at most once. */
  begin(user: ExchangeUser): void
  /** Reads the body from now on; before the first call nothing of it is read. */
  resume(): void
  pause(): void
  /** Passes on the links of an answer 103, of a checked raw header list. */
  sendEarlyHints(headers: readonly string[]): void
  /** A checked head without framing, except perhaps a length. */
  start(head: AnswerHead): void
  /** False when the caller should wait for `onRoom`. Small parts wait for `flush` or `end`. */
  write(bytes: Buffer): boolean
  /** What was written leaves now. False as for `write`. */
  flush(): boolean
  /** `trailers` is a checked raw list; those that may be passed on are sent where the answer's framing allows. */
  end(trailers?: readonly string[]): void
  /** Ends the connection, and with it the exchange. */
  cut(): void
}

export type ExchangeUser = {
  /** A part of the request's body. */
  onUpload(bytes: Buffer): void
  /** The request is complete. `trailers` is the raw list. */
  onUploaded(trailers: readonly string[]): void
  /** After a write or flush that returned false. */
  onRoom(): void
  /** No more of the answer can be sent; `isWhole`: the system has taken all of it. */
  onAnswered(isWhole: boolean): void
  /** Request and answer have ended, or the connection has. Last. */
  onOver(): void
}

/** An answer up to this is joined with its head: copying it costs less than a second write. */
export const SMALL_BODY_BYTES = 16 * 1024
