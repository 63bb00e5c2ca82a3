/** RFC 9293's LISTEN: a port that takes SYNs, and the connections on it that are not yet established. */

/** As Node's net: 511 half-open connections unless told otherwise. */
const DEFAULT_BACKLOG = 511

export class Listener {
  readonly port: number
  readonly #backlog: number
  /** Half of it: one peer must not fill the backlog of all others. */
  readonly #share: number
  #halfOpen = 0
  readonly #halfOpenByPeer = new Map<number, number>()

  constructor(port: number, backlog = DEFAULT_BACKLOG) {
    this.port = port
    this.#backlog = Math.max(1, backlog)
    this.#share = Math.ceil(this.#backlog / 2)
  }

  /** Counts a SYN in; false when there is no room, and then the peer's next SYN may find some. */
  admit(peer: number): boolean {
    const ofPeer = this.#halfOpenByPeer.get(peer) ?? 0
    if (this.#halfOpen >= this.#backlog || ofPeer >= this.#share) return false
    this.#halfOpen++
    this.#halfOpenByPeer.set(peer, ofPeer + 1)
    return true
  }

  /** The connection was established or given up. */
  settle(peer: number): void {
    this.#halfOpen--
    const ofPeer = (this.#halfOpenByPeer.get(peer) ?? 1) - 1
    if (ofPeer === 0) this.#halfOpenByPeer.delete(peer)
    else this.#halfOpenByPeer.set(peer, ofPeer)
  }
}
