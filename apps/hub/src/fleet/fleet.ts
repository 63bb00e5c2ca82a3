/**
 * The fleet: access to gateways, and their fields. A user sees the gateways they claimed, managers and admins all; a
 * gateway that the caller may not see answers as one that does not exist. Private keys never leave through here. Called
 * by the routes, by dashboard/ for its counts and by gateway-proxy/ for access.
 */
import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  protectionOf,
  type Gateway,
  type Heartbeat,
  type KnownToProtect,
  type Language,
  type SearchQuery,
} from '@hedgerow/contract'
import { base32 } from '@hedgerow/enrolment'
import type { FastifyReply } from 'fastify'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { hasTag, tagsOf } from '../database/tags.ts'
import { databaseOf } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import { gatewaysIn, withOwner, type VisibleGateway } from '../access/objects.ts'
import type { Scope } from '../access/scope.ts'
import { readSettings } from '../settings/settings.ts'
import { gatewayAddresses } from '../tunnel/tunnel.ts'
import type { Heartbeats } from './heartbeats.ts'
import type { FleetSearch, Found } from './search.ts'
import { isUdpBlocked, judge, problemNames, reasonOf, statusOf, type Judgement, type Signals } from './status.ts'

type Row = Selectable<Tables['gateways']>

/**
 * The columns that the list and its statuses need. Reading whole rows, with their last heartbeats, would take most of
 * the time.
 */
const LISTED = [
  'gateways.id',
  'gateways.kind',
  'gateways.name',
  'gateways.name_key',
  'gateways.location',
  'gateways.description',
  'gateways.tags',
  'gateways.device_token',
  'gateways.wireguard_public_key',
  'gateways.address',
  'gateways.endpoint_address',
  'gateways.source_ip',
  'gateways.last_handshake_at',
  'gateways.version',
  'gateways.created_at',
] as const

/** Rows of one read of a large fleet; other requests run between two reads. */
const ROWS_AT_ONCE = 200

type ListedColumn = (typeof LISTED)[number] extends `gateways.${infer Column extends keyof Row}` ? Column : never
type ListedRow = Pick<Row, ListedColumn> & { owner: string | null }

/** The fleet's current signals, which are not in its rows. */
export type FleetSignals = {
  clock: () => number
  heartbeats: Pick<Heartbeats, 'latest'>
  /** The last handshake by WireGuard key, in milliseconds since 1970. */
  handshakes(): ReadonlyMap<string, number>
  /** Whether a plain-WireGuard gateway answered the last health check. */
  isHealthy(gatewayId: string): boolean | undefined
  refusals(gatewayId: string): { detections: number; at: number; message: string } | undefined
  /** The host and port that gateways' UDP packets must reach, in words: `port 51820 of hub.example.org`. */
  vpnPort(): string
}

export type ListDependencies = {
  signals: FleetSignals
  hubPublicKey: string
  connectedUsers(gatewayId: string): number
  /** When the newest problem of a gateway with a warning began, in milliseconds since 1970. */
  warningSince(gatewayId: string): number | undefined
}

export type Listing = ListDependencies & { query: SearchQuery & { tag?: string | undefined }; reply: FastifyReply }

/** The gateways that the caller may see, by name: all, or a page. */
export async function listGateways(
  db: Kysely<Tables>,
  scope: Scope,
  { query, reply, ...dependencies }: Listing,
): Promise<Gateway[]> {
  const page = pageFrom(query, ['string'])
  let asked = listed(gatewaysIn(db, scope))
  if (query.tag !== undefined) asked = asked.where(hasTag(query.tag))
  if (page.after) asked = asked.where('gateways.name_key', '>', String(page.after[0]))
  if (page.rowsWanted !== undefined) asked = asked.limit(page.rowsWanted)
  const rows = await asked.orderBy('gateways.name_key').execute()
  return presentAll(
    sendPage(reply, rows, page, (row) => [row.name_key]),
    dependencies,
  )
}

