/**
 * Synchronizes the tunnel with the database. The database decides: it is read at the start and every 30 s, and peers
 * are added, changed and removed until the tunnel agrees. In the other direction, each peer's endpoint and last
 * handshake are written back in batches, so that a restarted hub can start the handshakes; so is the greatest timestamp
 * of its initiations, so that a recorded initiation cannot be replayed after a restart.
 */
import { unixMsOfTimestamp } from '@hedgerow/wireguard'
import type { Logger } from 'pino'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { createTasks } from '../kernel/tasks.ts'
import type { LivePeers, Vpn, VpnPeer, VpnPeerStatus } from './tunnel.ts'

const RECONCILE_INTERVAL_MS = 30_000
/** How often endpoints that changed without a handshake are written. */
const PERSIST_INTERVAL_MS = 5_000
const BATCH_ROWS = 100
/** Delay before a handshake is written, so that a thousand at once make one batch. */
const PERSIST_DELAY_MS = 50
/** A timestamp further ahead came from a wrong clock, and would lock its device out for good. */
const TIMESTAMP_AHEAD_MS = 86_400_000

export type Peers = LivePeers & {
  /** Loads the database's peers into the tunnel, then keeps both in sync until `stop`. */
  start(): Promise<void>
  reconcile(): Promise<void>
  /** Call it after the tunnel was restarted without peers: adds all of them. */
  restore(): Promise<void>
  /** Writes endpoints and handshakes that changed since the last call. */
  persist(): Promise<void>
  /** The last handshake of each peer that had one since the hub started, in milliseconds since 1970. */
  handshakes(): Map<string, number>
  stop(): Promise<void>
}

/** Above this number of peers, handshakes are collected only now and then: each page of the list needs them. */
const LARGE_FLEET = 1_000
const GATHERED_FOR_MS = 500

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
  /** An unavailable database is read again at the next turn. */
  const tasks = createTasks({ log, failure: 'could not compare tunnel and database' })
  let refreshing: Promise<void> = Promise.resolve()
  let gathered: { atMs: number; byKey: Map<string, number> } | undefined

  function handshakes(): Map<string, number> {
    if (gathered && applied.size >= LARGE_FLEET && performance.now() - gathered.atMs < GATHERED_FOR_MS)
      return gathered.byKey
    const byKey = new Map<string, number>()
    for (const { publicKey, latestHandshakeAtMs } of vpn.peers())
      if (latestHandshakeAtMs !== undefined) byKey.set(publicKey, latestHandshakeAtMs)
    gathered = { atMs: performance.now(), byKey }
    return byKey
  }

  /** One after the other, so that the tunnel matches the last read. */
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
    applied.set(peer.publicKey, configuration)
  }

  function drop(publicKey: string): void {
    vpn.removePeer(publicKey)
    applied.delete(publicKey)
    persisted.delete(publicKey)
  }

  async function reconcile(): Promise<void> {
    if (vpn.disabledReason !== undefined) return
    if (timestamps === undefined) {
      const rows = await db.selectFrom('handshake_timestamps').selectAll().execute()
      timestamps = new Map(rows.map((row) => [row.wireguard_public_key, row.timestamp]))
    }
    for (;;) {
      const before = changes
      const wanted = await db
        .selectFrom('gateways')
        .select(['wireguard_public_key', 'preshared_key', 'address', 'endpoint_address', 'endpoint_port'])
        .execute()
      if (changes !== before) continue
      const keys = new Set(wanted.map((row) => row.wireguard_public_key))
      for (const publicKey of applied.keys()) if (!keys.has(publicKey)) drop(publicKey)
      for (const row of wanted) {
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
      return
    }
  }

  async function persistTimestamps(): Promise<void> {
    const later = vpn.peers().flatMap(({ publicKey, latestTimestamp: timestamp }) => {
      const isNews = timestamp !== undefined && timestamp !== timestamps?.get(publicKey)
      return isNews ? [{ wireguard_public_key: publicKey, timestamp }] : []
    })
    for (let i = 0; i < later.length; i += BATCH_ROWS) {
      const rows = later.slice(i, i + BATCH_ROWS)
      await db
        .insertInto('handshake_timestamps')
        .values(rows)
        .onConflict((conflict) =>
          conflict.column('wireguard_public_key').doUpdateSet((row) => ({ timestamp: row.ref('excluded.timestamp') })),
        )
        .execute()
      for (const row of rows) timestamps?.set(row.wireguard_public_key, row.timestamp)
    }
  }

  async function persist(): Promise<void> {
    await persistTimestamps()
    const changed = vpn
      .peers()
      .filter((peer) => seenOf(peer) !== undefined && persisted.get(peer.publicKey) !== seenOf(peer))
    if (changed.length === 0) return
    await db.transaction().execute(async (transaction) => {
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
    for (const peer of changed) persisted.set(peer.publicKey, seenOf(peer) ?? '')
  }

  return {
    async start() {
      await reconcile()
      vpn.onHandshake(() => tasks.soon(PERSIST_DELAY_MS, persist))
      tasks.every(RECONCILE_INTERVAL_MS, reconcile)
      tasks.every(PERSIST_INTERVAL_MS, persist)
    },
    refresh,
    reconcile,
    restore() {
      changes++
      applied.clear()
      persisted.clear()
      return reconcile()
    },
    persist,
    handshakes,
    stop() {
      vpn.onHandshake(() => {})
      return tasks.stop(persist)
    },
  }
}

/** Only what a handshake confirmed is written. */
function seenOf({ endpoint, latestHandshakeAtMs }: VpnPeerStatus): string | undefined {
  return latestHandshakeAtMs === undefined ? undefined : `${endpoint?.address} ${endpoint?.port} ${latestHandshakeAtMs}`
}
