export type Throttle = {
  /** Milliseconds until this key may try again; 0 for now. With `share`, it may fail that many times as often. */
  waitMs(key: string, share?: number): number
  failed(key: string): void
  /** Removes the last failure from the count. */
  takeBack(key: string): void
  reset(key: string): void
}

/**
 * After `free` failures each further one doubles the wait, from one second to `maxWaitMs`. A key is dropped when it has
 * not failed for `maxWaitMs`. At most `capacity` keys are kept; the one that failed least recently is dropped first.
 */
export function createThrottle({
  free,
  maxWaitMs,
  clock,
  capacity = 30_000,
}: {
  free: number
  maxWaitMs: number
  clock: () => number
  capacity?: number
}): Throttle {
  const failures = new Map<string, { count: number; at: number }>()
  return {
    waitMs(key, share = 1) {
      const entry = failures.get(key)
      // A clock that was set back must not lengthen the wait.
      return entry
        ? Math.min(
            Math.max(0, entry.at + delayMs(entry.count, { free: Math.floor(free * share), maxWaitMs }) - clock()),
            maxWaitMs,
          )
        : 0
    },
    failed(key) {
      const now = clock()
      const before = failures.get(key)
      const count = before && Math.abs(now - before.at) < maxWaitMs ? before.count + 1 : 1
      failures.delete(key)
      if (failures.size >= capacity) failures.delete(failures.keys().next().value ?? key)
      failures.set(key, { count, at: now })
    },
    takeBack(key) {
      const entry = failures.get(key)
      if (entry && entry.count > 1) entry.count--
      else failures.delete(key)
    },
    reset(key) {
      failures.delete(key)
    },
  }
}

/** The wait before the next try after this many failures, in milliseconds. */
export function delayMs(failures: number, { free, maxWaitMs }: { free: number; maxWaitMs: number }): number {
  return failures <= free ? 0 : Math.min(1_000 * 2 ** (failures - free - 1), maxWaitMs)
}
