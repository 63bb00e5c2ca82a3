/**
 * How many connections may be open at once, per source and in total. One object counts for all listeners that share it;
 * unfinished TLS handshakes count too.
 */
export type Refusal = 'source' | 'total'

/** A connection, or one answer on it. */
type Ending = { once(event: 'close', listener: () => void): unknown; destroy(): unknown }

export type ConnectionLimits = {
  /** Counts the connection until it closes; returns the reason when it is refused. */
  admit(socket: Ending, address: string): Refusal | undefined
  /**
   * Counts one request that a trusted proxy forwards for `address`, until the returned function is called. Undefined
   * when that source has `perSource` requests in progress.
   */
  admitRequest(address: string): (() => void) | undefined
  isTrusted(address: string): boolean
  open(): number
}

export type ConnectionLimitOptions = {
  perSource: number
  total: number
  /** Addresses with the same result count as one source. */
  sourceOf: (address: string) => string
  /**
   * Proxies in front of many sources: only the total limits them, and `admitRequest` limits each source behind them.
   */
  isTrusted?: (address: string) => boolean
  onRefused?: (reason: Refusal, address: string) => void
}

/**
 * When all places are taken, a new connection replaces the oldest one of the largest source, if that source has more
 * connections than the newcomer's. So a few sources can't keep out all others.
 */
export function createConnectionLimits(options: ConnectionLimitOptions): ConnectionLimits {
  const { perSource, total, sourceOf, isTrusted = () => false, onRefused } = options
  const bySource = new Map<string, Set<Ending>>()
  const requests = new Map<string, number>()
  let open = 0

  function makeRoomFor(source: string): boolean {
    const own = bySource.get(source)?.size ?? 0
    let most: Set<Ending> | undefined
    for (const sockets of bySource.values()) if (sockets.size > (most?.size ?? own + 1)) most = sockets
    const oldest = most?.values().next().value
    if (!most || !oldest) return false
    // Its place is free before 'close' fires.
    leave(most, oldest)
    oldest.destroy()
    return true
  }

  function leave(sockets: Set<Ending>, socket: Ending): void {
    if (sockets.delete(socket)) open--
  }

  return {
    admit(socket, address) {
      const trusted = isTrusted(address)
      // Each trusted connection is its own source, so that no proxy is the largest.
      const source = trusted ? undefined : sourceOf(address)
      const sockets = (source === undefined ? undefined : bySource.get(source)) ?? new Set<Ending>()
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
