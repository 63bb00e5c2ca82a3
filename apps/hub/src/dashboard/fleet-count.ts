import type { FactKind } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fleetStatuses, LARGE_FLEET, type FleetSignals, type FleetStatus } from '../fleet/fleet.ts'
import type { Scope } from '../access/scope.ts'
import { dropAfter } from '../facts/facts.ts'

/**
 * How long a count is used. Judging ten thousand gateways takes as long as many answers, so it is then used for 5 s,
 * and for 1 s more while the next count is made: its slices run between other answers, and nobody waits for them.
 */
const COUNTED_FOR_MS = 1_000
const COUNTED_FOR_EACH_MS = 0.5
const SHOWN_FOR_EACH_MS = 0.6

type Count = { total: number; active: number }
type Counted = { count: Count; lastsMs: number }

export type FleetCount = {
  /** How many gateways the scope has, and how many of them are not offline. */
  of(scope: Scope): Promise<Count>
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
 * also changes a status. Of a large fleet, it counts the statuses of the last check, unless a gateway came or went
 * since then. A person's own gateways are few and counted each time.
 */
export function createFleetCount(
  db: Kysely<Tables>,
  signals: FleetSignals,
  checkedStatuses: () => readonly FleetStatus[] | undefined,
): FleetCount {
  let kept: { untilMs: number; shownUntilMs: number; counted: Promise<Counted> } | undefined

  async function countAll(): Promise<Counted> {
    const checked = checkedStatuses()
    if (checked && checked.length >= LARGE_FLEET && checked.length === (await countRows()))
      return { count: countOf(checked), lastsMs: COUNTED_FOR_MS }
    const count = countOf(await fleetStatuses(db, signals))
    return { count, lastsMs: Math.max(COUNTED_FOR_MS, count.total * COUNTED_FOR_EACH_MS) }
  }

  async function countRows(): Promise<number> {
    const rows = db.selectFrom('gateways').select(({ fn }) => fn.countAll<number>().as('count'))
    return Number((await rows.executeTakeFirstOrThrow()).count)
  }

  dropAfter(db, 'fleet-count', STALE_AFTER, () => {
    kept = undefined
  })

  return {
    async of(scope) {
      if (!scope.isWhole) return countOf(await fleetStatuses(db, signals, scope))
      const atMs = performance.now()
      if (kept && atMs < kept.untilMs) return (await kept.counted).count
      const next = countAll()
      const mine = {
        untilMs: Infinity,
        shownUntilMs: Infinity,
        counted: kept && atMs < kept.shownUntilMs ? kept.counted : next,
      }
      kept = mine
      next.then(
        ({ count, lastsMs }) => {
          mine.counted = next
          mine.untilMs = atMs + lastsMs
          mine.shownUntilMs = Math.max(mine.untilMs, atMs + count.total * SHOWN_FOR_EACH_MS)
        },
        () => {
          if (kept === mine) kept = undefined
        },
      )
      return (await mine.counted).count
    },
  }
}

function countOf(statuses: readonly FleetStatus[]): Count {
  let active = 0
  for (const { status } of statuses) if (status !== 'offline') active++
  return { total: statuses.length, active }
}
