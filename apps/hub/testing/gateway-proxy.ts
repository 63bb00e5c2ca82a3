import { once } from 'node:events'
import { createServer, request, Server, type IncomingMessage, type RequestListener } from 'node:http'
import { request as tlsRequest } from 'node:https'
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import type { Application, GatewayWay, Role } from '@hedgerow/contract'
import { createConnectionLimits, createFaults, type TlsContext } from '@hedgerow/http'
import { pino } from 'pino'
import { createSessions } from '../src/accounts/sessions.ts'
import type { Config } from '../src/config.ts'
import type { Engine } from '../src/database/engine.ts'
import { createGatewayProxy } from '../src/gateway-proxy/gateway-proxy.ts'
import { findGateway } from '../src/access/objects.ts'
import { scopeOf } from '../src/access/scope.ts'
import { issueAuthority, issueServerCertificate } from '../src/certificates/issue.ts'
import { createServers } from '../src/http/server.ts'
import { createSourceAddress } from '../src/access/source-address.ts'
import { openTestDatabase } from './databases.ts'

export type Answer = { status: number; headers: IncomingMessage['headers']; rawHeaders: string[]; text: string }
type Ask = {
  method?: string
  path?: string
  headers?: Record<string, string | string[]>
  body?: string
  isTls?: boolean
}

/** One request to a port of this machine, with the given target and headers unchanged. */
export function send(
  port: number,
  host: string,
  { method = 'GET', path = '/', headers, body, isTls = false }: Ask = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers: { host, ...headers }, agent: false }
    const outgoing = isTls ? tlsRequest({ ...options, rejectUnauthorized: false }) : request(options)
    outgoing.once('error', reject)
    outgoing.once('response', (incoming) => {
      const { statusCode: status = 0, headers, rawHeaders } = incoming
      buffer(incoming).then((bytes) => resolve({ status, headers, rawHeaders, text: bytes.toString() }), reject)
    })
    outgoing.end(body && Buffer.from(body))
  })
}

/** Writes raw bytes to a port and returns all that comes back. */
export function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes, 'latin1')
  socket.setTimeout(3_000, () => socket.end())
  return text(socket)
}

/** Consecutive ports that were free a moment ago. */
export async function freeRange(count: number): Promise<{ first: number; last: number }> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 20_000)
    const servers = await Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const server = createTcpServer()
        server.listen(first + i, '127.0.0.1')
        return once(server, 'listening').then(
          () => server,
          () => undefined,
        )
      }),
    )
    for (const server of servers) server?.close()
    if (servers.every(Boolean)) return { first, last: first + count - 1 }
  }
}

