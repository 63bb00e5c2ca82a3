import { hasRole, type FactKind } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fleetStatuses, type FleetSignals } from '../fleet/fleet.ts'
import type { Caller } from '../access/sessions.ts'
import { dropAfter } from '../facts/facts.ts'

/**
 * How long a count is used. Counting ten thousand gateways takes as long as many answers, so it is then used for 5 s,
 * and for 1 s more while the next count is made: its slices run between other answers, and nobody waits for them.
 */
const COUNTED_FOR_MS = 1_000
const COUNTED_FOR_EACH_MS = 0.5
const SHOWN_FOR_EACH_MS = 0.6

type Count = { total: number; active: number }

export type FleetCount = {
  /** How many gateways the caller may see, and how many of them are not offline. */
  of(caller: Caller): Promise<Count>
}

const STALE_AFTER = [
  'gateway.added',
  'gateway.approved',
  'gateway.rekeyed',
  'gateway.deleted',
  'gateway.status-changed',
] as const satisfies FactKind[]

/**
 * Counts the whole fleet once for all managers and admins, and again after a change or soon after, because time alone
 * also changes a status. A person's own gateways are few and counted each time.
 */
export function createFleetCount(db: Kysely<Tables>, signals: FleetSignals): FleetCount {
  let kept: { untilMs: number; shownUntilMs: number; count: Promise<Count> } | undefined

  async function count(caller: Caller): Promise<Count> {
    const statuses = await fleetStatuses(db, signals, caller)
    let active = 0
    for (const { status } of statuses) if (status !== 'offline') active++
    return { total: statuses.length, active }
  }

  dropAfter(db, 'fleet-count', STALE_AFTER, () => {
    kept = undefined
  })

  return {
    of(caller) {
      if (!hasRole(caller.role, 'manager')) return count(caller)
      const atMs = performance.now()
      if (kept && atMs < kept.untilMs) return kept.count
      const next = count(caller)
      const mine = {
        untilMs: Infinity,
        shownUntilMs: Infinity,
        count: kept && atMs < kept.shownUntilMs ? kept.count : next,
      }
      kept = mine
      next.then(
        ({ total }) => {
          mine.count = next
          mine.untilMs = atMs + Math.max(COUNTED_FOR_MS, total * COUNTED_FOR_EACH_MS)
          mine.shownUntilMs = Math.max(mine.untilMs, atMs + total * SHOWN_FOR_EACH_MS)
        },
        () => {
          if (kept === mine) kept = undefined
        },
      )
      return mine.count
    },
  }
}
