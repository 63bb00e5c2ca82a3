export type Backoff = {
  /**
   * The next pause in milliseconds. The limit doubles each time; the pause is random between half the limit and the
   * limit, so that a fleet spreads out. Never shorter than 1 to 1.5 times `retryAfterMs`.
   */
  next(retryAfterMs?: number): number
  reset(): void
}

export function createBackoff(limits: { firstMs: number; maxMs: number }, random: () => number = Math.random): Backoff {
  let ceilingMs = limits.firstMs
  return {
    next(retryAfterMs = 0) {
      const pauseMs = Math.max(ceilingMs * (0.5 + random() / 2), retryAfterMs * (1 + random() / 2))
      ceilingMs = Math.min(ceilingMs * 2, limits.maxMs)
      return pauseMs
    },
    reset() {
      ceilingMs = limits.firstMs
    },
  }
}

/** A pause that `wake` ends early. One caller pauses at a time; an earlier wake ends the next pause at once. */
export function createPause(signal: AbortSignal): { pause(ms: number): Promise<void>; wake(): void } {
  let isWoken = false
  let end = () => {}
  // One listener for all pauses: a signal of its own for each would cost more than the timer.
  signal.addEventListener('abort', () => end())
  return {
    /** Returns early, without an error, once `signal` is aborted: loops test it themselves. */
    async pause(ms) {
      if (!isWoken && !signal.aborted)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      isWoken = false
    },
    wake() {
      isWoken = true
      end()
    },
  }
}
