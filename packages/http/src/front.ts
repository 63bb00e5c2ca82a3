/**
 * An HTTP server that strangers reach. Node's own hands sockets out (upgrades, CONNECT, clientError) without an owner,
 * an 'error' listener or a deadline, also while an earlier answer on them is still due. Here every connection has all
 * three from its first byte to its last: it is counted by `limits`, whatever is thrown while it is served ends it alone
 * (`faults`), requests that were sent ahead are served one after the other, and a request may leave HTTP only when
 * nothing else is due on its connection. Everything else gets an ordinary answer or none.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionLimits } from './connection-limits.ts'
import { endConnection, LINGER_MS, wholeAnswer } from './ending.ts'
import type { Faults } from './faults.ts'

export type FrontDeadlines = {
  /** For a request's head, from the connection's start or from its first byte. */
  headersMs: number
  /** For a whole request; 0 where whoever takes the body bounds it. */
  requestMs: number
  /** For a TLS handshake. */
  handshakeMs: number
  /** For a connection on which nothing moves: nothing asked, or an answer of which nothing is taken. */
  idleMs: number
  /** For the other side to close after an answer that ends the connection. */
  lingerMs: number
}

export type FrontOptions = {
  limits: ConnectionLimits
  faults: Faults
  handle: RequestListener
  upgrade?: {
    /** Whether this request may leave HTTP; else it is answered by `handle` like any other. */
    accepts(request: IncomingMessage): boolean
    /** Owns the socket from here on. It has an 'error' listener, and a reader that stalls is cut. */
    handle(request: IncomingMessage, socket: Socket, head: Buffer): void
  }
  /** Who asks behind a trusted proxy. */
  sourceAddress?: (request: IncomingMessage) => string
  /** The bytes that answer what is no HTTP. */
  badRequest?: string
  /** Asked before that, where no answer is due: true when it has answered, with an end and a deadline of its own. */
  answerUnreadable?: (error: Error, socket: Duplex) => boolean
  deadlines?: Partial<FrontDeadlines>
}

/** Context of a TLS listener: certificate with chain, and key, as PEM. */
export type TlsContext = { cert: string; key: string }

const DEADLINES: FrontDeadlines = {
  headersMs: 20_000,
  requestMs: 0,
  handshakeMs: 10_000,
  idleMs: 60_000,
  lingerMs: LINGER_MS,
}
/** How late a missed deadline of a head is noticed at most. */
const CHECK_INTERVAL_MS = 5_000
const KEEPALIVE_DELAY_MS = 30_000
/** Requests that a client may send ahead of their answers. No browser sends more than one. */
const MAX_SENT_AHEAD = 128
const BAD_REQUEST = wholeAnswer(400, 'Bad Request', [], '')
const BUSY = 'Too many requests of one address are under way.\n'

type Exchange = { request: IncomingMessage; response: ServerResponse; serve: RequestListener }
type ListenerSockets = WeakMap<Server | TlsServer, Set<Duplex>>

const socketsOf: ListenerSockets = new WeakMap()

export function createFront(options: FrontOptions): Server {
  const exchanges = createExchanges(options)
  const server = createServer(serverOptions(options, exchanges))
  return own(server, options, exchanges)
}

export function createTlsFront(options: FrontOptions, context: TlsContext): TlsServer {
  const exchanges = createExchanges(options)
  const { handshakeMs } = { ...DEADLINES, ...options.deadlines }
  const server = createTlsServer({ ...context, ...serverOptions(options, exchanges), handshakeTimeout: handshakeMs })
  wrapListeners(server, 'secureConnection', (socket, serve) => {
    socket.on('error', ignore)
    exchanges.begin(socket)
    options.faults.contain(socket, serve)
  })
  return own(server, options, exchanges)
}

/** Cuts every connection of a front, also those that have left HTTP or are still in their TLS handshake. */
export function cutConnections(server: Server | TlsServer): void {
  for (const socket of socketsOf.get(server) ?? []) socket.destroy()
}

function serverOptions(options: FrontOptions, exchanges: Exchanges): ServerOptions {
  const { headersMs, requestMs } = { ...DEADLINES, ...options.deadlines }
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, headersMs),
    shouldUpgradeCallback: exchanges.mayLeave,
    // A client that lost its power says nothing more.
    keepAlive: true,
    keepAliveInitialDelay: KEEPALIVE_DELAY_MS,
  }
}

