/**
 * Devices that wait for their decision on an open request. Each registration has at most one waiter, the newest; above
 * the limit, a request is answered at once.
 */
const WAITERS_MAX = 2_000

export type Waiters = {
  /** Resolves on the decision, after the timeout, when the signal aborts, or when a newer waiter replaces this one. */
  wait(registrationId: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>
  /** Call it after a decision is committed. */
  wake(registrationId: string): void
  /** Ends all waits, and every later one at once. */
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
