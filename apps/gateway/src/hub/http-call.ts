import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import { errorBody, type ErrorCode } from '@hedgerow/contract'
import { readJson } from '@hedgerow/contract/bounded-json'
import { z } from 'zod'

/** More than any answer of the hub to a gateway; whatever answers instead of a hub cannot fill the memory. */
const ANSWER_LIMIT = 64 * 1024

export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer }

export type PostOptions = {
  url: URL
  body: Uint8Array
  headers?: Record<string, string>
  /** For the whole exchange. */
  timeoutMs: number
  signal: AbortSignal
  lookup?: LookupFunction | undefined
  /** Opens the connection through the tunnel instead of the device's network. */
  connect?: (() => Duplex) | undefined
  /** Opens the TLS connection of an https address, for who checks its certificate otherwise than by known CAs. */
  openTls?: ((signal: AbortSignal) => Promise<Duplex>) | undefined
}

/** The hub said no. */
export class HubRefusal extends Error {
  override name = 'HubRefusal'
  /** Of the contract, or one that a newer hub has. */
  readonly code: ErrorCode | (string & {})
  /** What the hub found wrong, by the path of the field; a few at most. */
  readonly fieldErrors: Record<string, string>
  /** When the hub wants to hear from this device again, if it said so. */
  readonly retryAfterMs: number | undefined

  constructor(body: z.output<typeof refusalBody>, retryAfterMs?: number) {
    super(body.message)
    this.code = body.error
    this.fieldErrors = body.fieldErrors ?? {}
    this.retryAfterMs = retryAfterMs
  }
}

const refusalBody = errorBody.extend({ error: z.string().max(100), message: z.string().max(1_000) })

/** What answered is not a hub, or not one that speaks version 1. */
export class NotAHubError extends Error {
  override name = 'NotAHubError'
}

/**
 * One POST of JSON, or of nothing, on a connection of its own. Redirects are not followed. Rejects with the network's
 * error.
 */
export async function post(options: PostOptions): Promise<Answer> {
  const { url, body } = options
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  const late = () => new Error(`no answer within ${Math.round(options.timeoutMs / 1000)} s`)
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
        connection: 'close',
        ...options.headers,
      },
      signal,
      ...(connect ? { createConnection: connect } : { agent: false }),
      ...(options.lookup ? { lookup: options.lookup } : {}),
    })
    const fail = (error: Error) => {
      outgoing.destroy()
      reject(timeout.aborted ? late() : error)
    }
    outgoing.on('error', fail)
    // Also when nothing was said of why: Node ends a call silently at an answer 101 that it did not ask for.
    outgoing.on('close', () => fail(new NotAHubError('what answers there is not a hub: it gave no whole answer')))
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      let length = 0
      incoming.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > ANSWER_LIMIT) fail(new NotAHubError('what answers there is not a hub: its answer is too long'))
        else chunks.push(chunk)
      })
      incoming.on('error', fail)
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
      )
    })
    outgoing.end(body)
  })
}

/** The answer as `schema`. Throws HubRefusal for an error of the contract and NotAHubError for anything else. */
export function readAnswer<S extends z.ZodType>(answer: Answer, schema: S): z.output<S> {
  const read = readJson(answer.body)
  const json = read.problem ? undefined : read.value
  if (answer.status >= 200 && answer.status < 300) {
    const parsed = schema.safeParse(json)
    if (parsed.success) return parsed.data
    throw new NotAHubError('what answers there is not a hub that speaks version 1 of the gateway protocol')
  }
  const refusal = refusalBody.safeParse(json)
  if (refusal.success) throw new HubRefusal(refusal.data, retryAfterMs(answer.headers))
  const location = answer.headers.location
  if (answer.status >= 300 && answer.status < 400 && location)
    throw new NotAHubError(`it sends visitors on to ${JSON.stringify(location.slice(0, 200))}; use that address`)
  throw new NotAHubError(`what answers there is not a hub (status ${answer.status})`)
}

/** RFC 9110 section 10.2.3; a hub tells seconds. */
function retryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['retry-after'] ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined
}
