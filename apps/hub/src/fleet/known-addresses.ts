import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { cachedRead } from '../facts/cached-read.ts'
import { HubError } from '../kernel/hub-error.ts'

/**
 * Finds the gateway that has an address of the tunnel, once for all its calls: a gateway keeps its address until it is
 * deleted. Throws `gateway_unknown` for the address of one that was just deleted.
 */
export function createKnownAddresses(db: Kysely<Tables>): (address: string) => Promise<string> {
  const keyOf = (address: string) => address
  return cachedRead(db, { name: 'known-addresses', kinds: ['gateway.deleted'], keyOf }, async (address) => {
    const row = await db.selectFrom('gateways').select('id').where('address', '=', address).executeTakeFirst()
    if (!row) throw new HubError('gateway_unknown')
    return row.id
  })
}
