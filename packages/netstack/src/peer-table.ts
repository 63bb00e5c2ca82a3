/**
 * Each peer's share of the stack: connections, four-tuples in TIME-WAIT, and memory for unread data. Each is limited
 * for one peer and in total, so that a peer that uses up its share takes nothing of another's. Finds a connection by
 * its four-tuple. Called by `stack.ts`.
 */
import type { Connection } from './connection.ts'

const MAX_CONNECTIONS = 16_384
const MAX_CONNECTIONS_PER_PEER = 1_024
/** The limit while the total is at its maximum. */
const CONNECTIONS_WHEN_FULL = 16
const MAX_TIME_WAITING = 4_096
const MAX_TIME_WAITING_PER_PEER = 1_024
/** Copies of unread data and data above a gap; four connections with the widest window fill a peer's share. */
const MAX_KEPT_BYTES = 64 << 20
const MAX_KEPT_BYTES_PER_PEER = 16 << 20

interface Peer {
  /** By both ports in one number: they are mostly to one port of ours or of theirs. */
  connections: Map<number, Connection>
  /** Connections in TIME-WAIT, oldest first. */
  timeWaiting: Set<Connection>
  bufferedBytes: number
}

export class PeerTable {
  readonly #peers = new Map<number, Peer>()
  #connections = 0
  /** Oldest first. */
  readonly #timeWaiting = new Set<Connection>()
  #bufferedBytes = 0

  find(address: number, localPort: number, remotePort: number): Connection | undefined {
    return this.#peers.get(address)?.connections.get(portsKey(localPort, remotePort))
  }

  *all(): Generator<Connection> {
    for (const { connections } of this.#peers.values()) yield* connections.values()
  }

  /** Whether a peer may open one more connection to us. Those in TIME-WAIT do not count. */
  mayOpen(address: number): boolean {
    const peer = this.#peers.get(address)
    const open = peer === undefined ? 0 : peer.connections.size - peer.timeWaiting.size
    if (this.#connections - this.#timeWaiting.size >= MAX_CONNECTIONS) return open < CONNECTIONS_WHEN_FULL
    return open < MAX_CONNECTIONS_PER_PEER
  }

  add(connection: Connection): void {
    const { remoteAddress, localPort, remotePort } = connection
    let peer = this.#peers.get(remoteAddress)
    if (peer === undefined) {
      peer = { connections: new Map(), timeWaiting: new Set(), bufferedBytes: 0 }
      this.#peers.set(remoteAddress, peer)
    }
    peer.connections.set(portsKey(localPort, remotePort), connection)
    this.#connections++
  }

  remove(connection: Connection): void {
    const { remoteAddress, localPort, remotePort } = connection
    const peer = this.#peers.get(remoteAddress)
    if (peer === undefined) return
    this.#count(peer, connection, 0)
    peer.timeWaiting.delete(connection)
    this.#timeWaiting.delete(connection)
    peer.connections.delete(portsKey(localPort, remotePort))
    this.#connections--
    if (peer.connections.size === 0) this.#peers.delete(remoteAddress)
  }

  /** Returns the one to drop for it, if any: the peer's own oldest before another's. */
  addTimeWaiting(connection: Connection): Connection | undefined {
    const peer = this.#peers.get(connection.remoteAddress)
    if (peer === undefined) return undefined
    peer.timeWaiting.add(connection)
    this.#timeWaiting.add(connection)
    const [oldestOfPeer] = peer.timeWaiting
    if (peer.timeWaiting.size > MAX_TIME_WAITING_PER_PEER) return oldestOfPeer
    const [oldest] = this.#timeWaiting
    return this.#timeWaiting.size > MAX_TIME_WAITING ? oldest : undefined
  }

  /** Counts the memory that a connection holds now. */
  noteKept(connection: Connection): void {
    const peer = this.#peers.get(connection.remoteAddress)
    if (peer !== undefined && connection.state !== 'closed')
      this.#count(peer, connection, connection.reassembly.bufferedBytes)
  }

  /**
   * Whether a payload may be stored. Data above a gap leaves half of the room to data in order, and a reader that has
   * read everything always gets more: a connection in use continues, however much others hold.
   */
  mayKeep({ remoteAddress, reassembly }: Connection, isInOrder: boolean): boolean {
    if (isInOrder && reassembly.readyBytes === 0) return true
    const share = isInOrder ? 1 : 0.5
    const ofPeer = this.#peers.get(remoteAddress)?.bufferedBytes ?? 0
    return ofPeer < share * MAX_KEPT_BYTES_PER_PEER && this.#bufferedBytes < share * MAX_KEPT_BYTES
  }

  #count(peer: Peer, connection: Connection, bufferedBytes: number): void {
    const change = bufferedBytes - connection.countedBytes
    if (change === 0) return
    connection.countedBytes = bufferedBytes
    peer.bufferedBytes += change
    this.#bufferedBytes += change
  }
}

const portsKey = (localPort: number, remotePort: number): number => localPort * 65_536 + remotePort
