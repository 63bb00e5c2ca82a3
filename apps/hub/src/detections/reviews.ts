import type { BodyOf, ResponseOf, reviewIncidents } from '@hedgerow/contract'
import { sql, type Kysely } from 'kysely'
import { scopeOf } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, nameOf, record, type Act } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { lastNumber, lockGateway, storeReviews } from './gateway-reviews.ts'
import { visibleIncidents } from './incident-list.ts'
import { keepFormer } from './undo.ts'

type ReviewsBody = BodyOf<typeof reviewIncidents>

/**
 * Stores people's reviews of incidents and of each of their detections, from which gateways learn. Returns the former
 * reviews, which `undoReviews` brings back. When one incident is gone or not the caller's, it throws
 * `incident_not_found` and changes nothing.
 */
export function review(
  db: Kysely<Tables>,
  { ids, verdict, label }: ReviewsBody,
  act: Act,
): Promise<ResponseOf<typeof reviewIncidents>> {
  const { actor, now } = act
  const uniqueIds = [...new Set(ids)]
  return inTransaction(db, async (transaction) => {
    const before = await visibleIncidents(transaction, scopeOf(actor), uniqueIds)
    if (before.length < uniqueIds.length) throw new HubError('incident_not_found')
    const byGateway = [...Map.groupBy(before, (row) => row.gateway_id)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const reviewIds = new Map<string, string>()
    for (const [gatewayId, theirs] of byGateway) {
      const name = await lockGateway(transaction, gatewayId)
      const incidentIds = theirs.map(({ id }) => id)
      const seq = await lastNumber(transaction, gatewayId, now)
      const formerReviews = await keepFormer(transaction, theirs, { seq, byId: actor.userId, now })
      for (const { id, incident_id: incidentId } of formerReviews) reviewIds.set(incidentId, id)
      await transaction
        .updateTable('incidents')
        .set((row) => ({
          verdict,
          label: label ?? row.ref('reported_label'),
          reviewed_by: verdict === null ? null : nameOf(actor),
          reviewed_at: verdict === null ? null : now,
          doubtful: 0,
          ...(verdict === 'right' && { suppressed: 0 }),
        }))
        .where('id', 'in', incidentIds)
        .execute()
      await transaction
        .updateTable('detections')
        .set({ doubtful: 0, ...(verdict === 'right' && { suppressed: 0 }) })
        .where('incident_id', 'in', incidentIds)
        .where((row) => row.or([row('doubtful', '=', 1), row('suppressed', '=', 1)]))
        .execute()
      const source = sql`select id, camera, started_at, ${verdict} as verdict, ${label ?? null} as label,
        ${actor.userId} as by_id, cast(${now} as double precision) as at
        from detections where incident_id in (${sql.join(incidentIds)})`
      await storeReviews(transaction, gatewayId, { seq, source })
      const facts = incidentIds.map((id) => ({
        kind: 'incident.reviewed' as const,
        ...by(act),
        target: id,
        gatewayId,
        data: { verdict, label: label ?? null, gatewayName: name },
      }))
      await record(transaction, ...facts)
    }
    return before.map((row) => ({
      id: row.id,
      verdict: row.verdict,
      label: row.label === row.reported_label ? null : row.label,
      reviewId: reviewIds.get(row.id)!,
    }))
  })
}
