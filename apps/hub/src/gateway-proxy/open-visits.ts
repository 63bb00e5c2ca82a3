/**
 * The current users of each gateway's interface. Owns the list of open exchanges (requests, event streams and
 * WebSockets), ends them when their hub session ends, and counts people for the fleet list.
 */
import type { Logger } from 'pino'
import { createTasks } from '../kernel/tasks.ts'
import { labelOf, type Place } from './origins.ts'

export const PRESENCE_MS = 60_000
const RECHECK_INTERVAL_MS = 500
const MAX_OPEN_PER_SESSION = 256

export type Visit = Place & { sessionId: string; userId: string }

export type OpenExchange = {
  /** Ends it at once, on both sides. */
  cut(): void
  /** Whether it goes on until somebody ends it: a WebSocket, an event stream, a camera's pictures. */
  isEndless(): boolean
}

export type OpenVisits = {
  /** Registers an exchange. Returns the function to call at its end; undefined when the session has too many. */
  enter(visit: Visit, exchange: OpenExchange): (() => void) | undefined
  endSession(sessionId: string): void
  /** Distinct people with a request in the last 60 s or an open exchange. */
  connectedUsers(gatewayId: string): number
  /** Asks about every open visit now: a person or a gateway has changed. */
  recheck(): Promise<void>
  /** Ends the exchanges that do not end by themselves. */
  endEndless(): void
  stop(): Promise<void>
}

type Open = {
  visit: Visit
  exchange: OpenExchange
  /** Its index in the list of its session. */
  place: number
}

/**
 * `isAllowed` is asked about each open visit twice a second: another process (the command line, or a hub that is being
 * replaced) may have ended its session, or the gateway may have withdrawn its application.
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
  /**
   * By session, in any order; an empty list stays until the next check. Arrays, because a Set that changes with every
   * request keeps the requests of its former tables alive until V8's next full collection.
   */
  const openBySession = new Map<string, Open[]>()
  /** Gateway id to user id to the time of the last request. */
  const lastSeen = new Map<string, Map<string, number>>()

  const tasks = createTasks({ log, name: 'open-visits', on: 'each hub', failure: 'could not check open visits' })
  tasks.every(RECHECK_INTERVAL_MS, recheck)

  function leave(open: Open): void {
    const { sessionId, gatewayId, userId } = open.visit
    const siblings = openBySession.get(sessionId)
    if (siblings?.[open.place] !== open) return
    const last = siblings.pop()
    if (last && last !== open) {
      siblings[open.place] = last
      last.place = open.place
    }
    lastSeen.get(gatewayId)?.set(userId, clock())
  }

  const allOpen = (): Open[] => [...openBySession.values()].flat()

  function cutAll(all: readonly Open[]): void {
    for (const open of all.slice()) {
      leave(open)
      open.exchange.cut()
    }
  }

  async function recheck(): Promise<void> {
    for (const [gatewayId, people] of lastSeen) {
      for (const [userId, at] of people) if (clock() - at > PRESENCE_MS) people.delete(userId)
      if (people.size === 0) lastSeen.delete(gatewayId)
    }
    for (const [sessionId, open] of openBySession) if (open.length === 0) openBySession.delete(sessionId)
    const alike = Map.groupBy(allOpen(), ({ visit }) => `${visit.sessionId} ${labelOf(visit)}`)
    await Promise.all(
      [...alike.values()].map(async (open) => {
        const [first] = open
        if (first && !(await isAllowed(first.visit).catch(() => true))) cutAll(open)
      }),
    )
  }

  return {
    enter(visit, exchange) {
      const siblings = openBySession.getOrInsertComputed(visit.sessionId, () => [])
      if (siblings.length >= MAX_OPEN_PER_SESSION) return undefined
      const open = { visit, exchange, place: siblings.length }
      siblings.push(open)
      lastSeen.getOrInsertComputed(visit.gatewayId, () => new Map()).set(visit.userId, clock())
      return () => leave(open)
    },
    recheck: () => tasks.run(recheck),
    endSession: (sessionId) => cutAll(openBySession.get(sessionId) ?? []),
    connectedUsers(gatewayId) {
      if (openBySession.size === 0 && !lastSeen.has(gatewayId)) return 0
      const people = new Set<string>()
      for (const [userId, at] of lastSeen.get(gatewayId) ?? []) if (clock() - at <= PRESENCE_MS) people.add(userId)
      for (const open of openBySession.values())
        for (const { visit } of open) if (visit.gatewayId === gatewayId) people.add(visit.userId)
      return people.size
    },
    endEndless: () => cutAll(allOpen().filter(({ exchange }) => exchange.isEndless())),
    stop() {
      cutAll(allOpen())
      return tasks.stop()
    },
  }
}
