/**
 * The Prometheus metrics of a hub: requests, fleet, tunnel and process. No name of a person or a gateway is a label.
 * Served on the hub's own port to holders of HUB_METRICS_TOKEN, or on HUB_METRICS_PORT; with neither there is no page,
 * and nothing is measured.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Server } from 'node:http'
import { API_BASE } from '@hedgerow/contract'
import { createConnectionLimits, createFront, cutConnections, type Refusal } from '@hedgerow/http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { sql, type Kysely } from 'kysely'
import type * as PromClient from 'prom-client'
import type { Config } from '../config.ts'
import { engineOf } from '../database/engine.ts'
import type { Backups } from '../backups/backups.ts'
import type { Tables } from '../database/tables.ts'
import type { Certificates } from '../certificates/certificates.ts'
import type { Connections } from '../http/connections.ts'
import type { FleetStatus, Statuses } from '../fleet/fleet.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Notifications } from '../notifications/notifications.ts'
import type { Vpn } from '../tunnel/tunnel.ts'
import { createGatewaySeries, type GatewaySeries } from './gateway-series.ts'

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30]

const OWN_PORT_LIMITS = { perSource: 16, total: 64 }

export type Metrics = {
  /** Counts a packet that the tunnel dropped. */
  countDrop(layer: 'wireguard' | 'netstack', reason: string): void
  /** Counts a request that a limit refused. */
  countRefusal(limit: string): void
  /** Counts a connection, or a request behind a proxy, refused for lack of places. */
  countRefusedConnection(reason: Refusal): void
  /** Counts a connection ended by an internal error. */
  countFault(): void
  /** Counts an answer of the second look; `refused` when the endpoint was not asked. */
  countSecondLook(outcome: 'confirmed' | 'rejected' | 'unsure' | 'refused'): void
  /** Counts a gateway's detections, stored or refused. */
  countDetections: GatewaySeries['countDetections']
  /** Adds the measures that need the fleet, and mounts the page. Call it before the hub answers. */
  mountOn(app: FastifyInstance, parts: MeasuredParts): void
  /** Opens its own port, if it has one. */
  start(): Promise<void>
  /** The address of that port, once it is open. */
  address(): AddressInfo | undefined
  stop(): Promise<void>
}

export type MeasuredParts = {
  db: Kysely<Tables>
  statuses: Statuses
  vpn: Pick<Vpn, 'traffic'>
  certificates: Pick<Certificates, 'list'>
  notifications: Pick<Notifications, 'status'>
  backups: Pick<Backups, 'state'>
  events: { streams(): number }
  secondLook: { waiting(): number } | undefined
  connections: Connections
}

type Prometheus = typeof PromClient

export async function openMetrics({
  metrics: config,
  databaseUrl,
}: Pick<Config, 'metrics' | 'databaseUrl'>): Promise<Metrics> {
  const { token, port, host } = config
  let page: () => Promise<Buffer> = async () => Buffer.alloc(0)
  if (token === undefined && port === undefined)
    return {
      countDrop: () => {},
      countDetections: () => {},
      countRefusal: () => {},
      countRefusedConnection: () => {},
      countFault: () => {},
      countSecondLook: () => {},
      mountOn: () => {},
      start: async () => {},
      address: () => undefined,
      stop: async () => {},
    }

  // Loaded only where it is used: it takes memory.
  const prometheus = await import('prom-client')
  const { collectDefaultMetrics, Counter, Registry } = prometheus
  const registry = new Registry()
  const registers = [registry]
  const drops = new Counter({
    name: 'hedgerow_tunnel_drops_total',
    help: 'Packets that the tunnel did not use',
    labelNames: ['layer', 'reason'],
    registers,
  })
  const refusals = new Counter({
    name: 'hedgerow_refused_total',
    help: 'Requests that a limit refused',
    labelNames: ['limit'],
    registers,
  })
  const refused = new Counter({
    name: 'hedgerow_connections_refused_total',
    help: 'Connections, and requests behind a proxy, that found no place',
    labelNames: ['reason'],
    registers,
  })
  const faults = new Counter({
    name: 'hedgerow_connection_faults_total',
    help: 'Connections that an error of the hub ended',
    registers,
  })
  const secondLooks = new Counter({
    name: 'hedgerow_second_looks_total',
    help: 'Second looks for gateways by outcome',
    labelNames: ['outcome'],
    registers,
  })
  let measured: MeasuredParts | undefined
  const series = createGatewaySeries()
  let server: Server | undefined

  return {
    countDrop: (layer, reason) => drops.inc({ layer, reason }),
    countDetections: series.countDetections,
    countRefusal: (limit) => refusals.inc({ limit }),
    countRefusedConnection: (reason) => refused.inc({ reason }),
    countFault: () => faults.inc(),
    countSecondLook: (outcome) => secondLooks.inc({ outcome }),

    mountOn(app, parts) {
      measured = parts
      collectDefaultMetrics({ register: registry })
      measureRequests(app, registry, prometheus)
      let statuses: readonly FleetStatus[] = []
      let traffic: ReturnType<Vpn['traffic']> = new Map()
      const onStatuses = (read: typeof statuses) => (statuses = read)
      const onTraffic = (read: typeof traffic) => (traffic = read)
      measureParts(prometheus, registry, { ...parts, onStatuses, onTraffic }, databaseUrl)
      page = async () => {
        const common = await registry.metrics()
        return config.gateways ? series.render(common, statuses, traffic) : Buffer.from(common)
      }
      if (token !== undefined)
        // Compressing megabytes for a collector nearby takes longer than everything else.
        app.get('/metrics', { compress: false }, async (request, reply) => {
          if (!isToken(request.headers.authorization, token)) throw new HubError('session_required')
          return reply.type(registry.contentType).send(await page())
        })
    },

    async start() {
      if (port === undefined || !measured) return
      const own = createFront({
        // Separate limits, so that a full hub can still be monitored.
        limits: createConnectionLimits({ ...OWN_PORT_LIMITS, sourceOf: (address) => address }),
        faults: measured.connections.faults,
        async handle(request, response) {
          const refuse = (status: number) => response.writeHead(status).end()
          if (request.url?.split('?', 1)[0] !== '/metrics') return refuse(404)
          if (token !== undefined && !isToken(request.headers.authorization, token)) return refuse(401)
          const written = await page().catch(() => undefined)
          return written === undefined
            ? refuse(503)
            : response.writeHead(200, { 'content-type': registry.contentType }).end(written)
        },
      })
      await new Promise<void>((resolve, reject) => {
        own.once('error', reject)
        own.listen({ host, port }, resolve)
      })
      server = own
    },

    address: () => (server?.address() ?? undefined) as AddressInfo | undefined,

    async stop() {
      if (server) cutConnections(server)
      await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
    },
  }
}

