/**
 * Gateways' own web pages and those of their applications, each on an origin of its own, through the tunnel. Owns the
 * tickets and sessions for them, the ports of port mode and every open exchange. Refuses requests without a live hub
 * session whose person may see the gateway, requests that another page makes with that person's cookie, and anything on
 * the hub's own origin: a gateway's page there could read the hub's token. http/server.ts asks `owns` for each request
 * and passes the owned ones on; module.ts issues the tickets; the fleet list uses `connectedUsers`.
 */
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { GATEWAY_REACH_PATH, type gatewayUiTicket, type GatewayWay, type ResponseOf } from '@hedgerow/contract'
import {
  createFront,
  rememberedByName,
  valuesOf,
  type ConnectionLimits,
  type Exchange,
  type Faults,
  type RequestHead,
  type TlsContext,
} from '@hedgerow/http'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { answerOversizedHead, clearingOf } from '../http/oversized-head.ts'
import type { Caller, Sessions } from '../access/sessions.ts'
import type { SourceAddress } from '../access/source-address.ts'
import {
  applicationRefusal,
  createVisitorAccess,
  type Admitted,
  type ApplicationsOf,
  type FindGateway,
  type UiGateway,
} from './visitor-access.ts'
import { createGatewayConnections, doorOf, type Dial } from './gateway-connections.ts'
import { overlongCookies } from './cookies.ts'
import { blockedUdpPage, failureOf, failurePage, TOO_MANY_OF_A_SESSION } from './failures.ts'
import { answerReach, handOver, HANDOVER_PATH, isLocalPath } from './handover.ts'
import { headersFromGateway, headersToGateway, sessionMark, type ForBrowser, type ForGateway } from './headers.ts'
import { createHubOrigins, type HubPorts } from './hub-origin.ts'
import {
  createOrigins,
  isPortMode,
  parseHost,
  wayOf,
  type GatewayHost,
  type GatewayUiMode,
  type Place,
} from './origins.ts'
import { createGatewayPorts } from './ports.ts'
import { createOpenVisits, type OpenExchange } from './open-visits.ts'
import { PROGRESS_TIMEOUT_MS, proxyRequest, type Passage } from './proxy.ts'
import { refuse } from './refusal.ts'
import { isCrossOriginRequest, isNavigation } from './fetch-metadata.ts'
import { requestLines } from './request-head.ts'
import { replyOn, replyTo, type Reply } from './reply.ts'
import { createTickets, type Grant } from './tickets.ts'
import { createUiSessions } from './ui-sessions.ts'
import { proxyWebSocket } from './websocket.ts'

const CONNECT_TIMEOUT_MS = 10_000

export type GatewayProxyDeps = {
  db: Kysely<Tables>
  config: Pick<Config, 'host' | 'publicUrl' | 'gatewayUi'>
  sessions: Pick<Sessions, 'find' | 'remembered' | 'onEnded' | 'authenticate'>
  findGateway: FindGateway
  applicationsOf: ApplicationsOf
  dial: Dial
  hubPorts: () => HubPorts
  /** The hub's certificate; undefined when its HTTPS is off, and gateways' ports have no TLS either. */
  tls: (() => TlsContext) | undefined
  sourceAddress: SourceAddress
  /** Limits for the gateways' ports; the hub's own listeners have theirs. */
  limits: ConnectionLimits
  faults: Faults
  clock: () => number
  log: Logger
  /** How long a gateway may take to accept a connection, and to make progress on a request, in milliseconds. */
  timeouts?: { connectTimeoutMs: number; progressTimeoutMs: number }
}

export type GatewayProxy = {
  /** Whether a request to this Host belongs to a gateway's origin and so never to the hub. */
  owns(host: string | undefined): boolean
  handle(exchange: Exchange): void
  /** Whether a request to a gateway's origin may leave HTTP. */
  acceptsUpgrade(req: IncomingMessage): boolean
  handleUpgrade(req: IncomingMessage, socket: Socket, head: Buffer): void
  /** What a page of the hub at this host may call and hand over to. */
  handoverSources(host: string | undefined, isTls: boolean): string[]
  connectedUsers(gatewayId: string): number
  /** A person or a gateway has changed: ends connections that are no longer allowed. */
  recheck(): Promise<void>
  issueTicket(
    caller: Caller,
    request: Place & { way?: GatewayWay | undefined },
    headers: IncomingHttpHeaders,
  ): Promise<ResponseOf<typeof gatewayUiTicket>>
  /** Opens the ports of all gateways that have one. */
  start(): Promise<void>
  /** Ends the exchanges that do not end by themselves, such as WebSockets. */
  endEndless(): void
  /** Closes them and ends every exchange. */
  stop(): Promise<void>
}

