/** The addresses in the tunnel, one for each gateway. Approvals and gateways that a person adds take them from here. */
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { databaseOf } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { readSettings } from '../settings/settings.ts'
import { gatewayAddresses } from '../tunnel/tunnel.ts'

/** The address that was given last, while so many gateways existed: all lower ones were taken. */
const givenLast = new WeakMap<Kysely<Tables>, { network: string; address: string; count: number }>()
const ADDRESSES_TRIED = 64

/**
 * The lowest free address for one more gateway. Within `inTransaction` two callers never get the same. Throws
 * `gateway_limit_reached` or `address_pool_exhausted`.
 */
export async function allocateAddress(transaction: Transaction<Tables>): Promise<string> {
  const { maxGateways, vpnNetwork: network } = await readSettings(transaction)
  const { count } = await transaction
    .selectFrom('gateways')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= maxGateways) throw new HubError('gateway_limit_reached')
  const addresses = gatewayAddresses(network)
  const last = givenLast.get(databaseOf(transaction))
  // Exactly one gateway more: that address was used, and none became free. Otherwise all addresses are read.
  const isNext = last?.network === network && last.count + 1 === count
  const tried = isNext ? addresses?.after(last.address, ADDRESSES_TRIED) : undefined
  const address =
    (await firstFree(transaction, tried ?? [])) ?? addresses?.lowestFree(new Set(await takenAddresses(transaction)))
  if (address === undefined) throw new HubError('address_pool_exhausted')
  givenLast.set(databaseOf(transaction), { network, address, count })
  return address
}

async function firstFree(transaction: Transaction<Tables>, addresses: readonly string[]): Promise<string | undefined> {
  if (addresses.length === 0) return undefined
  const taken = await takenAddresses(transaction, addresses)
  return addresses.find((address) => !taken.includes(address))
}

async function takenAddresses(transaction: Transaction<Tables>, among?: readonly string[]): Promise<string[]> {
  const all = transaction.selectFrom('gateways').select('address')
  const rows = await (among ? all.where('address', 'in', among) : all).execute()
  return rows.map(({ address }) => address)
}