/** The gateways matching `text` that the caller may see, by name. */
export async function searchGateways(
  db: Kysely<Tables>,
  scope: Scope,
  { query, reply, text, search, ...dependencies }: Listing & { text: string; search: FleetSearch },
): Promise<Gateway[]> {
  const page = pageFrom(query, ['string'])
  const found = await search.find(text, {
    scope,
    ...(query.tag !== undefined && { tag: query.tag }),
    ...(page.after && { after: String(page.after[0]) }),
    ...(page.rowsWanted !== undefined && { limit: page.rowsWanted }),
  })
  const shown = sendPage(reply, found, page, ({ nameKey }) => [nameKey])
  return (await Array.fromAsync(inSlices(gatewaysIn(db, scope), shown, dependencies))).flat()
}

/** The whole fleet as managers see it, by name, in one read. */
export async function wholeFleet(db: Kysely<Tables>, dependencies: ListDependencies): Promise<Gateway[]> {
  return presentAll(await listed(db.selectFrom('gateways')).orderBy('gateways.name_key').execute(), dependencies)
}

/** The whole fleet as managers see it, by name, in slices between which other requests run. */
export async function* fleetInSlices(
  db: Kysely<Tables>,
  search: FleetSearch,
  dependencies: ListDependencies,
): AsyncGenerator<Gateway[]> {
  yield* inSlices(db.selectFrom('gateways'), await search.find('', {}), dependencies)
}

async function* inSlices(
  gateways: ReturnType<typeof gatewaysIn>,
  found: readonly Found[],
  dependencies: ListDependencies,
): AsyncGenerator<Gateway[]> {
  for (let start = 0; start < found.length; start += ROWS_AT_ONCE) {
    if (start > 0) await nextTurn()
    const ids = found.slice(start, start + ROWS_AT_ONCE).map(({ id }) => id)
    const rows = await listed(gateways).where('gateways.id', 'in', ids).orderBy('gateways.name_key').execute()
    yield presentAll(rows, dependencies)
  }
}

/** The gateway as in the list. Throws `gateway_not_found`, also for one outside the scope. */
export async function presentGateway(
  db: Kysely<Tables>,
  scope: Scope,
  id: string,
  dependencies: ListDependencies,
): Promise<Gateway> {
  const row = await listed(gatewaysIn(db, scope)).where('gateways.id', '=', id).executeTakeFirst()
  if (!row) throw new HubError('gateway_not_found')
  return present(row, dependencies, dependencies.signals.handshakes())
}

/** The host and port that a gateway's UDP must reach, in words, while it seems to be blocked. Cheap otherwise. */
export function blockedUdp(
  { id, kind, wireguardPublicKey, lastHandshakeAt, createdAt }: VisibleGateway,
  signals: FleetSignals,
): string | undefined {
  const known = { kind, now: signals.clock(), heartbeat: signals.heartbeats.latest(id), createdAt }
  if (!isUdpBlocked({ ...known, latestHandshakeAt: lastHandshakeAt ?? undefined })) return undefined
  const latestHandshakeAt = signals.handshakes().get(wireguardPublicKey) ?? lastHandshakeAt ?? undefined
  return isUdpBlocked({ ...known, latestHandshakeAt }) ? signals.vpnPort() : undefined
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
  /** Restarts of its agent, by its last heartbeat. */
  restarts?: Heartbeat['restarts']
}

/** From this number of gateways on, what concerns all of them takes so long that it is done in slices or less often. */
export const LARGE_FLEET = 1_000

/** The status of every gateway, or of those that the caller may see. Other requests run meanwhile. */
export async function fleetStatuses(db: Kysely<Tables>, signals: FleetSignals, scope?: Scope): Promise<FleetStatus[]> {
  const judged = (scope ? gatewaysIn(db, scope) : db.selectFrom('gateways'))
    .select(['gateways.id', 'gateways.name', 'gateways.kind'])
    .select(['gateways.wireguard_public_key', 'gateways.last_handshake_at', 'gateways.created_at'])
    .orderBy('gateways.id')
    .limit(ROWS_AT_ONCE)
  const handshakes = signals.handshakes()
  const statuses: FleetStatus[] = []
  let rows = await judged.execute()
  for (;;) {
    for (const row of rows) statuses.push(new JudgedGateway(row, signalsOf(row, signals, handshakes)))
    const last = rows.at(-1)
    if (!last || rows.length !== ROWS_AT_ONCE) return statuses
    await nextTurn()
    rows = await judged.where('gateways.id', '>', last.id).execute()
  }
}

