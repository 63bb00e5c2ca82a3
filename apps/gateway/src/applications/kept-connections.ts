/**
 * Connections to an application that carry one request after the other. An application may close an idle one just as a
 * request is sent on it, so only requests that may be sent again use them: without a body, of a method that may be
 * repeated (RFC 9110 §9.2.2, RFC 9112 §9.3.1). All others get a connection of their own.
 */
import { Agent, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'

/** The most idle connections to an application; browsers open six to an origin. */
const MAX_IDLE = 32
/** Shorter than the 5 s after which common servers close; a shorter time that the server announces counts. */
const IDLE_MS = 4_000
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
/** These schemes sign in a connection, not a request, so nobody else may use it. */
const OF_A_CONNECTION = /^\s*(?:ntlm|negotiate)\b/i
const DIED = new Set(['ECONNRESET', 'EPIPE'])

export function createKeptConnections({ protocol }: URL): Agent {
  const options = { keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS }
  return protocol === 'https:' ? new HttpsAgent(options) : new Agent(options)
}

export function mayUseKept({ method = '', headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return REPEATABLE.has(method) && !hasBody && !OF_A_CONNECTION.test(headers.authorization ?? '')
}

/**
 * Watches a new request. The returned function says whether its error is a kept connection that died before any answer.
 */
export function watchKept(outgoing: ClientRequest): (error: Error) => boolean {
  let socket: Socket | undefined
  let readBefore = 0
  outgoing.once('socket', (its: Socket) => {
    socket = its
    readBefore = its.bytesRead
  })
  return (error) =>
    outgoing.reusedSocket && socket?.bytesRead === readBefore && 'code' in error && DIED.has(String(error.code))
}
