import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import {
  createFront,
  createTlsFront,
  type ConnectionLimits,
  type Exchange,
  type Faults,
  type FrontOptions,
  type TlsContext,
} from '@hedgerow/http'
import type { FastifyServerFactory } from 'fastify'
import { CLIENT_ERROR } from './errors.ts'
import { answerOversizedHead } from './oversized-head.ts'
import type { SourceAddress } from '../access/source-address.ts'

/** Handles requests for origins that are not the hub's own. */
export type OtherOrigins = {
  owns(host: string | undefined): boolean
  handle(exchange: Exchange): void
  /** Whether such a request may leave HTTP. */
  acceptsUpgrade(request: IncomingMessage): boolean
  handleUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
}

export type Servers = {
  /** Fastify calls it once. */
  factory: FastifyServerFactory
  /** The same over TLS; available after Fastify called the factory. The caller listens and closes. */
  createTls(context: TlsContext): TlsServer
}

/** The longest that a client may take to send a request to the hub itself. */
const REQUEST_TIMEOUT_MS = 30_000

/**
 * One HTTP server for all origins, and the same over TLS: a request whose Host is a gateway's goes to the gateways'
 * pages, every other to the hub. Their uploads may take hours, so the limit on slow requests is the hub's own, not the
 * server's.
 */
export function createServers(
  others: OtherOrigins,
  parts: { limits: ConnectionLimits; faults: Faults; sourceAddress: SourceAddress },
): Servers {
  let options: FrontOptions | undefined

  return {
    factory(handle): Server {
      options = {
        ...parts,
        badRequest: CLIENT_ERROR,
        answerUnreadable: answerOversizedHead,
        handle: (request, response) => serveOwn(handle, request, response),
        exchanges: { owns: ({ host }) => others.owns(host), handle: (exchange) => others.handle(exchange) },
        upgrade: {
          accepts: (request) => others.owns(request.headers.host) && others.acceptsUpgrade(request),
          handle: (request, socket, head) => others.handleUpgrade(request, socket, head),
        },
      }
      return createFront(options)
    },
    createTls(context) {
      if (!options) throw new Error('Fastify has not requested its server yet')
      return createTlsFront(options, context)
    },
  }
}

/** The hub itself has no WebSocket; other upgrades may be ignored (RFC 9110 §7.8). */
function serveOwn(handle: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.upgrade?.toLowerCase() === 'websocket')
    return void response.writeHead(404, { connection: 'close', 'content-length': 0 }).end()
  const timer = setTimeout(() => {
    if (!request.complete) request.destroy()
  }, REQUEST_TIMEOUT_MS)
  request.once('close', () => clearTimeout(timer))
  handle(request, response)
}