/** What the exchange with a gateway needs, whichever kind it is. */
type Target = Omit<Passage, 'pool' | 'lines' | 'translate'> & {
  gateway: UiGateway
  forGateway: ForGateway
  forBrowser: ForBrowser
}
/** Opens the way to a gateway. */
type Open = (target: Target) => OpenExchange

export function createGatewayProxy(deps: GatewayProxyDeps): GatewayProxy {
  const { db, config, clock, log } = deps
  const { connectTimeoutMs, progressTimeoutMs } = deps.timeouts ?? {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    progressTimeoutMs: PROGRESS_TIMEOUT_MS,
  }
  const {
    publicUrl,
    gatewayUi: { origin: gatewayOrigin, ports: range },
  } = config
  const origins = createOrigins({ gatewayOrigin, publicUrl })
  const tickets = createTickets({ clock })
  const sessions = createUiSessions({ clock })
  const hubOrigins = createHubOrigins({ gatewayOrigin, publicUrl }, deps.hubPorts)
  const visitorAccess = createVisitorAccess({
    hubSessions: deps.sessions,
    uiSessions: sessions,
    findGateway: deps.findGateway,
    applicationsOf: deps.applicationsOf,
    clock,
  })
  const openVisits = createOpenVisits({
    clock,
    log,
    isAllowed: async (visit) => (await visitorAccess.allow(visit)) !== undefined,
  })
  const connections = createGatewayConnections({ dial: deps.dial, connectTimeoutMs })
  const ports = createGatewayPorts({
    db,
    range,
    host: config.host,
    createServer: createPortServer,
    onUnavailable: (port, err) => log.warn({ port, err }, 'a port for a gateway page is not available'),
  })
  const stopListening = deps.sessions.onEnded((sessionId) => {
    tickets.endSession(sessionId)
    sessions.endSession(sessionId)
    openVisits.endSession(sessionId)
  })

  async function handle(exchange: Exchange, host: GatewayHost): Promise<void> {
    checkRequestLine(exchange)
    // This is no WebSocket, or it was sent before the previous answer has ended.
    if (isUpgrade(exchange)) throw new HubError('invalid_request')
    if (exchange.url?.startsWith('/__hub/')) {
      if (exchange.url === GATEWAY_REACH_PATH && exchange.method === 'GET') return answerReach(exchange)
      if (exchange.url.split('?', 1)[0] !== HANDOVER_PATH) throw new HubError('not_found')
      const admit = (grant: Grant) => recordVisit(exchange, grant)
      return handOver(exchange, host, { tickets, sessions, admit, formTimeoutMs: progressTimeoutMs })
    }
    const isWelcome = (origin: string) => !isCrossOriginRequest(exchange.method, exchange.headers, origin)
    return prepare(exchange, { reply: replyTo(exchange), host, isWelcome }, (target) =>
      proxyRequest(exchange, {
        ...target,
        pool: connections.poolOf(target.gateway, doorOf(host)),
        lines: requestLines(headersToGateway(exchange.rawHeaders, target.forGateway)),
        translate: (head) => ({ ...head, headers: headersFromGateway(head.headers, target.forBrowser) }),
      }),
    )
  }

  async function handleWebSocket(
    req: IncomingMessage,
    { socket, head, reply }: { socket: Socket; head: Buffer; reply: Reply },
    host: GatewayHost,
  ): Promise<void> {
    checkRequestLine(req)
    const isWelcome = (origin: string) => req.headers.origin === origin
    return prepare(req, { reply, host, isWelcome }, (target) =>
      proxyWebSocket(
        req,
        { socket, head },
        {
          ...target,
          open: () => connections.open(target.gateway, doorOf(host)),
          headers: headersToGateway(req.rawHeaders, target.forGateway),
          answerHeaders: (raw) => headersFromGateway(raw, target.forBrowser),
        },
      ),
    )
  }

  /** All checks between a request and its gateway, and then `open`, unless the browser left meanwhile. */
  async function prepare(
    req: RequestHead,
    request: { reply: Reply; host: GatewayHost; isWelcome: (origin: string) => boolean },
    open: Open,
  ): Promise<void> {
    if (overlongCookies(req.headers.cookie, request.host)) throw new HubError('request_head_too_large')
    const admitted = await visitorAccess.admit(req, request.host)
    if (!request.isWelcome(admitted.grant.origin)) throw new HubError('origin_not_allowed')
    pass(req, { ...request, ...admitted, dropAuthorization: await visitorAccess.carriesHubToken(req) }, open)
  }

  function pass(
    req: RequestHead,
    {
      reply,
      host,
      caller,
      gateway,
      grant,
      dropAuthorization,
    }: Admitted & { reply: Reply; host: GatewayHost; dropAuthorization: boolean },
    open: Open,
  ): void {
    if (!reply.isOpen() || req.socket.destroyed) return
    if (gateway.blockedUdp !== undefined)
      return refuse(req, reply, 'gateway_unreachable', blockedUdpPage(gateway, grant.hubOrigin, gateway.blockedUdp))

    let exchange: OpenExchange = { cut: () => void req.socket.destroy(), isEndless: () => false }
    const visit = {
      sessionId: caller.sessionId,
      userId: caller.userId,
      gatewayId: gateway.id,
      application: host.application,
    }
    const leave = openVisits.enter(visit, { cut: () => exchange.cut(), isEndless: () => exchange.isEndless() })
    if (!leave) throw new HubError('too_many_requests')
    const { username, role } = caller
    const { origin } = grant
    try {
      exchange = open({
        gateway,
        forGateway: {
          jar: host,
          visitor: { username, role, session: sessionMark(visit), sourceIp: deps.sourceAddress(req), origin },
          dropAuthorization,
        },
        forBrowser: { jar: host, origin, address: gateway.address },
        progressTimeoutMs,
        contain: (task) => deps.faults.contain(req.socket, task),
        onUnreachable: (err) => refuseUnreachable(req, reply, gateway, grant.hubOrigin, err),
        onOver: leave,
      })
    } catch (error) {
      leave()
      throw error
    }
  }

  function refuseUnreachable(req: RequestHead, reply: Reply, gateway: UiGateway, hubUrl: string, err: Error): void {
    const failure = failureOf(err, gateway.isOffline())
    log.info({ err, failure, gatewayId: gateway.id }, 'a gateway page is unreachable')
    const about = { error: err, seconds: progressTimeoutMs / 1_000, port: gateway.vpnPort() }
    const page = failurePage(failure, { gateway, hubUrl, ...about })
    refuse(req, reply, 'gateway_unreachable', page)
  }

  /** Checks a handover when it is redeemed, and logs it: person, gateway, address, time. */
  async function recordVisit(req: RequestHead, grant: Grant): Promise<void> {
    const allowed = await visitorAccess.allow(grant)
    if (!allowed) throw new HubError('session_ended')
    const { caller, gateway } = allowed
    const act = { actor: caller, sourceIp: deps.sourceAddress(req), now: clock() }
    const application = grant.application ?? null
    await inTransaction(db, async (transaction) => {
      await transaction
        .insertInto('ui_access')
        .values({
          gateway_id: gateway.id,
          application,
          user_id: caller.userId,
          started_at: act.now,
          source_ip: act.sourceIp,
        })
        .execute()
      await record(transaction, {
        kind: 'gateway.opened',
        ...by(act),
        target: gateway.id,
        gatewayId: gateway.id,
        data: { gatewayName: gateway.name, application },
      })
    })
  }

  function answerFailure(error: unknown, req: RequestHead, reply: Reply, host: GatewayHost): void {
    if (!reply.isOpen()) return reply.cut()
    const code = error instanceof HubError ? error.code : 'internal_error'
    if (code === 'internal_error')
      log.error({ err: error, gatewayId: host.gatewayId }, 'a request for a gateway page failed')
    const hubUrl = hubOrigins.behind(host, hasTls(req))
    const hasNoSession = code === 'session_required' || code === 'session_ended'
    if (hasNoSession && hubUrl && isNavigation(req.method, req.headers)) {
      const Location = `${hubUrl}${handoverPage(host, req.url ?? '')}`
      return reply.send(302, { Location, 'Cache-Control': 'no-store' })
    }
    const advice =
      hasNoSession || code === 'ticket_invalid' ? ['Open this gateway again from the list of gateways in the hub.'] : []
    refuse(
      req,
      reply,
      code,
      {
        advice,
        ...(code === 'too_many_requests' && TOO_MANY_OF_A_SESSION),
        back: hubUrl === undefined ? undefined : { url: hubUrl, label: 'Back to the hub' },
      },
      {
        ...(code === 'method_not_allowed' && { Allow: 'POST' }),
        ...(code === 'request_head_too_large' && {
          'Set-Cookie': clearingOf(overlongCookies(req.headers.cookie, host) ?? [], {
            path: req.url,
            host: host.authority,
          }),
        }),
      },
    )
  }

  function serve(exchange: Exchange, host: GatewayHost | undefined): void {
    const reply = replyTo(exchange)
    if (!host) return refuse(exchange, reply, 'invalid_request')
    handle(exchange, host).catch((error: unknown) =>
      deps.faults.contain(exchange.socket, () => answerFailure(error, exchange, reply, host)),
    )
  }

  function upgrade(req: IncomingMessage, socket: Socket, head: Buffer, host: GatewayHost | undefined): void {
    const reply = replyOn(socket)
    if (!host) return refuse(req, reply, 'invalid_request')
    handleWebSocket(req, { socket, head, reply }, host).catch((error: unknown) =>
      deps.faults.contain(socket, () => answerFailure(error, req, reply, host)),
    )
  }

  function createPortServer(place: Place): Server {
    const named = (mode: GatewayUiMode) =>
      rememberedByName((host): GatewayHost | undefined => {
        const authority = parseHost(host)?.authority
        return authority === undefined ? undefined : { ...place, mode, authority }
      })
    const [plain, secure] = [named('ports'), named('tls-ports')]
    const hostOf = (req: RequestHead) => (hasTls(req) ? secure : plain)(req.headers.host ?? '')
    return createFront({
      limits: deps.limits,
      faults: deps.faults,
      sourceAddress: deps.sourceAddress,
      answerUnreadable: answerOversizedHead,
      handle: (_req, res) => void res.destroy(),
      exchanges: { owns: () => true, handle: (exchange) => serve(exchange, hostOf(exchange)) },
      upgrade: { accepts: isWebSocketUpgrade, handle: (req, socket, head) => upgrade(req, socket, head, hostOf(req)) },
      alsoTls: deps.tls,
    })
  }

  return {
    owns: (host) => origins.locate(host) !== undefined,
    handle: (exchange) => serve(exchange, origins.locate(exchange.headers.host)),
    acceptsUpgrade: isWebSocketUpgrade,
    handleUpgrade: (req, socket, head) => upgrade(req, socket, head, origins.locate(req.headers.host)),
    handoverSources: origins.sourcesFor,
    connectedUsers: openVisits.connectedUsers,
    recheck() {
      visitorAccess.invalidate()
      return openVisits.recheck()
    },

    async issueTicket(caller, { gatewayId, application, way: target }, headers) {
      const gateway = await deps.findGateway(caller, gatewayId)
      const place: Place = { gatewayId: gateway.id, application }
      const refusal = applicationRefusal(caller, place, deps.applicationsOf(gateway.id) ?? [])
      if (refusal !== undefined) throw new HubError(refusal)
      const hubOrigin = hubOrigins.calling(headers)
      const modes = origins.modesFor(hubOrigin)
      const mode = modes.find((one) => wayOf(one) === target) ?? modes[0]
      const other = modes.find((one) => one !== mode)
      let port: number | undefined
      if (isPortMode(mode)) {
        if (mode === 'tls-ports' && !deps.tls) throw new HubError('gateway_origin_required')
        const callingPort = Number(hubOrigin.port)
        if (callingPort >= range.first && callingPort <= range.last) throw new HubError('origin_not_allowed')
        port = await ports.portOf(place)
      }
      const origin = origins.originOf(place, mode, hubOrigin, port)
      const { sessionId, userId } = caller
      const ticket = tickets.issue({ ...place, sessionId, userId, mode, origin, hubOrigin: hubOrigin.origin })
      return { action: `${origin}${HANDOVER_PATH}`, ticket, otherWay: other === undefined ? null : wayOf(other) }
    },

    start: ports.start,
    endEndless: openVisits.endEndless,
    async stop() {
      stopListening()
      await openVisits.stop()
      await ports.stop()
      connections.stop()
    },
  }
}

/** The page of the hub that hands over to a place, and there to `path`. */
function handoverPage({ gatewayId, application }: Place, path: string): string {
  const query = new URLSearchParams({
    ...(application !== undefined && { application }),
    ...(isLocalPath(path) && path !== '/' && { path }),
  })
  return `/proxy/gateway/${gatewayId}${query.size === 0 ? '' : `?${query}`}`
}

/** Whether the connection itself has TLS, whatever there is in front of the hub. */
function hasTls({ socket }: RequestHead): boolean {
  return 'encrypted' in socket
}

/** Accepts only a path on this origin: browsers send nothing else. */
function checkRequestLine(req: RequestHead): void {
  if (!req.url?.startsWith('/') || valuesOf(req.rawHeaders, 'host').length !== 1) throw new HubError('invalid_request')
  if (req.method === 'TRACE' || req.method === 'CONNECT') throw new HubError('method_not_allowed')
}

function isUpgrade({ rawHeaders, headers }: RequestHead): boolean {
  return headers.upgrade !== undefined && /\bupgrade\b/i.test(valuesOf(rawHeaders, 'connection').join(','))
}

function isWebSocketUpgrade(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === 'websocket'
}
