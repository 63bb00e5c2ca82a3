/** People's reviews of detections, numbered, so that a gateway can ask for those that it has not seen. */
import { REVIEWS_AT_ONCE, type GatewayReview } from '@hedgerow/contract'
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import { lockGateways } from '../database/gateway-locks.ts'
import type { Db, Tables } from '../database/tables.ts'
import { factsOf } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'

/** The same lock as for storing detections, so that nothing joins an incident while somebody reviews it. */
export async function lockGateway(transaction: Transaction<Tables>, gatewayId: string): Promise<string> {
  const gateway = (await lockGateways(transaction, [gatewayId])).get(gatewayId)
  if (!gateway) throw new HubError('incident_not_found')
  return gateway.name
}

/**
 * Reviews get numbers above this one, which rises with each call: a gateway asks for those after the last number that
 * it saw. Numbers start at the time in milliseconds: a hub that was restored from a backup does not know the last ones,
 * and must not give them again.
 */
export async function lastNumber(db: Db, gatewayId: string, now: number): Promise<number> {
  return Math.max(await newestReview(db, gatewayId), Math.floor(now))
}

/** `source` selects the detections, each with its verdict, the person and the time. */
export async function storeReviews(
  transaction: Transaction<Tables>,
  gatewayId: string,
  { seq, source }: { seq: number; source: RawBuilder<unknown> },
): Promise<void> {
  await sql`insert into reviews (gateway_id, detection_id, seq, verdict, label, by_id, at, camera, detected_at)
    select ${gatewayId}, id, ${seq} + row_number() over (order by started_at, id),
      verdict, label, by_id, at, camera, started_at
    from (${source}) as source where true
    on conflict (gateway_id, detection_id) do update set
      seq = excluded.seq, verdict = excluded.verdict, label = excluded.label,
      by_id = excluded.by_id, at = excluded.at, camera = excluded.camera`.execute(transaction)
}

/** The number of the newest review of a gateway, 0 without any. */
export async function newestReview(db: Db, gatewayId: string): Promise<number> {
  const row = await db
    .selectFrom('reviews')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .where('gateway_id', '=', gatewayId)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** `newestReview` for every heartbeat: from memory, and again from the database after each review of the gateway. */
export function keepNewestReviews(db: Kysely<Tables>): (gatewayId: string) => Promise<number> {
  const sequences = new Map<string, Promise<number>>()
  factsOf(db).follow({
    name: 'newest-reviews',
    kinds: ['incident.reviewed', 'incident.review-undone', 'gateway.deleted'],
    stage: 'memory',
    afterCommit: (facts) => facts.forEach(({ gatewayId }) => gatewayId !== undefined && sequences.delete(gatewayId)),
  })
  return (gatewayId) => {
    const sequence = sequences.get(gatewayId)
    if (sequence) return sequence
    const reading = newestReview(db, gatewayId)
    sequences.set(gatewayId, reading)
    reading.catch(() => {
      if (sequences.get(gatewayId) === reading) sequences.delete(gatewayId)
    })
    return reading
  }
}

/** The reviews that its gateway has not seen yet, oldest first. */
export async function reviewsAfter(db: Db, gatewayId: string, after: number): Promise<GatewayReview[]> {
  const rows = await db
    .selectFrom('reviews')
    .select(['seq', 'detection_id', 'verdict', 'label', 'at'])
    .where('gateway_id', '=', gatewayId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(REVIEWS_AT_ONCE)
    .execute()
  return rows.map(({ detection_id: detection, ...review }) => ({ ...review, detection, at: Math.floor(review.at) }))
}
