/**
 * An HTTP server for untrusted clients. Node's own server gives sockets away (upgrades, CONNECT, clientError) without
 * an owner, an 'error' listener or a deadline, even while an earlier answer on them is due. Here every connection has
 * all three from its first byte to its last: `limits` counts it, an error while it is served ends only this connection
 * (`faults`), pipelined requests are served one after the other, and a request may leave HTTP only when no answer is
 * due on its connection. Everything else gets an ordinary answer or none.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionLimits } from './connection-limits.ts'
import { endConnection, LINGER_MS, wholeAnswer } from './ending.ts'
import type { Exchange } from './exchange.ts'
import type { Faults } from './faults.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { NodeExchange } from './node-exchange.ts'
import { PlainConnection, type PlainServer } from './plain/connection.ts'
import { createEither, createSecured, type TlsContext } from './tls-side.ts'

export type FrontDeadlines = {
  /** The limit for a request's head, from the connection's start or from its first byte. */
  headersMs: number
  /** The limit for a whole request; 0 when the reader of the body has its own. */
  requestMs: number
  /** The limit for a TLS handshake. */
  handshakeMs: number
  /** The limit for a connection without traffic while a request or its answer is under way. */
  idleMs: number
  /** The limit between an answer and the next request. */
  keepAliveMs: number
  /** The time for the client to close after an answer that ends the connection. */
  lingerMs: number
}

/** By what a request is owned. */
export type OwnedBy = { host: string | undefined; method: string | undefined; url: string | undefined }

