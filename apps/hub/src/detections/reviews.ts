import type { BodyOf, ResponseOf, reviewIncidents } from '@hedgerow/contract'
import { sql, type Kysely, type Transaction } from 'kysely'
import type { Caller } from '../access/sessions.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { actorOf, record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { visibleIncidents } from './incident-list.ts'

type Said = BodyOf<typeof reviewIncidents>

/**
 * Says what incidents are: of each, and of each of its detections, which its gateway learns from. Gives what was said
 * before. Throws `incident_not_found` when one is gone or not the caller's, and changes nothing then.
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
        }))
        .where('id', 'in', incidentIds)
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

/** As storing detections does, so that nothing joins an incident while somebody reviews it. */
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

/** With numbers above all that this gateway has, so that it finds what is new by the last number it saw. */
async function writeReviews(
  transaction: Transaction<Tables>,
  gatewayId: string,
  incidentIds: readonly string[],
  { verdict, label, byId, now }: { verdict: Said['verdict']; label: string | null; byId: string; now: number },
): Promise<void> {
  await sql`insert into reviews (gateway_id, detection_id, seq, verdict, label, by_id, at)
    select gateway_id, id,
      (select coalesce(max(seq), 0) from reviews where reviews.gateway_id = ${gatewayId})
        + row_number() over (order by started_at, id),
      ${verdict}, ${label}, ${byId}, ${now}
    from detections where incident_id in (${sql.join(incidentIds)})
    on conflict (gateway_id, detection_id) do update set
      seq = excluded.seq, verdict = excluded.verdict, label = excluded.label, by_id = excluded.by_id, at = excluded.at`.execute(
    transaction,
  )
}
