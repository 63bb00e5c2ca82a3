/**
 * The fleet: access to gateways, and their fields. A user sees the gateways they claimed, managers and admins all; a
 * gateway that the caller may not see answers as one that does not exist. Private keys never leave through here. Called
 * by the routes, by dashboard/ for its counts and by gateway-proxy/ for access.
 */
import { randomBytes } from 'node:crypto'
import {
  protectionOf,
  type Gateway,
  type Heartbeat,
  type KnownToProtect,
  type Language,
  type Snooze,
  type SearchQuery,
} from '@hedgerow/contract'
import { ofGatewayTexts } from '@hedgerow/contract/gateway-fields'
import { base32 } from '@hedgerow/enrolment'
import type { Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { databaseOf } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { nameKey } from '../kernel/name-key.ts'
import { slices } from '../kernel/slices.ts'
import { pageFrom, sendPage, type Headers } from '../http/pagination.ts'
import type { VisibleGateway } from '../access/objects.ts'
import type { Scope } from '../access/scope.ts'
import { readSettings } from '../settings/settings.ts'
import { placeOf, siteOf } from '../sites/sites.ts'
import { gatewayAddresses } from '../tunnel/tunnel.ts'
import type { Heartbeats, LatestHeartbeat } from './heartbeats.ts'
import type { Fleet, FleetGateway } from './snapshot.ts'
import { isUdpBlocked, judge, problemNames, reasonOf, statusOf, type Judgement, type Signals } from './status.ts'

/** The fleet's current signals, which are not in its rows. */
export type FleetSignals = {
  clock: () => number
  heartbeats: Pick<Heartbeats, 'latest'>
  /** The last handshake by WireGuard key, in milliseconds since 1970. */
  handshakes(): ReadonlyMap<string, number>
  /** The address from which the gateway with this WireGuard key sends now. */
  endpointOf(publicKey: string): string | undefined
  /** Whether a plain-WireGuard gateway answered the last health check. */
  isHealthy(gatewayId: string): boolean | undefined
  refusals(gatewayId: string): { detections: number; at: number; message: string } | undefined
  /** The host and port that gateways' UDP packets must reach, in words: `port 51820 of hub.example.org`. */
  vpnPort(): string
}

export type ListDependencies = {
  fleet: Fleet
  signals: FleetSignals
  hubPublicKey: string
  connectedUsers(gatewayId: string): number
  /** When the newest problem of a gateway with a warning began, in milliseconds since 1970. */
  warningSince(gatewayId: string): number | undefined
}

export type Listing = ListDependencies & {
  query: SearchQuery & { site?: string | undefined; tag?: string | undefined }
  reply: Headers
}

/** The gateways that the caller may see and that match, by name: all, or a page. */
export async function listGateways(scope: Scope, { query, reply, ...dependencies }: Listing): Promise<Gateway[]> {
  const page = pageFrom(query, ['string'])
  const { rowsWanted = Infinity } = page
  const after = page.after && String(page.after[0])
  const sought = nameKey(query.q ?? '')
  const found: FleetGateway[] = []
  for (const gateway of await dependencies.fleet()) {
    if (found.length === rowsWanted) break
    if (after !== undefined && gateway.name_key <= after) continue
    const isTagged = query.tag === undefined || gateway.tags.includes(query.tag)
    const isThere = query.site === undefined || gateway.site_id === query.site
    if (isTagged && isThere && scope.has(gateway) && gateway.text.includes(sought)) found.push(gateway)
  }
  const shown = sendPage(reply, found, page, ({ name_key }) => [name_key])
  return (await Array.fromAsync(presentInSlices(shown, dependencies))).flat()
}

/** In slices, between which other requests run. */
export async function* presentInSlices(
  gateways: readonly FleetGateway[],
  dependencies: ListDependencies,
): AsyncGenerator<Gateway[]> {
  for await (const some of slices(gateways)) {
    const handshakes = dependencies.signals.handshakes()
    yield some.map((gateway) => present(gateway, dependencies, handshakes))
  }
}

/** The gateway as in the list. Throws `gateway_not_found`, also for one outside the scope. */
export async function presentGateway(scope: Scope, id: string, dependencies: ListDependencies): Promise<Gateway> {
  const gateway = (await dependencies.fleet()).find((one) => one.id === id)
  if (!gateway || !scope.has(gateway)) throw new HubError('gateway_not_found')
  return present(gateway, dependencies, dependencies.signals.handshakes())
}

/** The host and port that a gateway's UDP must reach, in words, while it seems to be blocked. Cheap otherwise. */
export function blockedUdp(
  { id, kind, wireguardPublicKey, lastHandshakeAt, createdAt }: VisibleGateway,
  signals: FleetSignals,
): string | undefined {
  const observed = { kind, now: signals.clock(), heartbeat: signals.heartbeats.latest(id), createdAt }
  if (!isUdpBlocked({ ...observed, latestHandshakeAt: lastHandshakeAt ?? undefined })) return undefined
  const latestHandshakeAt = signals.handshakes().get(wireguardPublicKey) ?? lastHandshakeAt ?? undefined
  return isUdpBlocked({ ...observed, latestHandshakeAt }) ? signals.vpnPort() : undefined
}

/** Whether the gateway's status is offline. */
export function isOffline(
  { id, kind, wireguardPublicKey, lastHandshakeAt, createdAt }: VisibleGateway,
  signals: FleetSignals,
): boolean {
  const columns = {
    wireguard_public_key: wireguardPublicKey,
    last_handshake_at: lastHandshakeAt,
    created_at: createdAt,
  }
  return statusOf(signalsOf({ id, kind, ...columns }, signals, signals.handshakes())) === 'offline'
}

export type FleetStatus = Judgement & {
  reasonIn(language: Language): string
  /** What is wrong while it has a warning: `problemNames`. */
  problems: string[]
  id: string
  name: string
  siteId: string | null
  /** Its site or, without one, its location. */
  place: string
  tags: readonly string[]
  /** The WireGuard public key. */
  publicKey: string
  /** Its only problem is that cameras are offline or frozen. */
  isOnlyCameras: boolean
  /** The last heartbeat or handshake, in milliseconds since 1970. */
  lastSeenAt: number | undefined
  /** Its detections that waited for the hub, and those that it lost, by its last heartbeat. */
  queue: Heartbeat['queue']
  /** By whom it is disarmed, by its last heartbeat. */
  disarmed?: Heartbeat['disarmed']
  /** Its outages are no alert. */
  isInMaintenance?: boolean
  /** Restarts of its agent, by its last heartbeat. */
  restarts?: Heartbeat['restarts']
}

/** The statuses of the scope's gateways, or of all, by name. Other requests run meanwhile. */
export type Statuses = (scope?: Scope) => Promise<FleetStatus[]>

export function createStatuses(fleet: Fleet, signals: FleetSignals): Statuses {
  return async (scope) => {
    const gateways = await fleet()
    const statuses: FleetStatus[] = []
    for await (const some of slices(scope ? gateways.filter((one) => scope.has(one)) : gateways)) {
      const handshakes = signals.handshakes()
      for (const gateway of some) statuses.push(new JudgedGateway(gateway, signalsOf(gateway, signals, handshakes)))
    }
    return statuses
  }
}

/**
 * Getters of a class, because few callers need what they tell, and a literal with getters costs more for each gateway.
 */
class JudgedGateway implements FleetStatus {
  readonly id: string
  readonly name: string
  readonly siteId: string | null
  readonly place: string
  readonly tags: readonly string[]
  readonly publicKey: string
  readonly status: FleetStatus['status']
  readonly lastSeenAt: number | undefined
  readonly queue: Heartbeat['queue']
  readonly restarts: Heartbeat['restarts']
  readonly disarmed: Heartbeat['disarmed']
  readonly #signals: Signals

  constructor(gateway: FleetGateway, signals: Signals) {
    this.id = gateway.id
    this.name = gateway.name
    this.siteId = gateway.site_id
    this.place = placeOf(gateway)
    this.tags = gateway.tags
    this.publicKey = gateway.wireguard_public_key
    this.status = statusOf(signals)
    this.lastSeenAt = lastSeen(signals)
    this.queue = signals.heartbeat?.content.queue
    this.restarts = signals.heartbeat?.content.restarts
    this.disarmed = signals.heartbeat?.content.disarmed
    this.#signals = signals
  }

  get isOnlyCameras(): boolean {
    return isOnlyCameras(this.#signals)
  }

  get isInMaintenance(): boolean {
    const { heartbeat, now } = this.#signals
    return heartbeat !== undefined && snoozesNow(heartbeat, now).some(({ kind }) => kind === 'maintenance')
  }

  get reason(): string {
    return reasonOf(this.#signals)
  }

  get problems(): string[] {
    return problemNames(this.#signals)
  }

  reasonIn(language: Language): string {
    return reasonOf(this.#signals, language)
  }
}

function isOnlyCameras(signals: Signals): boolean {
  if (!signals.heartbeat || statusOf(signals) !== 'warning') return false
  const content = { ...signals.heartbeat.content, cameras: [] }
  return statusOf({ ...signals, heartbeat: { ...signals.heartbeat, content } }) === 'online'
}

/** 12 lower-case base32 characters: 60 random bits. */
export function newGatewayId(): string {
  return base32(randomBytes(8)).slice(0, 12)
}

/**
 * A free address for one more gateway. Within `inTransaction` two callers never get the same. Throws
 * `gateway_limit_reached` or `address_pool_exhausted`.
 */
export async function allocateAddress(transaction: Transaction<Tables>): Promise<string> {
  const { maxGateways, vpnNetwork } = await readSettings(transaction)
  const all = transaction.selectFrom('gateways')
  const counted = all.select(({ fn }) => fn.countAll<number>().as('count'))
  const { count } = await counted.executeTakeFirstOrThrow()
  if (count >= maxGateways) throw new HubError('gateway_limit_reached')
  const address = await gatewayAddresses(vpnNetwork)?.lowestFree({
    pool: databaseOf(transaction),
    count,
    async readTaken(among) {
      const rows = await (among ? all.where('address', 'in', among) : all).select('address').execute()
      return new Set(rows.map((row) => row.address))
    },
  })
  if (address === undefined) throw new HubError('address_pool_exhausted')
  return address
}

type JudgedColumns = Pick<FleetGateway, 'id' | 'kind' | 'wireguard_public_key' | 'last_handshake_at' | 'created_at'>

function signalsOf(row: JudgedColumns, signals: FleetSignals, handshakes: ReadonlyMap<string, number>): Signals {
  return {
    kind: row.kind,
    now: signals.clock(),
    heartbeat: signals.heartbeats.latest(row.id),
    latestHandshakeAt: handshakes.get(row.wireguard_public_key) ?? row.last_handshake_at ?? undefined,
    isHealthy: signals.isHealthy(row.id),
    refused: refusedLately(row.id, signals),
    createdAt: row.created_at,
    vpnPort: signals.vpnPort,
  }
}

/** For this long after a refusal of its detections, a gateway has a warning. */
const REFUSED_LATELY_MS = 600_000

function refusedLately(id: string, { clock, refusals }: FleetSignals): string | undefined {
  const refused = refusals(id)
  return refused && Math.abs(clock() - refused.at) < REFUSED_LATELY_MS ? refused.message : undefined
}

/** The last heartbeat or, for a device without heartbeats, the last handshake. */
function lastSeen({ kind, heartbeat, latestHandshakeAt }: Signals): number | undefined {
  return heartbeat?.at ?? (kind === 'wireguard' ? latestHandshakeAt : undefined)
}

function protectionFacts({ heartbeat, now }: Signals, status: Gateway['status']): KnownToProtect {
  const isOffline = status === 'offline'
  if (!heartbeat) return { isOffline, heartbeat: undefined }
  const { at, content } = heartbeat
  const known = content.snoozes?.length ? { ...content, snoozes: snoozesNow(heartbeat, now) } : content
  return { isOffline, heartbeat: known, aheadMs: at - content.clock }
}

/** Those that last, by the device's clock: a silent device may not have told that one ended. */
export function snoozesNow({ at, content }: Pick<LatestHeartbeat, 'at' | 'content'>, now: number): Snooze[] {
  return (content.snoozes ?? []).filter(({ until }) => until + at - content.clock > now)
}

function snoozesOf({ heartbeat, now }: Signals): Gateway['snoozes'] {
  if (!heartbeat) return []
  const aheadMs = heartbeat.at - heartbeat.content.clock
  return snoozesNow(heartbeat, now).map(({ kind, camera, by, until }) => ({
    kind,
    camera,
    by,
    until: new Date(until + aheadMs).toISOString(),
  }))
}

function present(row: FleetGateway, dependencies: ListDependencies, handshakes: ReadonlyMap<string, number>): Gateway {
  const { signals, hubPublicKey, connectedUsers, warningSince } = dependencies
  const own = signalsOf(row, signals, handshakes)
  const { status, reason } = judge(own)
  const lastSeenAt = lastSeen(own)
  const troubleSince = { online: undefined, offline: lastSeenAt, warning: warningSince(row.id) }[status]
  return {
    id: row.id,
    name: row.name,
    status,
    statusReason: reason,
    protection: protectionOf(protectionFacts(own, status)),
    timeZone: row.site_time_zone ?? own.heartbeat?.content.timeZone ?? null,
    snoozes: snoozesOf(own),
    blockedUdp: isUdpBlocked(own) ? signals.vpnPort() : null,
    kind: row.kind,
    ...ofGatewayTexts((name) => row[name]),
    site: siteOf(row),
    tags: [...row.tags],
    publicIp: signals.endpointOf(row.wireguard_public_key) ?? row.endpoint_address ?? row.source_ip,
    vpnInternalIp: row.address,
    vpnAddress: `${row.address}/24`,
    hubPublicKey,
    version: own.heartbeat?.content.version ?? row.version,
    lastSeen: lastSeenAt === undefined ? null : new Date(lastSeenAt).toISOString(),
    troubleSince: troubleSince === undefined ? null : new Date(troubleSince).toISOString(),
    connectedUsers: connectedUsers(row.id),
    applications: own.heartbeat?.content.applications ?? [],
    // Only its owner, managers and admins see the row.
    deviceToken: row.device_token,
    owner: row.owner,
    createdAt: new Date(row.created_at).toISOString(),
  }
}
