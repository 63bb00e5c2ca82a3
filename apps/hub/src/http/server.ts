import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { FastifyServerFactory } from 'fastify'
import { answerClientError } from './errors.ts'

/** Whoever takes requests for origins that are not the hub's own. */
export type OtherOrigins = {
  owns(request: IncomingMessage): boolean
  handleRequest(request: IncomingMessage, response: ServerResponse): void
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** Certificate with chain, and key, as PEM. */
export type TlsContext = { cert: string; key: string }

export type Servers = {
  /** For Fastify, which calls it once. */
  factory: FastifyServerFactory
  /** The same over TLS; there after Fastify called the factory. Its listening and closing are the caller's. */
  createTls(context: TlsContext): TlsServer
}

const HEADERS_TIMEOUT_MS = 20_000
/** How late that is noticed at most; Node's own 30 s would more than double it. */
const CONNECTIONS_CHECKED_INTERVAL_MS = 5_000
const HANDSHAKE_TIMEOUT_MS = 20_000
/** The longest that a client may take to send a request to the hub itself. */
const REQUEST_TIMEOUT_MS = 30_000

/**
 * One HTTP server for all origins, and the same over TLS: each request goes to the gateways' pages when its Host is
 * theirs, and only else to the hub. Their uploads may take hours, so the limit on slow requests is the hub's own and
 * not the server's.
 */
export function createServers(others: OtherOrigins): Servers {
  let listener: RequestListener | undefined

  function prepare<S extends Server | TlsServer>(server: S): S {
    server.headersTimeout = HEADERS_TIMEOUT_MS
    server.requestTimeout = 0
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (others.owns(request)) others.handleUpgrade(request, socket, head)
      else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    })
    return server
  }

  return {
    factory(handle): Server {
      listener = (request, response) => {
        if (others.owns(request)) return others.handleRequest(request, response)
        const timer = setTimeout(() => {
          if (!request.complete) request.destroy()
        }, REQUEST_TIMEOUT_MS)
        request.once('close', () => clearTimeout(timer))
        handle(request, response)
      }
      return prepare(createServer({ connectionsCheckingInterval: CONNECTIONS_CHECKED_INTERVAL_MS }, listener))
    },
    createTls(context) {
      const server = prepare(
        createTlsServer(
          {
            ...context,
            handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
            connectionsCheckingInterval: CONNECTIONS_CHECKED_INTERVAL_MS,
          },
          listener,
        ),
      )
      server.on('clientError', (error, socket) => answerClientError(error, socket))
      return server
    },
  }
}
