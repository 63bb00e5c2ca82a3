import {
  REVIEWS_AT_ONCE,
  type BodyOf,
  type GatewayReview,
  type ResponseOf,
  type reviewIncidents,
} from '@hedgerow/contract'
import { sql, type Kysely, type Transaction } from 'kysely'
import type { Caller } from '../access/sessions.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { actorOf, record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { visibleIncidents } from './incident-list.ts'

type Said = BodyOf<typeof reviewIncidents>

/**
 * Stores people's reviews of incidents and of each of their detections, from which gateways learn. Returns the former
 * reviews. When one incident is gone or not the caller's, it throws `incident_not_found` and changes nothing.
 */
export function review(
  db: Kysely<Tables>,
  { ids, verdict, label }: Said,
  { caller, sourceIp, now }: { caller: Caller; sourceIp: string; now: number },
): Promise<ResponseOf<typeof reviewIncidents>> {
  const asked = [...new Set(ids)]
  return inTransaction(db, async (transaction) => {
    const before = await visibleIncidents(transaction, caller, asked)
    if (before.length < asked.length) throw new HubError('incident_not_found')
    const byGateway = [...Map.groupBy(before, (row) => row.gateway_id)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [gatewayId, theirs] of byGateway) {
      const name = await lockGateway(transaction, gatewayId)
      const incidentIds = theirs.map(({ id }) => id)
      await transaction
        .updateTable('incidents')
        .set((row) => ({
          verdict,
          label: label ?? row.ref('reported_label'),
          reviewed_by: verdict === null ? null : caller.username,
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
      await writeReviews(transaction, gatewayId, incidentIds, {
        verdict,
        label: label ?? null,
        byId: caller.userId,
        now,
      })
      const facts = incidentIds.map((id) => ({
        kind: 'incident.reviewed' as const,
        at: now,
        actor: actorOf({ caller, sourceIp }),
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
    }))
  })
}

/** The same lock as for storing detections, so that nothing joins an incident while somebody reviews it. */
async function lockGateway(transaction: Transaction<Tables>, gatewayId: string): Promise<string> {
  const gateway = await transaction
    .updateTable('gateways')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('id', '=', gatewayId)
    .returning('name')
    .executeTakeFirst()
  if (!gateway) throw new HubError('incident_not_found')
  return gateway.name
}

/**
 * Numbers them above all earlier reviews of the gateway, which asks for those after the last number that it saw.
 * Numbers start at the time in milliseconds: a hub that was restored from a backup does not know the last ones, and
 * must not give them again.
 */
async function writeReviews(
  transaction: Transaction<Tables>,
  gatewayId: string,
  incidentIds: readonly string[],
  { verdict, label, byId, now }: { verdict: Said['verdict']; label: string | null; byId: string; now: number },
): Promise<void> {
  const before = Math.max(await newestReview(transaction, gatewayId), Math.floor(now))
  await sql`insert into reviews (gateway_id, detection_id, seq, verdict, label, by_id, at, camera, detected_at)
    select gateway_id, id, ${before} + row_number() over (order by started_at, id),
      ${verdict}, ${label}, ${byId}, ${now}, camera, started_at
    from detections where incident_id in (${sql.join(incidentIds)})
    on conflict (gateway_id, detection_id) do update set
      seq = excluded.seq, verdict = excluded.verdict, label = excluded.label, by_id = excluded.by_id, at = excluded.at, camera = excluded.camera`.execute(
    transaction,
  )
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
  return rows.map(({ detection_id: detection, ...said }) => ({ ...said, detection, at: Math.floor(said.at) }))
}
