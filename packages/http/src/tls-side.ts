/** What a front does with connections that have TLS, and how it tells those from plain ones on the same port. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import type { Faults } from './faults.ts'
import { createHttp2, type Http2 } from './http2.ts'

/** Context of a TLS listener: certificate with chain, and key, as PEM. */
export type TlsContext = { cert: string; key: string }

type Served = {
  faults: Faults
  /** The limit between two requests of HTTP/2. */
  keepAliveMs: number
  /** Called before `serve` with each connection, or with each request of HTTP/2. */
  begin(socket: Duplex): void
  /** Serves HTTP/1. */
  serve(socket: Duplex): void
}

export type Secured = Pick<Http2, 'choose' | 'close'> & { serve(socket: TLSSocket): void }

/** HTTP over TLS, after its handshake: clients may choose HTTP/2. */
export function createSecured({ faults, keepAliveMs, begin, serve }: Served): Secured {
  function serveHttp1(socket: Duplex): void {
    socket.on('error', ignore)
    begin(socket)
    faults.contain(socket, () => serve(socket))
  }
  const http2 = createHttp2({ keepAliveMs, serve: serveHttp1 })
  return {
    choose: http2.choose,
    close: http2.close,
    serve(socket) {
      if (socket.alpnProtocol !== 'h2') return serveHttp1(socket)
      socket.on('error', ignore)
      faults.contain(socket, () => http2.serve(socket))
    },
  }
}

/** The first byte of a TLS connection: the type of a record with a handshake (RFC 8446 §5.1). No request begins so. */
const HANDSHAKE = 22

export type Either = { serve(socket: Socket): void; close(): void }

/**
 * Serves plain connections and those with TLS. `context` is asked for each of the latter, so that a new certificate
 * needs no restart; nothing is made for TLS before the first of them.
 */
export function createEither(
  context: () => TlsContext,
  { firstByteMs, handshakeMs, ...served }: Served & { firstByteMs: number; handshakeMs: number },
): Either {
  let side: { server: Server; secured: Secured; used: TlsContext } | undefined

  function current(): Server {
    const wanted = context()
    if (!side) {
      const secured = createSecured(served)
      const server = createServer({ ...wanted, handshakeTimeout: handshakeMs, ALPNCallback: secured.choose })
      server.on('secureConnection', secured.serve)
      server.on('tlsClientError', (_error, socket) => socket.destroy())
      side = { server, secured, used: wanted }
    } else if (side.used.cert !== wanted.cert || side.used.key !== wanted.key) {
      side.server.setSecureContext(wanted)
      side.used = wanted
    }
    return side.server
  }

  return {
    serve(socket) {
      const cut = () => void socket.destroy()
      socket.setTimeout(firstByteMs, cut)
      socket.once('end', cut)
      socket.once('data', (bytes: Buffer) => {
        socket.setTimeout(0, cut)
        socket.off('end', cut)
        const isTls = bytes[0] === HANDSHAKE
        // TLS takes what a paused socket holds; plain readers want it flowing.
        if (isTls) socket.pause()
        socket.unshift(bytes)
        served.faults.contain(socket, () => void (isTls ? current().emit('connection', socket) : served.serve(socket)))
      })
    },
    close: () => side?.secured.close(),
  }
}

function ignore(): void {}