export type FrontOptions = {
  limits: ConnectionLimits
  faults: Faults
  handle: RequestListener
  /** Serves the requests that it owns; `handle` gets all others. */
  exchanges?: {
    owns(head: OwnedBy): boolean
    handle(exchange: Exchange): unknown
  }
  upgrade?: {
    /** Whether this request may leave HTTP; otherwise `handle` answers it like any other. */
    accepts(request: IncomingMessage): boolean
    /** Owns the socket from here on. It has an 'error' listener, and a client that stops reading is cut. */
    handle(request: IncomingMessage, socket: Socket, head: Buffer): void
  }
  /** The client's address behind a trusted proxy. */
  sourceAddress?: (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string
  /** The bytes of the answer to anything that is not HTTP. */
  badRequest?: string
  /** Called first when no answer is due. True when it has answered and ends the connection itself, with a deadline. */
  answerUnreadable?: (error: Error, socket: Duplex) => boolean
  deadlines?: Partial<FrontDeadlines>
  /** The port of `createFront` then serves TLS as well, with this certificate. */
  alsoTls?: (() => TlsContext) | undefined
}

const DEADLINES: FrontDeadlines = {
  headersMs: 20_000,
  requestMs: 0,
  handshakeMs: 10_000,
  idleMs: 60_000,
  // Longer than reverse proxies keep theirs (nginx 60 s, Traefik 90 s, Caddy 120 s): only the side that sends requests
  // can end an idle connection without losing one.
  keepAliveMs: 130_000,
  lingerMs: LINGER_MS,
}
/** The longest delay before a missed deadline of a head is noticed. */
const CHECK_INTERVAL_MS = 5_000
const KEEPALIVE_DELAY_MS = 30_000
/** Requests that a client may send ahead of their answers. No browser sends more than one. */
const MAX_SENT_AHEAD = 128
const BAD_REQUEST = wholeAnswer(400, 'Bad Request', [], '')
const BUSY = 'Too many requests from one address are in progress.\n'

type Due = {
  request: IncomingMessage
  response: ServerResponse
  serve: RequestListener
  /** Called when the answer has ended. */
  ended: () => void
}
type ListenerSockets = WeakMap<Server | TlsServer, Set<Duplex>>

const socketsOf: ListenerSockets = new WeakMap()
/** Called as a front begins to close. */
const closing = new WeakMap<Server | TlsServer, () => void>()

export function createFront(options: FrontOptions): Server {
  const exchanges = createExchanges(options)
  const server = createServer(serverOptions(options, exchanges))
  return own(server, options, exchanges)
}

/** The same over TLS, where clients may choose HTTP/2. */
export function createTlsFront(options: FrontOptions, context: TlsContext): TlsServer {
  const exchanges = createExchanges(options)
  const { handshakeMs, keepAliveMs } = { ...DEADLINES, ...options.deadlines }
  let serveHttp1: (socket: Duplex) => void = ignore
  const { faults } = options
  const secured = createSecured({ faults, keepAliveMs, begin: exchanges.begin, serve: (socket) => serveHttp1(socket) })
  const server = createTlsServer({
    ...context,
    ...serverOptions(options, exchanges),
    handshakeTimeout: handshakeMs,
    ALPNCallback: secured.choose,
  })
  serveHttp1 = readPlain(server, options, exchanges, takeListeners(server, 'secureConnection'))
  server.on('secureConnection', secured.serve)
  closing.set(server, secured.close)
  return own(server, options, exchanges)
}

/** Accepts nothing new; calls `done` when everything under way has ended. */
export function closeFront(server: Server | TlsServer, done: () => void): void {
  closing.get(server)?.()
  server.close(() => done())
}

/** Cuts every connection of a front, including those that have left HTTP or are in their TLS handshake. */
export function cutConnections(server: Server | TlsServer): void {
  for (const socket of socketsOf.get(server) ?? []) socket.destroy()
}

function serverOptions(options: FrontOptions, exchanges: Exchanges): ServerOptions {
  const { headersMs, requestMs, keepAliveMs } = { ...DEADLINES, ...options.deadlines }
  return {
    headersTimeout: headersMs,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, headersMs),
    shouldUpgradeCallback: exchanges.mayLeave,
    // A client that lost its power sends nothing more.
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

  const listeners = takeListeners(server, 'connection')
  // Of TLS the connection is not read here.
  const serve = server instanceof TlsServer ? listeners : servePlain(server, options, exchanges, listeners)
  server.on('connection', (socket: Socket) => {
    socket.on('error', ignore)
    const { remoteAddress } = socket
    // Without an address the connection has closed already.
    if (remoteAddress === undefined || limits.admit(socket, remoteAddress)) {
      socket.destroy()
      return
    }
    exchanges.begin(socket)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    faults.contain(socket, () => serve(socket))
  })
  const isClosing = watchClosing(server)
  // Node ends only those that were idle when it began to close: others would be kept for their next request.
  const ended = () => {
    if (isClosing()) server.closeIdleConnections()
  }
  server.on('request', (request, response) => exchanges.take({ request, response, serve: exchanges.serve, ended }))
  server.on('checkExpectation', (request, response) =>
    exchanges.take({ request, response, serve: (_request, refused) => void refused.writeHead(417).end(), ended }),
  )
  if (upgrade)
    server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
      // `mayLeave` refuses requests with a body, so this is the connection itself.
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
    // After a failed TLS handshake, or in the middle of an answer, more bytes would be read as part of it.
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

/** Serves plain connections, and with `alsoTls` those that begin a TLS handshake. */
function servePlain(
  server: Server,
  options: FrontOptions,
  exchanges: Exchanges,
  leave: (socket: Duplex) => void,
): (socket: Socket) => void {
  const serve = readPlain(server, options, exchanges, leave)
  const { alsoTls, faults } = options
  if (!alsoTls) return serve
  const { headersMs: firstByteMs, handshakeMs, keepAliveMs } = { ...DEADLINES, ...options.deadlines }
  const either = createEither(alsoTls, { firstByteMs, handshakeMs, keepAliveMs, faults, begin: exchanges.begin, serve })
  closing.set(server, either.close)
  return either.serve
}

/** Serves connections by reading their plain requests, and by `leave` when there are others. */
function readPlain(
  server: Server | TlsServer,
  options: FrontOptions,
  exchanges: Exchanges,
  leave: (socket: Duplex) => void,
): (socket: Duplex) => void {
  const { exchanges: owned, faults } = options
  if (!owned) return leave
  const { headersMs, idleMs, keepAliveMs, lingerMs } = { ...DEADLINES, ...options.deadlines }
  const connections = new Set<PlainConnection>()
  const plain: PlainServer = {
    owns: (head) => owned.owns(head),
    serve(exchange) {
      const leaveSource = exchanges.enter(exchange)
      if (!leaveSource) {
        refuseBusy(exchange)
        return undefined
      }
      const done = owned.handle(exchange)
      if (done instanceof Promise) faults.contain(exchange.socket, () => done)
      return leaveSource
    },
    contain: (socket, task) => faults.contain(socket, task),
    leave,
    isClosing: watchClosing(server),
    headersMs,
    idleMs,
    keepAliveMs,
    lingerMs,
  }
  // Node calls it as the server closes.
  const closeNodes = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    for (const connection of connections) connection.endIdle()
    closeNodes()
  }
  return (socket) => {
    const connection = new PlainConnection(socket, plain)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  }
}

/**
 * Whether the server has listened and accepts nothing new. One that never listens has its connections from elsewhere.
 */
function watchClosing(server: Server | TlsServer): () => boolean {
  let hasListened = false
  server.once('listening', () => (hasListened = true))
  return () => hasListened && !server.listening
}

function refuseBusy(exchange: Exchange): void {
  const headers = ['Retry-After', '5', 'Content-Length', String(BUSY.length), 'Connection', 'close']
  exchange.start({ status: 503, reason: 'Service Unavailable', headers })
  exchange.write(Buffer.from(BUSY))
  exchange.end()
}

type Exchanges = ReturnType<typeof createExchanges>

/** The answers that are due on each connection, in the order of the requests. */
function createExchanges({ limits, faults, handle, exchanges: owned, upgrade, sourceAddress }: FrontOptions) {
  const due = new WeakMap<Duplex, Due[]>()

  function serve(request: IncomingMessage, response: ServerResponse): unknown {
    return owned?.owns({ host: request.headers.host, method: request.method, url: request.url })
      ? owned.handle(new NodeExchange(request, response))
      : handle(request, response)
  }

  /** The function to call at the end of the request; undefined when its source has too many. */
  function enter(request: Pick<IncomingMessage, 'socket' | 'headers'>): (() => void) | undefined {
    const { socket } = request
    const { remoteAddress = '' } = socket
    // Other connections carry one request at a time, so their own limit is enough.
    const isShared = (socket as Duplex) instanceof Http2Exchange || (sourceAddress && limits.isTrusted(remoteAddress))
    return isShared ? limits.admitRequest(sourceAddress?.(request) ?? remoteAddress) : ignore
  }

  function serveNext(socket: Socket): void {
    const exchange = due.get(socket)?.[0]
    if (!exchange || socket.destroyed) return
    const { request, response } = exchange
    let leave: (() => void) | undefined
    response.once('close', () => {
      leave?.()
      due.get(socket)?.shift()
      exchange.ended()
      serveNext(socket)
    })
    faults.contain(socket, () => {
      leave = enter(request)
      if (leave) return exchange.serve(request, response)
      response.writeHead(503, { connection: 'close', 'retry-after': '5', 'content-length': BUSY.length })
      response.end(BUSY)
    })
  }

  return {
    enter,
    serve,
    begin: (socket: Duplex) => void due.set(socket, []),
    dueOn: (socket: Duplex): readonly Due[] | undefined => due.get(socket),

    mayLeave(request: IncomingMessage): boolean {
      const { socket, method, headers } = request
      if (!upgrade || due.get(socket)?.length || method !== 'GET') return false
      if (headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined) return false
      return upgrade.accepts(request)
    },

    take(taken: Due): void {
      const { request, response } = taken
      const { socket } = request
      const exchanges = due.get(socket)
      if (!exchanges) return void socket.destroy()
      if (exchanges.length >= MAX_SENT_AHEAD) return void socket.destroy()
      // Node drops bytes after a refused upgrade, so no request may follow it.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      exchanges.push(taken)
      if (exchanges.length === 1) serveNext(socket)
    },
  }
}

/**
 * Cuts a connection that has left HTTP when the client has read none of the written bytes for this long, or has ended
 * its side for this long.
 */
function cutWhenStalled(socket: Socket, stallMs: number): void {
  socket.setTimeout(stallMs)
  socket.on('timeout', () => {
    if (socket.writableLength > 0 || socket.readableEnded) socket.destroy()
    else socket.setTimeout(stallMs)
  })
}

/** Removes an event's listeners and returns the function that calls them. */
function takeListeners(server: Server | TlsServer, event: 'connection' | 'secureConnection'): (socket: Duplex) => void {
  const listeners = server.listeners(event)
  server.removeAllListeners(event)
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket)
  }
}

function ignore(): void {}
