import type { FactKind, IncidentFilter } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import { SCOPE_FACTS, type Scope } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import { cachedRead } from '../facts/cached-read.ts'
import { answerKey } from '../http/shared-answers.ts'
import { SITE_FACTS } from '../sites/sites.ts'
import { countIncidents } from './incident-list.ts'

/** Counting more than this takes milliseconds, and every open page asks again after each event. */
const MANY = 2_000
/** Shorter than a page's pause between two questions: its next answer counts what this one did not. */
const KEPT_MS = 1_000
const FILTERS_KEPT = 100

/** What people do to incidents: they see it at once. */
const STALE_AFTER = [
  ...SCOPE_FACTS,
  'incident.reviewed',
  'incident.review-undone',
  'gateway.edited',
  'gateway.tagged',
  ...SITE_FACTS,
] as const satisfies FactKind[]

type Counts = Awaited<ReturnType<typeof countIncidents>>

const maxAgeMs = ({ groups }: Counts) => (groups.reduce((sum, { count }) => sum + count, 0) > MANY ? KEPT_MS : 0)

/** Counts incidents as `countIncidents` does. Many incidents are counted once a second for each scope and filter. */
export const createKeptCounts = (db: Kysely<Tables>) =>
  cachedRead(
    db,
    {
      name: 'incident-counts',
      kinds: STALE_AFTER,
      maxAgeMs,
      keyOf: answerKey,
      maxKeys: FILTERS_KEPT,
      // Incidents that a page was just told of are not among the facts.
      onlyAnswers: true,
    },
    (scope: Scope, filter: IncidentFilter) => countIncidents(db, scope, filter),
  )
