/**
 * One HTTP call of the hub to another server: a webhook, a gateway's health, another hub process. It always settles: by
 * the answer, by the end of the connection, or by its deadline. A connection is used once; redirects are not followed.
 */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { GatheredBytes } from '@hedgerow/http'
import { hostOf, publicOnly } from './public-hosts.ts'

export type OutgoingCall = {
  url: string | URL
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string | Buffer
  /** For the whole call, from the DNS query to the last byte of the answer. */
  timeoutMs: number
  signal?: AbortSignal
  /** The longest accepted body; the call fails at a longer one. When unset, the body is not read. */
  answerLimitBytes?: number
  /** Only addresses on the Internet: for hosts that somebody else names. */
  onlyPublic?: boolean
  /** Replaces the network of this machine. */
  connect?: () => Duplex
}

export type OutgoingAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer }

/** Rejects with the network's error, or with one that says what is wrong with the answer. */
export async function callOut(options: OutgoingCall): Promise<OutgoingAnswer> {
  const { method, timeoutMs, signal, body, answerLimitBytes, connect } = options
  const url = new URL(options.url)
  if (signal?.aborted) throw new Error('the call was aborted')
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const { promise, resolve, reject } = Promise.withResolvers<OutgoingAnswer>()
  const outgoing = request(url, {
    method,
    headers: {
      connection: 'close',
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      ...options.headers,
    },
    ...(connect ? { createConnection: connect } : { agent: false }),
    ...(options.onlyPublic === true && publicOnly(hostOf(url))),
  })
  const fail = (error: Error): void => {
    reject(error)
    outgoing.destroy()
  }
  const timer = setTimeout(() => fail(new Error(`no answer within ${Math.round(timeoutMs / 1_000)} s`)), timeoutMs)
  const breakOff = (): void => fail(new Error('the call was aborted'))
  signal?.addEventListener('abort', breakOff, { once: true })

  outgoing.on('error', fail)
  // Node closes without an error at an unrequested 101 answer.
  outgoing.on('close', () => fail(new Error('the connection ended without a whole answer')))
  outgoing.on('response', (incoming) => {
    incoming.on('error', fail)
    if (answerLimitBytes === undefined) {
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.alloc(0) })
      outgoing.destroy()
    } else readBody(incoming, answerLimitBytes, resolve, fail)
  })
  outgoing.end(body)
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', breakOff)
  })
}

function readBody(
  incoming: IncomingMessage,
  limitBytes: number,
  resolve: (answer: OutgoingAnswer) => void,
  fail: (error: Error) => void,
): void {
  const body = new GatheredBytes()
  incoming.on('data', (chunk: Buffer) => {
    if (body.length + chunk.length > limitBytes) fail(new Error(`the answer is longer than ${limitBytes} bytes`))
    else body.add(chunk)
  })
  const { statusCode: status = 0, headers } = incoming
  incoming.on('end', () => resolve({ status, headers, body: body.take() }))
}
