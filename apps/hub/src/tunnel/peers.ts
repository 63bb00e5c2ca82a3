/**
 * Synchronizes the tunnel with the database. The database decides: it is read at the start and every 30 s, and peers
 * are added, changed and removed until the tunnel agrees. In the other direction, each peer's endpoint and last
 * handshake are written back in batches, so that a restarted hub can start the handshakes; so is the greatest timestamp
 * of its initiations, so that a recorded initiation cannot be replayed after a restart.
 */
import { unixMsOfTimestamp } from '@hedgerow/wireguard'
import type { Logger } from 'pino'
import type { Kysely, Selectable } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { slices } from '../kernel/slices.ts'
import { createTasks } from '../kernel/tasks.ts'
import { createFirstHandshakes } from './first-handshakes.ts'
import type { LivePeers, Vpn, VpnPeer, VpnPeerStatus } from './tunnel.ts'

/** The interval also covers endpoints that changed without a handshake. */
const RECONCILE_INTERVAL_MS = 30_000
/** Delay before a handshake is written, so that a thousand at once make one batch. */
const PERSIST_DELAY_MS = 250
/** A timestamp further ahead came from a wrong clock, and would lock its device out for good. */
const TIMESTAMP_AHEAD_MS = 86_400_000

const STORED = ['wireguard_public_key', 'preshared_key', 'address', 'endpoint_address', 'endpoint_port'] as const
type StoredPeer = Pick<Selectable<Tables['gateways']>, (typeof STORED)[number]>

export type Peers = LivePeers & {
  /** Loads the database's peers into the tunnel, then keeps both in sync until `stop`. */
  start(): Promise<void>
  reconcile(): Promise<void>
  /** Call it after the tunnel was restarted without peers: adds all of them. */
  restore(): Promise<void>
  /** Writes endpoints and handshakes that changed. */
  persist(): Promise<void>
  /** The last handshake of each peer that had one since the hub started, in milliseconds since 1970. */
  handshakes(): ReadonlyMap<string, number>
  stop(): Promise<void>
}