function measureRequests(app: FastifyInstance, registry: PromClient.Registry, { Histogram }: Prometheus): void {
  const duration = new Histogram({
    name: 'hedgerow_http_request_duration_seconds',
    help: 'Requests of the API by route',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  })
  app.addHook('onResponse', async (request, reply) => {
    const { url } = request.routeOptions
    // The route, never the address: requests for unknown addresses must not create labels.
    const route = url?.startsWith(API_BASE) ? url : 'other'
    const method = route === 'other' ? 'other' : request.method
    duration.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1_000)
  })
}

function measureParts(
  prometheus: Prometheus,
  registry: PromClient.Registry,
  {
    db,
    statuses: readStatuses,
    vpn,
    events,
    secondLook,
    connections,
    certificates,
    notifications,
    backups,
    onStatuses,
    onTraffic,
  }: MeasuredParts & {
    onStatuses: (statuses: readonly FleetStatus[]) => void
    onTraffic: (traffic: ReturnType<Vpn['traffic']>) => void
  },
  databaseUrl: string,
): void {
  const gauge = (
    name: string,
    help: string,
    collect: (this: PromClient.Gauge) => void | Promise<void>,
    label?: string,
  ) => new prometheus.Gauge({ name, help, collect, labelNames: label ? [label] : [], registers: [registry] })

  gauge(
    'hedgerow_gateways',
    'Gateways by status',
    async function collect() {
      const counts = { online: 0, warning: 0, offline: 0 }
      const statuses = await readStatuses()
      onStatuses(statuses)
      for (const { status } of statuses) counts[status]++
      for (const [status, count] of Object.entries(counts)) this.set({ status }, count)
    },
    'status',
  )
  gauge('hedgerow_registrations_pending', 'Registration requests that wait for a decision', async function collect() {
    const query = db.selectFrom('registrations').where('status', '=', 'pending')
    const { count } = await query.select((row) => row.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    this.set(count)
  })
  gauge('hedgerow_connections', 'Open connections of all listeners', function collect() {
    this.set(connections.limits.open())
  })
  gauge(
    'hedgerow_certificate_expiry_timestamp_seconds',
    'When a certificate expires',
    function collect() {
      for (const { id, expiresAt } of certificates.list()) this.set({ certificate: id }, Date.parse(expiresAt) / 1_000)
    },
    'certificate',
  )
  gauge(
    'hedgerow_notifications',
    'Mails and webhooks that wait, or that were given up',
    async function collect() {
      const { waiting, failed } = await notifications.status()
      this.set({ state: 'waiting' }, waiting)
      this.set({ state: 'failed' }, failed)
    },
    'state',
  )
  if (backups.state()) {
    gauge(
      'hedgerow_backup_age_seconds',
      'Age of the newest backup of the schedule; NaN without one',
      function collect() {
        this.set((backups.state()?.ageMs ?? Number.NaN) / 1_000)
      },
    )
    gauge('hedgerow_backup_trouble', '1 while backups fail, or are late', function collect() {
      this.set(backups.state()?.trouble === undefined ? 0 : 1)
    })
  }
  gauge('hedgerow_event_streams', 'Open streams of live events', function collect() {
    this.set(events.streams())
  })
  gauge('hedgerow_second_looks_waiting', 'Pictures that wait for the second look', function collect() {
    this.set(secondLook?.waiting() ?? 0)
  })
  gauge(
    'hedgerow_tunnel_bytes',
    'Bytes of the peers that the tunnel has, since it started',
    function collect() {
      let [received, sent] = [0, 0]
      const traffic = vpn.traffic()
      onTraffic(traffic)
      for (const { receivedBytes, sentBytes } of traffic.values()) {
        received += receivedBytes
        sent += sentBytes
      }
      this.set({ direction: 'received' }, received)
      this.set({ direction: 'sent' }, sent)
    },
    'direction',
  )
  gauge(
    'hedgerow_database_ping_seconds',
    'How long the database took for the smallest query',
    async function collect() {
      const startedAtMs = performance.now()
      await sql`select 1`.execute(db)
      this.set((performance.now() - startedAtMs) / 1_000)
    },
  )
  gauge('hedgerow_database_bytes', 'Size of the database', async function collect() {
    const size =
      engineOf(databaseUrl) === 'sqlite'
        ? sql<{ bytes: number }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
        : sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
    this.set((await size.execute(db)).rows[0]?.bytes ?? 0)
  })
}

function isToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`))
}
