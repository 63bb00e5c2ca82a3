import type { FactKind, IncidentFilter } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Scope } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import { dropAfter } from '../facts/facts.ts'
import { answerKey } from '../http/shared-answers.ts'
import { countIncidents } from './incident-list.ts'

/** Counting more than this takes milliseconds, and every open page asks again after each event. */
const MANY = 2_000
/** Shorter than a page's pause between two questions: its next answer counts what this one did not. */
const KEPT_MS = 1_000
const FILTERS_KEPT = 100

/** What people do to incidents: they see it at once. */
const STALE_AFTER = [
  'incident.reviewed',
  'incident.review-undone',
  'gateway.edited',
  'gateway.tagged',
  'gateway.claimed',
  'gateway.deleted',
] as const satisfies FactKind[]

type Counts = Awaited<ReturnType<typeof countIncidents>>

/** Counts incidents as `countIncidents` does. Many incidents are counted once a second for each scope and filter. */
export function createKeptCounts(db: Kysely<Tables>): (scope: Scope, filter: IncidentFilter) => Promise<Counts> {
  let kept = new Map<string, { counts: Counts; countedAt: number }>()
  dropAfter(db, 'incident-counts', STALE_AFTER, () => {
    kept = new Map()
  })

  return async (scope, filter) => {
    const key = answerKey(scope, filter)
    const before = kept.get(key)
    if (before && performance.now() - before.countedAt < KEPT_MS) return before.counts
    // If a change comes during this count, the result goes into the old map and is not used.
    const counting = kept
    const countedAt = performance.now()
    const counts = await countIncidents(db, scope, filter)
    if (counts.groups.reduce((sum, { count }) => sum + count, 0) <= MANY) return counts
    if (counting.size >= FILTERS_KEPT) counting.clear()
    counting.set(key, { counts, countedAt })
    return counts
  }
}