export function createPeers({
  db,
  vpn,
  log,
  clock = Date.now,
}: {
  db: Kysely<Tables>
  vpn: Vpn
  log: Logger
  clock?: () => number
}): Peers {
  /** The configuration of each peer in the tunnel. */
  const applied = new Map<string, string>()
  const persisted = new Map<string, string>()
  /** By public key, as in the database; a deleted key may return. Undefined until they were read. */
  let timestamps: Map<string, string> | undefined
  /** Counts live changes: a read that began before one must not undo it. */
  let changes = 0
  const wanted = db.selectFrom('gateways').orderBy('last_handshake_at', 'desc')
  /** An unavailable database is read again at the next turn. */
  const tasks = createTasks({ log, name: 'peers', on: 'each hub', failure: 'could not compare tunnel and database' })
  let refreshing: Promise<void> = Promise.resolve()
  const handshakes = new Map<string, number>()
  /** Peers whose handshake is not written yet. */
  let shaken = new Set<string>()
  const firstHandshakes = createFirstHandshakes(vpn.beginHandshake)

  function noteHandshake(publicKey: string): void {
    firstHandshakes.arrived(publicKey)
    const at = vpn.peer(publicKey)?.latestHandshakeAtMs
    if (at === undefined) return
    handshakes.set(publicKey, at)
    shaken.add(publicKey)
    tasks.soon(PERSIST_DELAY_MS, persistShaken)
  }

  /** Runs one at a time, so that the tunnel matches the last read. */
  function refresh(changed: { gatewayId: string | undefined; formerPublicKey: string | undefined }): Promise<void> {
    const refreshed = refreshing.then(() => readChanged(changed))
    refreshing = refreshed.catch(() => {})
    return refreshed
  }

  async function readChanged({ gatewayId, formerPublicKey }: Parameters<typeof refresh>[0]): Promise<void> {
    const rows = await db
      .selectFrom('gateways')
      .select(['id', 'wireguard_public_key', 'preshared_key', 'address'])
      .where((row) =>
        row.or([row('id', '=', gatewayId ?? null), row('wireguard_public_key', '=', formerPublicKey ?? null)]),
      )
      .execute()
    changes++
    if (formerPublicKey !== undefined && !rows.some((row) => row.wireguard_public_key === formerPublicKey))
      drop(formerPublicKey)
    for (const row of rows)
      put({ publicKey: row.wireguard_public_key, presharedKey: row.preshared_key, address: row.address })
  }

  function put(peer: VpnPeer): void {
    const configuration = `${peer.address} ${peer.presharedKey}`
    if (applied.get(peer.publicKey) === configuration) return
    const latestTimestamp = timestamps?.get(peer.publicKey)
    const isBelieved =
      latestTimestamp !== undefined && unixMsOfTimestamp(latestTimestamp) <= clock() + TIMESTAMP_AHEAD_MS
    vpn.addPeer({ ...peer, ...(isBelieved && { latestTimestamp }) })
    if (peer.endpoint) firstHandshakes.call(peer.publicKey)
    applied.set(peer.publicKey, configuration)
  }

  function drop(publicKey: string): void {
    vpn.removePeer(publicKey)
    applied.delete(publicKey)
    persisted.delete(publicKey)
    handshakes.delete(publicKey)
  }

  async function reconcile(): Promise<void> {
    if (vpn.disabledReason !== undefined) return
    if (timestamps === undefined) {
      const rows = await db.selectFrom('handshake_timestamps').selectAll().execute()
      timestamps = new Map(rows.map((row) => [row.wireguard_public_key, row.timestamp]))
    }
    // The gateways that were seen last come first.
    const all = await upToDate(() => wanted.select(['id', 'wireguard_public_key']).execute())
    const keys = new Set(all.map((row) => row.wireguard_public_key))
    for (const publicKey of applied.keys()) if (!keys.has(publicKey)) drop(publicKey)
    const stored = wanted.select(STORED)
    for await (const some of slices(all.map(({ id }) => id)))
      for (const row of await upToDate(() => stored.where('id', 'in', some).execute())) putStored(row)
  }

  /** Reads again when a live change came meanwhile: what was read may be older than it. */
  async function upToDate<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      const before = changes
      const rows = await read()
      if (changes === before) return rows
    }
  }

  function putStored(row: StoredPeer): void {
    const { endpoint_address: address, endpoint_port: port } = row
    try {
      put({
        publicKey: row.wireguard_public_key,
        presharedKey: row.preshared_key,
        address: row.address,
        endpoint: address !== null && port !== null ? { address, port } : undefined,
      })
    } catch (error) {
      log.error({ err: error, address: row.address }, 'could not add a gateway to the tunnel')
    }
  }

  /**
   * Writes peers that had a handshake since the last call. A peer that cannot be written now is written with the next
   * ones.
   */
  function persistShaken(): Promise<void> {
    const keys = shaken
    shaken = new Set()
    return write([...keys].flatMap((key) => vpn.peer(key) ?? []))
  }

  async function persist(): Promise<void> {
    for await (const keys of slices([...applied.keys()])) await write(keys.flatMap((key) => vpn.peer(key) ?? []))
  }

  async function write(peers: readonly VpnPeerStatus[]): Promise<void> {
    const later = peers.flatMap(({ publicKey, latestTimestamp: timestamp }) => {
      const isNews = timestamp !== undefined && timestamp !== timestamps?.get(publicKey)
      return isNews ? [{ wireguard_public_key: publicKey, timestamp }] : []
    })
    const changed = peers.filter((peer) => {
      const seen = seenOf(peer)
      return seen !== undefined && persisted.get(peer.publicKey) !== seen
    })
    if (later.length + changed.length === 0) return
    await db.transaction().execute(async (transaction) => {
      for await (const rows of slices(later))
        await transaction
          .insertInto('handshake_timestamps')
          .values(rows)
          .onConflict((conflict) =>
            conflict
              .column('wireguard_public_key')
              .doUpdateSet((row) => ({ timestamp: row.ref('excluded.timestamp') })),
          )
          .execute()
      for (const { publicKey, endpoint, latestHandshakeAtMs } of changed)
        await transaction
          .updateTable('gateways')
          .set({
            endpoint_address: endpoint?.address ?? null,
            endpoint_port: endpoint?.port ?? null,
            last_handshake_at: latestHandshakeAtMs ?? null,
            // A plain-WireGuard device has its key now, so the hub deletes it.
            private_key: null,
          })
          .where('wireguard_public_key', '=', publicKey)
          .execute()
    })
    for (const row of later) timestamps?.set(row.wireguard_public_key, row.timestamp)
    for (const peer of changed) persisted.set(peer.publicKey, seenOf(peer) ?? '')
  }

  vpn.onHandshake(noteHandshake)
  return {
    async start() {
      await reconcile()
      tasks.every(RECONCILE_INTERVAL_MS, reconcile)
      tasks.every(RECONCILE_INTERVAL_MS, persist)
    },
    refresh,
    reconcile,
    restore() {
      changes++
      applied.clear()
      persisted.clear()
      handshakes.clear()
      firstHandshakes.clear()
      return reconcile()
    },
    persist,
    handshakes: () => handshakes,
    stop() {
      vpn.onHandshake(() => {})
      firstHandshakes.clear()
      return tasks.stop(persist)
    },
  }
}

/** Only state that a handshake confirmed is written. */
function seenOf({ endpoint, latestHandshakeAtMs }: VpnPeerStatus): string | undefined {
  return latestHandshakeAtMs === undefined ? undefined : `${endpoint?.address} ${endpoint?.port} ${latestHandshakeAtMs}`
}