function own<S extends Server | TlsServer>(server: S, options: FrontOptions, exchanges: Exchanges): S {
  const { limits, faults, upgrade, badRequest = BAD_REQUEST } = options
  const { idleMs, lingerMs } = { ...DEADLINES, ...options.deadlines }
  const sockets = new Set<Duplex>()
  socketsOf.set(server, sockets)
  server.timeout = idleMs

  wrapListeners(server, 'connection', (socket, serve) => {
    socket.on('error', ignore)
    const { remoteAddress } = socket
    // Gone before it was looked at.
    if (remoteAddress === undefined || limits.admit(socket, remoteAddress)) {
      socket.destroy()
      return
    }
    exchanges.begin(socket)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    faults.contain(socket, serve)
  })
  server.on('request', exchanges.take)
  server.on('checkExpectation', (request, response) =>
    exchanges.take(request, response, (_request, refused) => void refused.writeHead(417).end()),
  )
  if (upgrade)
    server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
      // `mayLeave` lets no request with a body pass, so this is the connection itself.
      const socket = duplex as Socket
      faults.contain(socket, () => {
        const leave = exchanges.enter(request)
        if (!leave) return endConnection(socket, wholeAnswer(503, 'Service Unavailable', [], BUSY), lingerMs)
        socket.once('close', leave)
        cutWhenStalled(socket, idleMs)
        upgrade.handle(request, socket, head)
      })
    })
  server.on('clientError', (error, socket) => {
    const due = exchanges.dueOn(socket)
    if (due?.length === 0 && options.answerUnreadable?.(error, socket)) return
    // A TLS handshake that failed, or an answer that is half said: more bytes would be taken for a part of it.
    if (!due || !socket.writable || due.some(({ response }) => response.headersSent)) socket.destroy()
    else endConnection(socket, badRequest, lingerMs)
  })
  server.on('timeout', (socket: Socket) => {
    const isWorking = (exchanges.dueOn(socket)?.length ?? 0) > 0 && socket.writableLength === 0
    if (isWorking) socket.setTimeout(idleMs)
    else socket.destroy()
  })
  return server
}

type Exchanges = ReturnType<typeof createExchanges>

/** What is due on each connection, in the order of the requests. */
function createExchanges({ limits, faults, handle, upgrade, sourceAddress }: FrontOptions) {
  const due = new WeakMap<Duplex, Exchange[]>()

  /** The function to call when the request is over; undefined when its source has too many. */
  function enter(request: IncomingMessage): (() => void) | undefined {
    if (!sourceAddress || !limits.isTrusted(request.socket.remoteAddress ?? '')) return ignore
    return limits.admitRequest(sourceAddress(request))
  }

  function serveNext(socket: Socket): void {
    const exchange = due.get(socket)?.[0]
    if (!exchange || socket.destroyed) return
    const { request, response, serve } = exchange
    response.once('close', () => {
      due.get(socket)?.shift()
      serveNext(socket)
    })
    faults.contain(socket, () => {
      const leave = enter(request)
      if (!leave) {
        response.writeHead(503, { connection: 'close', 'retry-after': '5', 'content-length': BUSY.length })
        return void response.end(BUSY)
      }
      response.once('close', leave)
      return serve(request, response)
    })
  }

  return {
    enter,
    begin: (socket: Duplex) => void due.set(socket, []),
    dueOn: (socket: Duplex): readonly Exchange[] | undefined => due.get(socket),

    mayLeave(request: IncomingMessage): boolean {
      const { socket, method, headers } = request
      if (!upgrade || due.get(socket)?.length || method !== 'GET') return false
      if (headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined) return false
      return upgrade.accepts(request)
    },

    take(request: IncomingMessage, response: ServerResponse, serve: RequestListener = handle): void {
      const { socket } = request
      const exchanges = due.get(socket)
      if (!exchanges) return void socket.destroy()
      if (exchanges.length >= MAX_SENT_AHEAD) return void socket.destroy()
      // Node drops what was sent behind an upgrade that it may not make, so nothing may follow it.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      exchanges.push({ request, response, serve })
      if (exchanges.length === 1) serveNext(socket)
    },
  }
}

/**
 * Cuts a connection that has left HTTP when for this long nothing of what was written to it is taken, or it has ended.
 */
function cutWhenStalled(socket: Socket, stallMs: number): void {
  socket.setTimeout(stallMs)
  socket.on('timeout', () => {
    if (socket.writableLength > 0 || socket.readableEnded) socket.destroy()
    else socket.setTimeout(stallMs)
  })
}

/** Puts `wrap` in the place of the listeners that an event has, which are called by its second argument. */
function wrapListeners(
  server: Server | TlsServer,
  event: 'connection' | 'secureConnection',
  wrap: (socket: Socket, serve: () => void) => void,
): void {
  const listeners = server.listeners(event)
  server.removeAllListeners(event)
  server.on(event, (socket: Socket) =>
    wrap(socket, () => {
      for (const listener of listeners) listener.call(server, socket)
    }),
  )
}

function ignore(): void {}
