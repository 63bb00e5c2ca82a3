import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { dropAfter } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'

/**
 * Finds the gateway that has an address of the tunnel, once for all its calls: a gateway keeps its address until it is
 * deleted. Throws `gateway_unknown` for the address of one that was just deleted.
 */
export function createKnownAddresses(db: Kysely<Tables>): (address: string) => Promise<string> {
  let known = new Map<string, string>()
  dropAfter(db, 'known-addresses', ['gateway.deleted'], () => {
    known = new Map()
  })

  return async (address) => {
    const id = known.get(address)
    if (id !== undefined) return id
    // If a gateway is deleted during this read, the result goes into the old map and is not used.
    const reading = known
    const row = await db.selectFrom('gateways').select('id').where('address', '=', address).executeTakeFirst()
    if (!row) throw new HubError('gateway_unknown')
    reading.set(address, row.id)
    return row.id
  }
}
