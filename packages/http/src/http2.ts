/** HTTP/2 with TLS (RFC 9113): accepts sessions, limits them, and makes each of their streams an `Http2Exchange`. */
import { performServerHandshake, type ServerHttp2Session } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { ERROR_CODES, headOf, Http2Exchange, MAX_HEAD_BYTES } from './http2-exchange.ts'

const KILOBYTE = 1_024
/** The most concurrent requests on one connection. Requests of one address have a limit of their own. */
const MAX_STREAMS = 100
const OPTIONS = {
  settings: { maxConcurrentStreams: MAX_STREAMS, enablePush: false, initialWindowSize: 128 * KILOBYTE },
  // Browsers send each cookie as a field of its own, and store 180 for a host.
  maxHeaderListPairs: 1_000,
  // In megabytes.
  maxSessionMemory: 4,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 50,
  // A browser that leaves a page resets its loads; more resets than these are an attack (CVE-2023-44487).
  streamResetBurst: 300,
  streamResetRate: 30,
}
/** The window of all streams of a session together. */
const WINDOW_BYTES = 512 * KILOBYTE
const HTTP_1_MS = 3_600_000
const REMEMBERED = 1_000

export type Http2 = {
  /** For `createServer` of TLS: HTTP/2 unless its client's address is to use HTTP/1.1. */
  choose(this: unknown, offered: { protocols: string[] }): string | undefined
  serve(socket: TLSSocket): void
  /** Lets current requests end, and accepts no more. */
  close(): void
}

export function createHttp2({
  keepAliveMs,
  serve,
}: {
  /** The limit between the last answer and the next request. */
  keepAliveMs: number
  /** Serves one request on a connection of its own. */
  serve(exchange: Http2Exchange): void
}): Http2 {
  const sessions = new Set<ServerHttp2Session>()
  /** Addresses whose session broke, perhaps because a head was too long for HTTP/2; HTTP/1.1 has an answer for that. */
  const useHttp1 = new Map<string, number>()

  function remember(address: string | undefined): void {
    if (address === undefined) return
    if (useHttp1.size >= REMEMBERED) useHttp1.clear()
    useHttp1.set(address, performance.now() + HTTP_1_MS)
  }

  return {
    choose({ protocols }) {
      // Node calls it with the socket.
      const { remoteAddress = '' } = this as Partial<TLSSocket>
      const mayUseHttp2 = (useHttp1.get(remoteAddress) ?? 0) < performance.now()
      return ['h2', 'http/1.1'].find((name) => protocols.includes(name) && (name !== 'h2' || mayUseHttp2))
    },

    serve(socket) {
      const { remoteAddress } = socket
      const session = performServerHandshake(socket, OPTIONS)
      sessions.add(session)
      session.setLocalWindowSize(WINDOW_BYTES)
      let open = 0
      // Only requests keep a connection open; other frames do not.
      const endWhenIdle = () => setTimeout(() => session.destroy(), keepAliveMs).unref()
      let idle = endWhenIdle()
      session.on('error', () => remember(remoteAddress))
      session.once('close', () => {
        clearTimeout(idle)
        sessions.delete(session)
      })
      session.on('stream', (stream, _fields, _flags, raw: string[]) => {
        clearTimeout(idle)
        open++
        stream.once('close', () => {
          if (--open === 0 && !session.destroyed) idle = endWhenIdle()
        })
        const head = headOf(raw, !stream.endAfterHeaders)
        if (head && head.bytes.length < MAX_HEAD_BYTES) return serve(new Http2Exchange(stream, socket, head))
        stream.on('error', () => {})
        // A browser repeats the request over HTTP/1.1, where the answer clears cookies that somebody planted.
        stream.close(head ? ERROR_CODES.http1Required : ERROR_CODES.protocolError)
      })
    },

    close() {
      for (const session of sessions) session.close()
    },
  }
}
