/**
 * How many connections may be open at once: for each source, and in all. One object counts for all listeners that it is
 * given to, and half-done TLS handshakes count like everything else.
 */
import type { Duplex } from 'node:stream'

export type Refusal = 'source' | 'total'

export type ConnectionLimits = {
  /** Counts the connection until it closes; says why when it may not stay. */
  admit(socket: Duplex, address: string): Refusal | undefined
  /**
   * Counts one request that a trusted proxy passes on for `address` until the function that it gives is called;
   * undefined when that source has as many under way as it may have connections.
   */
  admitRequest(address: string): (() => void) | undefined
  isTrusted(address: string): boolean
  open(): number
}

export type ConnectionLimitOptions = {
  perSource: number
  total: number
  /** Who counts as one source. */
  sourceOf: (address: string) => string
  /** Proxies that speak for many: bounded in all alone, and by `admitRequest` for each source behind them. */
  isTrusted?: (address: string) => boolean
  onRefused?: (reason: Refusal, address: string) => void
}

/**
 * When all places are taken, a newcomer gets that of the oldest connection of the source that has the most, if that has
 * more than the newcomer's: so a few sources cannot keep everybody else out.
 */
export function createConnectionLimits(options: ConnectionLimitOptions): ConnectionLimits {
  const { perSource, total, sourceOf, isTrusted = () => false, onRefused } = options
  const bySource = new Map<string, Set<Duplex>>()
  const requests = new Map<string, number>()
  let open = 0

  function makeRoomFor(source: string): boolean {
    const own = bySource.get(source)?.size ?? 0
    let most: Set<Duplex> | undefined
    for (const sockets of bySource.values()) if (sockets.size > (most?.size ?? own + 1)) most = sockets
    const oldest = most?.values().next().value
    if (!most || !oldest) return false
    // Its place is free at once, though 'close' comes later.
    leave(most, oldest)
    oldest.destroy()
    return true
  }

  function leave(sockets: Set<Duplex>, socket: Duplex): void {
    if (sockets.delete(socket)) open--
  }

  return {
    admit(socket, address) {
      const trusted = isTrusted(address)
      // Each trusted connection is a source of its own, so that none is the heaviest.
      const source = trusted ? undefined : sourceOf(address)
      const sockets = (source === undefined ? undefined : bySource.get(source)) ?? new Set<Duplex>()
      if (source !== undefined && sockets.size >= perSource) {
        onRefused?.('source', address)
        return 'source'
      }
      if (open >= total) {
        onRefused?.('total', address)
        if (!makeRoomFor(source ?? '')) return 'total'
      }
      open++
      sockets.add(socket)
      if (source !== undefined) bySource.set(source, sockets)
      socket.once('close', () => {
        leave(sockets, socket)
        if (source !== undefined && sockets.size === 0 && bySource.get(source) === sockets) bySource.delete(source)
      })
      return undefined
    },

    admitRequest(address) {
      const source = sourceOf(address)
      const underWay = requests.get(source) ?? 0
      if (underWay >= perSource) {
        onRefused?.('source', address)
        return undefined
      }
      requests.set(source, underWay + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        const left = (requests.get(source) ?? 1) - 1
        if (left > 0) requests.set(source, left)
        else requests.delete(source)
      }
    },

    isTrusted,
    open: () => open,
  }
}