/**
 * Getters of a class, because few callers need what they tell: a literal with getters took 2 µs and 1 KB a gateway.
 */
class JudgedGateway implements FleetStatus {
  readonly id: string
  readonly name: string
  readonly publicKey: string
  readonly status: FleetStatus['status']
  readonly lastSeenAt: number | undefined
  readonly queue: Heartbeat['queue']
  readonly restarts: Heartbeat['restarts']
  readonly disarmed: Heartbeat['disarmed']
  readonly #known: Signals

  constructor(row: JudgedColumns & Pick<Row, 'name'>, known: Signals) {
    this.id = row.id
    this.name = row.name
    this.publicKey = row.wireguard_public_key
    this.status = statusOf(known)
    this.lastSeenAt = lastSeen(known)
    this.queue = known.heartbeat?.content.queue
    this.restarts = known.heartbeat?.content.restarts
    this.disarmed = known.heartbeat?.content.disarmed
    this.#known = known
  }

  get isOnlyCameras(): boolean {
    return isOnlyCameras(this.#known)
  }

  get reason(): string {
    return reasonOf(this.#known)
  }

  get problems(): string[] {
    return problemNames(this.#known)
  }

  reasonIn(language: Language): string {
    return reasonOf(this.#known, language)
  }
}

function isOnlyCameras(known: Signals): boolean {
  if (!known.heartbeat || statusOf(known) !== 'warning') return false
  const content = { ...known.heartbeat.content, cameras: [] }
  return statusOf({ ...known, heartbeat: { ...known.heartbeat, content } }) === 'online'
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

function listed(gateways: ReturnType<typeof gatewaysIn>) {
  return withOwner(gateways).select(LISTED)
}

type JudgedColumns = Pick<Row, 'id' | 'kind' | 'wireguard_public_key' | 'last_handshake_at' | 'created_at'>

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

function knownToProtect({ heartbeat }: Pick<Signals, 'heartbeat'>, status: Gateway['status']): KnownToProtect {
  const content = heartbeat?.content
  return { isOffline: status === 'offline', heartbeat: content, aheadMs: heartbeat ? heartbeat.at - content!.clock : 0 }
}

function presentAll(rows: readonly ListedRow[], dependencies: ListDependencies): Gateway[] {
  const handshakes = dependencies.signals.handshakes()
  return rows.map((row) => present(row, dependencies, handshakes))
}

function present(row: ListedRow, dependencies: ListDependencies, handshakes: ReadonlyMap<string, number>): Gateway {
  const { signals, hubPublicKey, connectedUsers, warningSince } = dependencies
  const known = signalsOf(row, signals, handshakes)
  const { status, reason } = judge(known)
  const lastSeenAt = lastSeen(known)
  const troubleSince = { online: undefined, offline: lastSeenAt, warning: warningSince(row.id) }[status]
  return {
    id: row.id,
    name: row.name,
    status,
    statusReason: reason,
    protection: protectionOf(knownToProtect(known, status)),
    timeZone: known.heartbeat?.content.timeZone ?? null,
    blockedUdp: isUdpBlocked(known) ? signals.vpnPort() : null,
    kind: row.kind,
    location: row.location,
    description: row.description,
    tags: tagsOf(row),
    publicIp: row.endpoint_address ?? row.source_ip,
    vpnInternalIp: row.address,
    vpnAddress: `${row.address}/24`,
    hubPublicKey,
    version: known.heartbeat?.content.version ?? row.version,
    lastSeen: lastSeenAt === undefined ? null : new Date(lastSeenAt).toISOString(),
    troubleSince: troubleSince === undefined ? null : new Date(troubleSince).toISOString(),
    connectedUsers: connectedUsers(row.id),
    applications: known.heartbeat?.content.applications ?? [],
    // Only its owner, managers and admins see the row.
    deviceToken: row.device_token,
    owner: row.owner,
    createdAt: new Date(row.created_at).toISOString(),
  }
}
