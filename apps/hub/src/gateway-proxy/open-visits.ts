/**
 * The current users of each gateway's interface. Owns the list of open exchanges (requests, event streams and
 * WebSockets), ends them when their hub session ends, and counts people for the fleet list.
 */
import type { Logger } from 'pino'
import { createTasks } from '../kernel/tasks.ts'

export const PRESENCE_MS = 60_000
const RECHECK_INTERVAL_MS = 1_000
const MAX_OPEN_PER_SESSION = 256

export type Visit = { sessionId: string; userId: string; gatewayId: string }

export type OpenVisits = {
  /**
   * Registers an exchange; `cut` must end it at once. Returns the function to call at its end; undefined when the
   * session has too many.
   */
  enter(visit: Visit, cut: () => void): (() => void) | undefined
  endSession(sessionId: string): void
  /** Distinct people with a request in the last 60 s or an open exchange. */
  connectedUsers(gatewayId: string): number
  /** Asks about every open visit now: a person or a gateway has changed. */
  recheck(): Promise<void>
  stop(): Promise<void>
}

type Open = Visit & { cut: () => void }

/**
 * `isAllowed` is asked about each open visit once a second: another hub may have ended its session, or the gateway was
 * deleted.
 */
export function createOpenVisits({
  clock,
  log,
  isAllowed,
}: {
  clock: () => number
  log: Logger
  isAllowed: (visit: Visit) => Promise<boolean>
}): OpenVisits {
  const open = new Set<Open>()
  const openBySession = new Map<string, Set<Open>>()
  /** Gateway id to user id to the time of the last request. */
  const lastSeen = new Map<string, Map<string, number>>()

  const tasks = createTasks({ log, failure: 'could not check open visits' })
  tasks.every(RECHECK_INTERVAL_MS, recheck)

  function leave(exchange: Open): void {
    open.delete(exchange)
    const siblings = openBySession.get(exchange.sessionId)
    siblings?.delete(exchange)
    if (siblings?.size === 0) openBySession.delete(exchange.sessionId)
    lastSeen.get(exchange.gatewayId)?.set(exchange.userId, clock())
  }

  function cutAll(exchanges: Iterable<Open>): void {
    for (const exchange of exchanges) {
      leave(exchange)
      exchange.cut()
    }
  }

  async function recheck(): Promise<void> {
    for (const [gatewayId, people] of lastSeen) {
      for (const [userId, at] of people) if (clock() - at > PRESENCE_MS) people.delete(userId)
      if (people.size === 0) lastSeen.delete(gatewayId)
    }
    const pairs = Map.groupBy(open, ({ sessionId, gatewayId }) => `${sessionId} ${gatewayId}`)
    await Promise.all(
      [...pairs.values()].map(async (exchanges) => {
        const [first] = exchanges
        if (first && !(await isAllowed(first).catch(() => true))) cutAll(exchanges)
      }),
    )
  }

  return {
    enter(visit, cut) {
      const siblings = openBySession.get(visit.sessionId) ?? new Set()
      if (siblings.size >= MAX_OPEN_PER_SESSION) return undefined
      const exchange = { ...visit, cut }
      open.add(exchange)
      openBySession.set(visit.sessionId, siblings.add(exchange))
      const people = lastSeen.get(visit.gatewayId) ?? new Map<string, number>()
      lastSeen.set(visit.gatewayId, people.set(visit.userId, clock()))
      return () => {
        if (open.has(exchange)) leave(exchange)
      }
    },
    recheck: () => tasks.run(recheck),
    endSession: (sessionId) => cutAll(openBySession.get(sessionId) ?? []),
    connectedUsers(gatewayId) {
      if (open.size === 0 && !lastSeen.has(gatewayId)) return 0
      const people = new Set<string>()
      for (const [userId, at] of lastSeen.get(gatewayId) ?? []) if (clock() - at <= PRESENCE_MS) people.add(userId)
      for (const exchange of open) if (exchange.gatewayId === gatewayId) people.add(exchange.userId)
      return people.size
    },
    stop() {
      cutAll(open)
      return tasks.stop()
    },
  }
}