async function listen(server: TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function issueCertificate(): Promise<TlsContext> {
  const authority = await issueAuthority(Date.now())
  const { certificate, privateKey } = await issueServerCertificate(authority, ['localhost'], Date.now())
  return { cert: certificate, key: privateKey }
}

type Options = {
  engine?: Engine
  config?: Partial<Config>
  progressTimeoutMs?: number
  /** The hub's own https is on, too. */
  https?: boolean
}

/**
 * The parts of a hub that gateway pages need, on a real database and real sockets; loopback stands in for the tunnel.
 */
export async function startGatewayUi({
  engine = 'sqlite',
  config,
  progressTimeoutMs = 5_000,
  https = false,
}: Options = {}) {
  const database = await openTestDatabase(engine)
  const { db } = database
  let offsetMs = 0
  const clock = () => Date.now() + offsetMs
  const log = pino({ level: 'silent' })
  const sessions = createSessions({ db, secret: Buffer.alloc(32, 7).toString('base64'), clock, log })
  const gatewayServers = new Map<string, TcpServer>()
  const dialed: Socket[] = []
  /** By gateway, the fleet's `blockedUdp`. */
  const blockedUdp = new Map<string, string>()
  /** Gateways whose status is offline. */
  const offline = new Set<string>()
  /** By gateway, its applications. */
  const offered = new Map<string, Application[]>()
  let rows = 0

  const sourceAddress = createSourceAddress([])
  const limits = createConnectionLimits({ perSource: 512, total: 4096, sourceOf: (address) => address })
  const faulty: unknown[] = []
  const faults = createFaults({ report: (error) => faulty.push(error) })
  const certificate = https ? await issueCertificate() : undefined
  const ui = createGatewayProxy({
    db,
    config: {
      host: '127.0.0.1',
      publicUrl: undefined,
      gatewayUi: { ports: { first: 1, last: 0 }, origin: undefined },
      ...config,
    },
    sessions,
    findGateway: async (caller, id) => ({
      ...(await findGateway(db, scopeOf(caller), id)),
      vpnPort: () => 'port 51820 of hub.example.org',
      blockedUdp: blockedUdp.get(id),
      isOffline: () => offline.has(id),
    }),
    applicationsOf: (id) => offered.get(id),
    dial(address, door, signal) {
      const server = gatewayServers.get(door === 'interface' ? address : `${address} applications`)
      const port = server?.listening ? (server.address() as AddressInfo).port : 1
      const socket = connect({ host: '127.0.0.1', port, ...(signal && { signal }) })
      dialed.push(socket)
      return socket
    },
    hubPorts: () => ({ port: hubPort, httpsPort }),
    tls: certificate && (() => certificate),
    sourceAddress,
    limits,
    faults,
    clock,
    log,
    timeouts: { connectTimeoutMs: 2_000, progressTimeoutMs },
  })
  const servers = createServers(ui, { limits, faults, sourceAddress })
  const hub = servers.factory((_req, res) => res.end('the hub itself'), {}) as Server
  const hubPort = await listen(hub)
  const secureHub = certificate && servers.createTls(certificate)
  const httpsPort = secureHub && (await listen(secureHub))
  await ui.start()

  async function addGateway(listener: RequestListener | TcpServer) {
    const n = ++rows
    const server = typeof listener === 'function' ? createServer(listener) : listener
    await listen(server)
    const address = `100.64.0.${n + 1}`
    gatewayServers.set(address, server)
    const id = `gateway${'abcdefghijklmnopqrstuvwxyz'[n]}2345`
    await db
      .insertInto('gateways')
      .values({
        id,
        kind: 'enrolled',
        name: `Barn <${n}>`,
        name_key: `barn ${n}`,
        location: '',
        description: '',
        device_token: `DT-${n}`,
        owner_id: null,
        wireguard_public_key: `key ${n}`,
        preshared_key: '',
        address,
        created_at: clock(),
      })
      .execute()
    return { id, address, server }
  }

  async function signIn(role: Role = 'admin', username = `${role} ${++rows}`) {
    const id = `user ${++rows}`
    await db
      .insertInto('users')
      .values({
        id,
        username,
        username_key: username,
        email: '',
        first_name: '',
        last_name: '',
        role,
        active: 1,
        password_hash: '',
        created_at: clock(),
      })
      .execute()
    const token = await sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    return { token, caller: await sessions.authenticate(token) }
  }

  /** The gateway reports these applications from now on. */
  function name({ id }: { id: string }, names: readonly (string | Pick<Application, 'name' | 'leastRole'>)[]) {
    offered.set(
      id,
      names.map((one) => (typeof one === 'string' ? { name: one, title: one } : { ...one, title: one.name })),
    )
  }

  /** The gateway offers these applications from now on; all answer with this server. */
  async function offer(
    gateway: { id: string; address: string },
    names: Parameters<typeof name>[1],
    listener: RequestListener | TcpServer,
  ) {
    const server = typeof listener === 'function' ? createServer(listener) : listener
    await listen(server)
    const door = `${gateway.address} applications`
    gatewayServers.get(door)?.close()
    gatewayServers.set(door, server)
    name(gateway, names)
  }

  /** Behaves as an older agent: nothing listens on the port of applications. */
  function closeApplications({ address }: { address: string }) {
    const server = gatewayServers.get(`${address} applications`)
    server?.close()
    for (const socket of dialed) socket.destroy()
  }

  type Caller = Awaited<ReturnType<typeof signIn>>['caller']
  const hubHost = () => `localhost:${hubPort}`

  /** Does what a browser does with a ticket: posts it from the hub's page and keeps the cookie. */
  async function open(
    caller: Caller,
    gatewayId: string,
    host = hubHost(),
    application?: string,
    { way, scheme = 'http' }: { way?: GatewayWay; scheme?: 'http' | 'https' } = {},
  ) {
    const origin = `${scheme}://${host}`
    const { action, ticket } = await ui.issueTicket(caller, { gatewayId, application, way }, { host, origin })
    const url = new URL(action)
    const isTls = url.protocol === 'https:'
    const port = url.hostname.endsWith('.localhost') ? hubPort : Number(url.port)
    const handover = await send(port, url.host, {
      method: 'POST',
      path: url.pathname,
      headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ticket }).toString(),
      isTls,
    })
    const cookie = handover.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const go = ({ headers, ...rest }: Ask = {}) =>
      send(port, url.host, { isTls, ...rest, headers: { cookie, ...headers } })
    return { origin: url.origin, host: url.host, port, cookie, handover, go }
  }

  /** An admin on the page of a new gateway with this web server. */
  async function openPage(listener: RequestListener | TcpServer) {
    const person = await signIn('admin', `admin-${++rows}`)
    const gateway = await addGateway(listener)
    return { ...person, gateway, ...(await open(person.caller, gateway.id)) }
  }

  return {
    ui,
    db,
    sessions,
    hubPort,
    hubHost: hubHost(),
    dialed,
    blockedUdp,
    offline,
    limits,
    /** Errors that reached the last guard: the first of each minute. */
    faulty,
    addGateway,
    offer,
    name,
    closeApplications,
    signIn,
    open,
    openPage,
    httpsPort,
    turnClock: (ms: number) => void (offsetMs += ms),
    async stop() {
      await ui.stop()
      await sessions.stop()
      secureHub?.close()
      for (const server of [hub, ...gatewayServers.values()]) {
        if (server instanceof Server) server.closeAllConnections()
        server.close()
      }
      for (const socket of dialed) socket.destroy()
      await database.close()
    },
  }
}

export type TestGatewayUi = Awaited<ReturnType<typeof startGatewayUi>>
