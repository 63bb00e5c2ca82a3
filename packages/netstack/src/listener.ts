/**
 * RFC 9293's LISTEN: a port that accepts SYNs, and its connections that are not yet established. Each peer has a share
 * of them. When all are in use, a peer with many loses one to a peer with few.
 */
/** The total, by default. */
const DEFAULT_BACKLOG = 4_096
/** For one peer, or half of a smaller backlog: twice as many as a hub opens at once to a gateway. */
const BACKLOG_PER_PEER = 256

/** `C` is the connection, as a parameter because connection.ts imports this file. */
export class Listener<C extends { readonly remoteAddress: number }> {
  readonly port: number
  readonly #backlog: number
  readonly #share: number
  #halfOpen = 0
  /** Oldest first. */
  readonly #halfOpenByPeer = new Map<number, Set<C>>()

  constructor(port: number, backlog = DEFAULT_BACKLOG) {
    this.port = port
    this.#backlog = Math.max(1, backlog)
    this.#share = Math.min(BACKLOG_PER_PEER, Math.ceil(this.#backlog / 2))
  }

  /**
   * Whether there is room for a peer's SYN: 'free', 'full', or the connection of a peer with more of them that is to be
   * reset for it.
   */
  roomFor(peer: number): 'free' | 'full' | C {
    const ofPeer = this.#halfOpenByPeer.get(peer)?.size ?? 0
    if (ofPeer >= this.#share) return 'full'
    if (this.#halfOpen < this.#backlog) return 'free'
    let most = new Set<C>()
    for (const connections of this.#halfOpenByPeer.values()) if (connections.size > most.size) most = connections
    const [oldest] = most
    return oldest !== undefined && most.size > ofPeer + 1 ? oldest : 'full'
  }

  /** Adds the connection of an accepted SYN. */
  add(connection: C): void {
    const ofPeer = this.#halfOpenByPeer.get(connection.remoteAddress)
    if (ofPeer === undefined) this.#halfOpenByPeer.set(connection.remoteAddress, new Set([connection]))
    else ofPeer.add(connection)
    this.#halfOpen++
  }

  /** The connection was established or given up. */
  settle(connection: C): void {
    const ofPeer = this.#halfOpenByPeer.get(connection.remoteAddress)
    if (ofPeer?.delete(connection) !== true) return
    this.#halfOpen--
    if (ofPeer.size === 0) this.#halfOpenByPeer.delete(connection.remoteAddress)
  }
}
