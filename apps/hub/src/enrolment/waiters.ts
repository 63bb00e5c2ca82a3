/**
 * Devices that wait for their decision on a held-open request. Each registration holds one at most, and the newest
 * counts; when there are too many, the next is simply not held.
 */
const WAITERS_MAX = 2_000

export type Waiters = {
  /**
   * Resolves at the decision, after the timeout, when the signal aborts, or when a newer waiter takes this one's place.
   */
  wait(registrationId: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>
  /** A decision was committed. */
  wake(registrationId: string): void
  /** Lets everybody go; nobody is held from then on. */
  close(): void
  readonly isClosed: boolean
}

export function createWaiters(): Waiters {
  const waiting = new Map<string, () => void>()
  let isClosed = false

  function wake(registrationId: string): void {
    waiting.get(registrationId)?.()
  }

  return {
    wait(registrationId, { timeoutMs, signal }) {
      wake(registrationId)
      if (isClosed || signal.aborted || timeoutMs <= 0 || waiting.size >= WAITERS_MAX) return Promise.resolve()
      return new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', finish)
          if (waiting.get(registrationId) === finish) waiting.delete(registrationId)
          resolve()
        }
        const timer = setTimeout(finish, timeoutMs)
        signal.addEventListener('abort', finish)
        waiting.set(registrationId, finish)
      })
    },
    wake,
    close() {
      isClosed = true
      for (const finish of waiting.values()) finish()
    },
    get isClosed() {
      return isClosed
    },
  }
}
