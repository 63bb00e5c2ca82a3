import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyServerFactory } from 'fastify'

/** Whoever takes requests for origins that are not the hub's own. */
export type OtherOrigins = {
  owns(request: IncomingMessage): boolean
  handleRequest(request: IncomingMessage, response: ServerResponse): void
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

const HEADERS_TIMEOUT_MS = 20_000
/** The longest that a client may take to send a request to the hub itself. */
const REQUEST_TIMEOUT_MS = 30_000

/**
 * One HTTP server for all origins: each request goes to the gateways' pages when its Host is theirs, and only else to
 * the hub. Their uploads may take hours, so the limit on slow requests is the hub's own and not the server's.
 */
export function createServerFactory(others: OtherOrigins): FastifyServerFactory {
  return (handle): Server => {
    const server = createServer((request, response) => {
      if (others.owns(request)) return others.handleRequest(request, response)
      const timer = setTimeout(() => {
        if (!request.complete) request.destroy()
      }, REQUEST_TIMEOUT_MS)
      request.once('close', () => clearTimeout(timer))
      handle(request, response)
    })
    server.headersTimeout = HEADERS_TIMEOUT_MS
    server.requestTimeout = 0
    server.on('upgrade', (request, socket, head) => {
      if (others.owns(request)) others.handleUpgrade(request, socket, head)
      else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    })
    return server
  }
}
