/** A lock of gateways' rows: what several calls about one gateway change is changed by one after the other. */
import type { Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * Locks gateways until the transaction ends, also on PostgreSQL: of two copies of a call, only one finds that what it
 * brings is new. Returns those that exist, by id.
 */
export async function lockGateways(
  transaction: Transaction<Tables>,
  ids: readonly string[],
): Promise<Map<string, { name: string }>> {
  const gateways = await transaction
    .updateTable('gateways')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('id', 'in', ids)
    .returning(['id', 'name'])
    .execute()
  return new Map(gateways.map((gateway) => [gateway.id, gateway]))
}
