/**
 * One-use tickets that take a signed-in person from a page of the hub to a gateway's own origin. They live in memory
 * for half a minute; the handover redeems them.
 */
import { randomBytes } from 'node:crypto'
import type { GatewayUiMode, Place } from './origins.ts'

export const TICKET_LIFETIME_MS = 30_000
const TICKET_BYTES = 24
const MAX_TICKETS = 10_000
const MAX_TICKETS_PER_SESSION = 20

/** What a ticket allows: this hub session may open this place at `origin`, coming from the page at `hubOrigin`. */
export type Grant = Place & {
  sessionId: string
  userId: string
  mode: GatewayUiMode
  origin: string
  hubOrigin: string
}

export type Tickets = {
  /** A new ticket; above the limit, drops the oldest of the session or of all. */
  issue(grant: Grant): string
  /** The grant, once: the ticket is used up in any case. Undefined when unknown, used up or too old. */
  redeem(ticket: string): Grant | undefined
  /** Drops the tickets of an ended session. */
  endSession(sessionId: string): void
}

export function createTickets({ clock }: { clock: () => number }): Tickets {
  const open = new Map<string, { grant: Grant; expiresAtMs: number }>()

  function deleteOldest(sessionId: string, keep: number): void {
    const mine = [...open].filter(([, entry]) => entry.grant.sessionId === sessionId)
    for (const [ticket] of mine.slice(0, Math.max(0, mine.length - keep))) open.delete(ticket)
  }

  return {
    issue(grant) {
      for (const [ticket, entry] of open) {
        if (entry.expiresAtMs > clock() && open.size < MAX_TICKETS) break
        open.delete(ticket)
      }
      deleteOldest(grant.sessionId, MAX_TICKETS_PER_SESSION - 1)
      const ticket = randomBytes(TICKET_BYTES).toString('base64url')
      open.set(ticket, { grant, expiresAtMs: clock() + TICKET_LIFETIME_MS })
      return ticket
    },
    redeem(ticket) {
      const entry = open.get(ticket)
      open.delete(ticket)
      return entry && clock() < entry.expiresAtMs ? entry.grant : undefined
    },
    endSession: (sessionId) => deleteOldest(sessionId, 0),
  }
}
