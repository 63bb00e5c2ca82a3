/** Undoing a review: the earlier state of the incident and of its detections is kept for a week. */
import { randomBytes } from 'node:crypto'
import type { BodyOf, ResponseOf, undoReviews as call } from '@hedgerow/contract'
import { sql, type Insertable, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { IncidentRow } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { lastNumber, lockGateway, storeReviews } from './gateway-reviews.ts'
import { visibleIncidents } from './incident-list.ts'

const ID_BYTES = 12

type FormerReview = Selectable<Tables['former_reviews']>
type Undone = { former: FormerReview; incident: IncidentRow }

/** Stores the state of these incidents of one gateway, which the review is about to change. */
export async function keepFormer(
  transaction: Transaction<Tables>,
  incidents: readonly IncidentRow[],
  { seq, byId, now }: { seq: number; byId: string; now: number },
): Promise<Insertable<Tables['former_reviews']>[]> {
  const rows = incidents.map((incident) => ({
    id: randomBytes(ID_BYTES).toString('base64url'),
    incident_id: incident.id,
    gateway_id: incident.gateway_id,
    seq,
    by_id: byId,
    at: now,
    detections: incident.detections,
    label: incident.label,
    verdict: incident.verdict,
    reviewed_by: incident.reviewed_by,
    reviewed_at: incident.reviewed_at,
  }))
  await transaction.insertInto('former_reviews').values(rows).execute()
  await sql`insert into former_detections
      (review_id, detection_id, suppressed, doubtful, verdict, label, by_id, at)
    select former.id, d.id, d.suppressed, d.doubtful, r.verdict, r.label, r.by_id, r.at
    from former_reviews as former join detections as d on d.incident_id = former.incident_id
      left join reviews as r on r.gateway_id = d.gateway_id and r.detection_id = d.id
    where former.id in (${sql.join(rows.map(({ id }) => id))})`.execute(transaction)
  return rows
}

/**
 * Throws `review_not_found` when one of the reviews is not the caller's, or is no longer kept, and changes nothing.
 */
export function undoReviews(
  db: Kysely<Tables>,
  { reviewIds }: BodyOf<typeof call>,
  act: Act,
): Promise<ResponseOf<typeof call>> {
  const { actor, now } = act
  const uniqueIds = [...new Set(reviewIds)]
  return inTransaction(db, async (transaction) => {
    const reviews = transaction.selectFrom('former_reviews').selectAll().where('id', 'in', uniqueIds)
    const found = await reviews.where('by_id', '=', actor.userId).execute()
    if (found.length < uniqueIds.length) throw new HubError('review_not_found')
    const newest = await newestReviews(transaction, found)
    const incidentIds = found.map((former) => former.incident_id)
    const visible = new Map(
      (await visibleIncidents(transaction, scopeOf(actor), incidentIds)).map((row) => [row.id, row]),
    )
    const undone = found.flatMap((former) => {
      const incident = visible.get(former.incident_id)
      return incident && newest.get(incident.id) === former.seq ? [{ former, incident }] : []
    })
    const byGateway = [...Map.groupBy(undone, ({ incident }) => incident.gateway_id)]
    for (const [gatewayId, theirs] of byGateway.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const gatewayName = await lockGateway(transaction, gatewayId)
      await restoreDetections(transaction, gatewayId, theirs, { byId: actor.userId, now })
      for (const one of theirs) {
        const { verdict, label, reported_label: reported } = await restoreIncident(transaction, one)
        await record(transaction, {
          kind: 'incident.review-undone',
          ...by(act),
          target: one.incident.id,
          gatewayId,
          data: { verdict, label: label === reported ? null : label, gatewayName },
        })
      }
    }
    const ids = undone.map(({ former }) => former.id)
    if (ids.length > 0) await transaction.deleteFrom('former_reviews').where('id', 'in', ids).execute()
    return { incidentIds: undone.map(({ incident }) => incident.id) }
  })
}

/** The number of the newest review that is kept of each incident. */
async function newestReviews(db: Db, of: readonly FormerReview[]): Promise<Map<string, number>> {
  const ids = of.map((former) => former.incident_id)
  const rows = await db
    .selectFrom('former_reviews')
    .select(['incident_id', ({ fn }) => fn.max('seq').as('seq')])
    .where('incident_id', 'in', ids)
    .groupBy('incident_id')
    .execute()
  return new Map(rows.map((row) => [row.incident_id, row.seq]))
}

/** Restores their marks of learning, and their reviews with new numbers, so that the gateway fetches them. */
async function restoreDetections(
  transaction: Transaction<Tables>,
  gatewayId: string,
  undone: readonly Undone[],
  { byId, now }: { byId: string; now: number },
): Promise<void> {
  const reviewIds = sql.join(undone.map(({ former }) => former.id))
  const incidentIds = sql.join(undone.map(({ incident }) => incident.id))
  await sql`update detections set suppressed = former.suppressed, doubtful = former.doubtful
    from former_detections as former
    where former.review_id in (${reviewIds}) and detections.id = former.detection_id
      and detections.gateway_id = ${gatewayId} and detections.incident_id in (${incidentIds})`.execute(transaction)
  const source = sql`select d.id, d.camera, d.started_at, former.verdict, former.label,
      coalesce(former.by_id, ${byId}) as by_id, coalesce(former.at, ${now}) as at
    from former_detections as former
      join detections as d on d.gateway_id = ${gatewayId} and d.id = former.detection_id
    where former.review_id in (${reviewIds}) and d.incident_id in (${incidentIds})`
  await storeReviews(transaction, gatewayId, { seq: await lastNumber(transaction, gatewayId, now), source })
}

/** The former review does not return to an incident that grew since: nobody has seen that detection. */
async function restoreIncident(transaction: Transaction<Tables>, { former, incident }: Undone): Promise<IncidentRow> {
  const hasGrown = incident.detections > former.detections
  const ofDetections = (mark: 'suppressed' | 'doubtful', which: 'min' | 'max') =>
    transaction
      .selectFrom('detections')
      .select(({ fn }) => fn[which]<number>(mark).as('mark'))
      .where('incident_id', '=', incident.id)
  return transaction
    .updateTable('incidents')
    .set({
      label: hasGrown ? incident.reported_label : former.label,
      verdict: hasGrown ? null : former.verdict,
      reviewed_by: hasGrown ? null : former.reviewed_by,
      reviewed_at: hasGrown ? null : former.reviewed_at,
      suppressed: ofDetections('suppressed', 'min'),
      doubtful: ofDetections('doubtful', 'max'),
    })
    .where('id', '=', incident.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
