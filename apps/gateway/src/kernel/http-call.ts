import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import { GatheredBytes } from '@hedgerow/http'
import { errorBody, type ErrorCode } from '@hedgerow/contract'
import { readJson } from '@hedgerow/contract/bounded-json'
import { z } from 'zod'

/** Longer than any answer of a hub, so that another server cannot fill the memory. */
const ANSWER_LIMIT = 64 * 1024

export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer }

export type PostOptions = {
  url: URL
  body: Uint8Array
  headers?: Record<string, string>
  /** Limits the whole exchange. */
  timeoutMs: number
  signal: AbortSignal
  lookup?: LookupFunction | undefined
  /** The IPv4 address of this side; the operating system chooses when unset. */
  localAddress?: string | undefined
  /** Opens the connection through the tunnel instead of the device's network. */
  connect?: (() => Duplex) | undefined
  /** Keeps the connection for the next call. A call may then reach the server twice. */
  agent?: Agent | undefined
  /** Opens the TLS connection of an https address, for callers that check its certificate themselves. */
  openTls?: ((signal: AbortSignal) => Promise<Duplex>) | undefined
}

/** The hub refused the call. */
export class HubRefusal extends Error {
  override name = 'HubRefusal'
  /** A code of the contract, or of a newer hub. */
  readonly code: ErrorCode | (string & {})
  /** The hub's errors by field path; the hub sends only the first few. */
  readonly fieldErrors: Record<string, string>
  /** The pause that the hub asked for, if any. */
  readonly retryAfterMs: number | undefined
  readonly status: number | undefined

  constructor(body: z.output<typeof refusalBody>, retryAfterMs?: number, status?: number) {
    super(body.message)
    this.code = body.error
    this.fieldErrors = body.fieldErrors ?? {}
    this.retryAfterMs = retryAfterMs
    this.status = status
  }
}

const refusalBody = errorBody.extend({ error: z.string().max(100), message: z.string().max(1_000) })

/** The server is not a hub, or does not speak version 1. */
export class NotAHubError extends Error {
  override name = 'NotAHubError'
  /** The status of its answer, when that is what was wrong. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** The server gave no whole answer in time. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
}

/**
 * One POST with a JSON body or none, on a new connection unless `agent` has one. Redirects are not followed. Rejects
 * with the network's error, or with NoAnswerError.
 */
export async function post(options: PostOptions): Promise<Answer> {
  const { url, body } = options
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  const late = () => new NoAnswerError(`no answer within ${Math.round(options.timeoutMs / 1000)} s`)
  const opened = await options.openTls?.(signal).catch((error: unknown) => {
    throw timeout.aborted ? late() : error
  })
  const connect = opened ? () => opened : options.connect
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      headers: {
        ...(body.length > 0 ? { 'content-type': 'application/json' } : {}),
        'content-length': String(body.length),
        accept: 'application/json',
        ...(options.agent ? {} : { connection: 'close' }),
        ...options.headers,
      },
      signal,
      ...(connect ? { createConnection: connect } : { agent: options.agent ?? false }),
      ...(options.lookup ? { lookup: options.lookup } : {}),
      ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress, family: 4 }),
    })
    let status: number | undefined
    const fail = (error: Error) => {
      outgoing.destroy()
      // The head of a refusal has come: it counts, whatever becomes of its page.
      if (isRefusal(status) && !options.signal.aborted)
        reject(new NotAHubError(`the server there is not a hub (status ${status}, without a whole answer)`, status))
      else reject(timeout.aborted ? late() : error)
    }
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isEnded = error.code === 'ECONNRESET' || error.code === 'EPIPE'
      // The server ended the kept connection before this call reached it (RFC 9112 section 9.3.1).
      if (outgoing.reusedSocket && isEnded && status === undefined) resolve(post(options))
      else fail(error)
    })
    // Node closes without an error at an unrequested 101 answer.
    outgoing.on('close', () => fail(new NotAHubError('the server there is not a hub: its answer is incomplete')))
    outgoing.on('response', (incoming) => {
      status = incoming.statusCode
      const answer = new GatheredBytes()
      incoming.on('data', (chunk: Buffer) => {
        if (answer.length + chunk.length > ANSWER_LIMIT)
          fail(new NotAHubError('the server there is not a hub: its answer is too long'))
        else answer.add(chunk)
      })
      incoming.on('error', fail)
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: answer.take() }),
      )
    })
    outgoing.end(body)
  })
}

/**
 * Parses the answer with `schema`. Throws HubRefusal for an error of the contract and NotAHubError for anything else.
 */
export function readAnswer<S extends z.ZodType>(answer: Answer, schema: S): z.output<S> {
  const read = readJson(answer.body)
  const json = read.problem ? undefined : read.value
  if (answer.status >= 200 && answer.status < 300) {
    const parsed = schema.safeParse(json)
    if (parsed.success) return parsed.data
    throw new NotAHubError('the server there is not a hub that speaks version 1 of the gateway protocol')
  }
  const refusal = refusalBody.safeParse(json)
  if (refusal.success) throw new HubRefusal(refusal.data, retryAfterMs(answer.headers), answer.status)
  const location = answer.headers.location
  if (answer.status >= 300 && answer.status < 400 && location)
    throw new NotAHubError(`it redirects to ${JSON.stringify(location.slice(0, 200))}; use that address`)
  throw new NotAHubError(`the server there is not a hub (status ${answer.status})`, answer.status)
}

const isRefusal = (status: number | undefined) => status !== undefined && status >= 400 && status < 500

/** These are about the moment or the way, and not about what was sent. */
const PASSING_STATUSES: ReadonlySet<number | undefined> = new Set([401, 407, 408, 421, 425, 429])
/** So are these, of the whole gateway. */
const PASSING_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'gateway_unknown',
  'request_replayed',
  'signature_invalid',
  'vpn_disabled',
])

/** A refusal that may be about what was sent, by a hub or by a proxy. One with Retry-After says that it passes. */
export function mayBeOfContent(error: unknown): boolean {
  if (!(error instanceof HubRefusal || error instanceof NotAHubError)) return false
  if (!isRefusal(error.status) || PASSING_STATUSES.has(error.status)) return false
  return error instanceof NotAHubError || (error.retryAfterMs === undefined && !PASSING_CODES.has(error.code))
}

/** RFC 9110 section 10.2.3; a hub sends seconds, not a date. */
function retryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['retry-after'] ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined
}
