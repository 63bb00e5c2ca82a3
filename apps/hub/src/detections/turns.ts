/**
 * Limits how many pulls run at once, for each gateway and in all. Waiting callers are served in order, and may leave.
 */
import { HubError } from '../kernel/hub-error.ts'

export type Turns = {
  /**
   * Resolves with the function that gives the turn back; it may be called more than once. Throws `pictures_busy` when
   * none becomes free in time or too many wait, and the reason of `signal` when it is aborted.
   */
  take(gatewayId: string, signal: AbortSignal): Promise<() => void>
}

export type TurnLimits = { perGateway: number; total: number; waiting: number; waitMs: number }

type Waiter = { gatewayId: string; start(): void }

export function createTurns({ perGateway, total, waiting: waitingMax, waitMs }: TurnLimits): Turns {
  const running = new Map<string, number>()
  const waiters = new Set<Waiter>()
  let all = 0

  const isFree = (gatewayId: string) => all < total && (running.get(gatewayId) ?? 0) < perGateway

  function begin(gatewayId: string): () => void {
    all += 1
    running.set(gatewayId, (running.get(gatewayId) ?? 0) + 1)
    let isGivenBack = false
    return () => {
      if (isGivenBack) return
      isGivenBack = true
      all -= 1
      const left = (running.get(gatewayId) ?? 1) - 1
      if (left > 0) running.set(gatewayId, left)
      else running.delete(gatewayId)
      for (const waiter of waiters) if (isFree(waiter.gatewayId)) waiter.start()
    }
  }

  return {
    async take(gatewayId, signal) {
      signal.throwIfAborted()
      if (isFree(gatewayId)) return begin(gatewayId)
      if (waiters.size >= waitingMax) throw new HubError('pictures_busy', { retryAfterMs: waitMs })
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const waiter: Waiter = {
        gatewayId,
        start() {
          waiters.delete(waiter)
          resolve(begin(gatewayId))
        },
      }
      waiters.add(waiter)
      const leave = () => reject(signal.reason as Error)
      const late = setTimeout(() => reject(new HubError('pictures_busy', { retryAfterMs: waitMs })), waitMs)
      signal.addEventListener('abort', leave, { once: true })
      return promise.finally(() => {
        clearTimeout(late)
        signal.removeEventListener('abort', leave)
        waiters.delete(waiter)
      })
    },
  }
}
