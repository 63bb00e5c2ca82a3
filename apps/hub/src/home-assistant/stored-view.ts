import type { Db } from '../database/tables.ts'
import type { StoredView } from './device.ts'

/** Undefined when the gateway is gone. `midnight` is the hub's. */
export async function readStoredView(db: Db, id: string, midnight: number): Promise<StoredView | undefined> {
  const gateway = await db.selectFrom('gateways').select('name').where('id', '=', id).executeTakeFirst()
  if (!gateway) return undefined
  const { threats } = await db
    .selectFrom('incidents')
    .select(({ fn }) => fn.countAll<number>().as('threats'))
    .where('gateway_id', '=', id)
    .where('severity', '=', 'alert')
    .where('suppressed', '=', 0)
    .where('started_at', '>=', midnight)
    .executeTakeFirstOrThrow()
  const last = await db
    .selectFrom('incidents')
    .select(['id', 'label', 'camera', 'severity', 'score', 'started_at', 'cover_id'])
    .where('gateway_id', '=', id)
    .where('suppressed', '=', 0)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return {
    name: gateway.name,
    threatsToday: Number(threats),
    last: last ? { ...last, startedAt: last.started_at, coverId: last.cover_id } : null,
  }
}
