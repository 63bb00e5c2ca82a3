import type { FactKind } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fleetStatuses, LARGE_FLEET, type FleetSignals, type FleetStatus } from '../fleet/fleet.ts'
import type { Scope } from '../access/scope.ts'
import { kept } from '../facts/kept.ts'

const KEPT_MS = 1_200
const KEPT_FOR_EACH_MS = 0.6

type Count = { total: number; active: number }

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
  async function countRows(): Promise<number> {
    const rows = db.selectFrom('gateways').select(({ fn }) => fn.countAll<number>().as('count'))
    return Number((await rows.executeTakeFirstOrThrow()).count)
  }

  const countAll = kept(db, { name: 'fleet-count', kinds: STALE_AFTER, maxAgeMs }, async () => {
    const checked = checkedStatuses()
    if (checked && checked.length >= LARGE_FLEET && checked.length === (await countRows())) return countOf(checked)
    return countOf(await fleetStatuses(db, signals))
  })

  return { of: async (scope) => (scope.isWhole ? countAll() : countOf(await fleetStatuses(db, signals, scope))) }
}

/** Judging ten thousand gateways takes as long as many answers, so it is then used for 6 s. */
const maxAgeMs = ({ total }: Count) => Math.max(KEPT_MS, total * KEPT_FOR_EACH_MS)

function countOf(statuses: readonly FleetStatus[]): Count {
  let active = 0
  for (const { status } of statuses) if (status !== 'offline') active++
  return { total: statuses.length, active }
}
