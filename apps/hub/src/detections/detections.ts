/**
 * What gateways detected. A gateway sends each detection again when it changes, and again when it heard no answer, so
 * rows are upserted by (gateway, id): nothing doubles, severity only rises, and a threat counts once. Called by the
 * tunnel API; the transaction is committed before the gateway hears of it.
 */
import type { Detection } from '@hedgerow/contract'
import type { Insertable, Kysely, Selectable, Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { record } from '../kernel/facts.ts'
import { countInHour, startOfHour, WHOLE_FLEET } from '../activity/activity.ts'

type Row = Selectable<Tables['detections']>

/** Throws `gateway_unknown` when the gateway was deleted meanwhile. */
export async function storeDetections(
  db: Kysely<Tables>,
  gatewayId: string,
  detections: readonly Detection[],
  now: number,
): Promise<void> {
  const store = async (transaction: Transaction<Tables>): Promise<void> => {
    const gateway = await lockGateway(transaction, gatewayId)
    const ids = [...new Set(detections.map(({ id }) => id))]
    const stored = await transaction
      .selectFrom('detections')
      .selectAll()
      .where('gateway_id', '=', gatewayId)
      .where('id', 'in', ids)
      .execute()
    const rows = new Map<string, Row>(stored.map((row) => [row.id, row]))
    const threats: Row[] = []
    for (const detection of detections) {
      const before = rows.get(detection.id)
      const after = merge(before, detection, gatewayId, now)
      rows.set(detection.id, after)
      if (after.severity === 'alert' && before?.severity !== 'alert') threats.push(after)
    }
    await upsert(transaction, [...rows.values()])
    await countThreats(transaction, threats, gateway.owner_id)
    await record(transaction, {
      kind: 'detection.reported',
      at: now,
      actor: { name: 'gateway' },
      target: gatewayId,
      gatewayId,
      data: { count: detections.length, gatewayName: gateway.name, alerts: threats.map(toAlert) },
    })
  }
  // The gateway's row is locked: nothing needs to be serializable.
  await inTransaction(db, store, 'read committed')
}

function toAlert({ id, camera, label, started_at: startedAt }: Row) {
  return { id, camera, label, startedAt }
}

/** In one order of rows for everybody, so that two gateways never wait for each other. */
async function countThreats(transaction: Transaction<Tables>, threats: Row[], ownerId: string | null): Promise<void> {
  const byHour = Map.groupBy(threats, (threat) => startOfHour(threat.started_at))
  const scopes = ownerId === null ? [WHOLE_FLEET] : [WHOLE_FLEET, ownerId].toSorted()
  for (const [at, { length }] of [...byHour].toSorted(([a], [b]) => a - b))
    for (const scope of scopes) await countInHour(transaction, { at, scope, threats: length })
}

/** One batch of a gateway at a time, on PostgreSQL too, so that two copies of a batch cannot both be new. */
async function lockGateway(
  transaction: Transaction<Tables>,
  gatewayId: string,
): Promise<{ name: string; owner_id: string | null }> {
  const gateway = await transaction
    .updateTable('gateways')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('id', '=', gatewayId)
    .returning(['name', 'owner_id'])
    .executeTakeFirst()
  if (!gateway) throw new HubError('gateway_unknown')
  return gateway
}

/**
 * The row after this report. When it began stays as first told, and is never in the future: a gateway's clock that
 * runs ahead must not count tomorrow's threats.
 */
function merge(before: Row | undefined, detection: Detection, gatewayId: string, now: number): Row {
  return {
    gateway_id: gatewayId,
    id: detection.id,
    camera: detection.camera,
    label: detection.label,
    severity: before?.severity === 'alert' ? 'alert' : detection.severity,
    score: detection.score,
    started_at: before?.started_at ?? Math.min(Date.parse(detection.startedAt), now),
    ended_at:
      detection.endedAt === undefined ? (before?.ended_at ?? null) : Math.min(Date.parse(detection.endedAt), now),
    thumbnail: detection.thumbnail ?? before?.thumbnail ?? null,
    validated: flag(detection.validated) ?? before?.validated ?? null,
    false_positive: flag(detection.falsePositive) ?? before?.false_positive ?? null,
    deterrent: detection.deterrent ?? before?.deterrent ?? null,
    received_at: before?.received_at ?? now,
  }
}

function flag(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value)
}

async function upsert(transaction: Transaction<Tables>, rows: Insertable<Tables['detections']>[]): Promise<void> {
  await transaction
    .insertInto('detections')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['gateway_id', 'id']).doUpdateSet((row) => ({
        camera: row.ref('excluded.camera'),
        label: row.ref('excluded.label'),
        severity: row.ref('excluded.severity'),
        score: row.ref('excluded.score'),
        ended_at: row.ref('excluded.ended_at'),
        thumbnail: row.ref('excluded.thumbnail'),
        validated: row.ref('excluded.validated'),
        false_positive: row.ref('excluded.false_positive'),
        deterrent: row.ref('excluded.deterrent'),
      })),
    )
    .execute()
}
