import { randomBytes } from 'node:crypto'
import { base32 } from '@hedgerow/enrolment'
import type { Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../http/hub-error.ts'
import { readSettings } from '../settings/settings.ts'
import { lowestFreeAddress, type Network } from '../vpn/addresses.ts'

/** 12 lower-case base32 characters: 60 random bits. */
export function newGatewayId(): string {
  return base32(randomBytes(8)).slice(0, 12)
}

/** For a device that cannot make its own. */
export function newDeviceToken(): string {
  return `DT-${randomBytes(6).toString('hex').toUpperCase()}`
}

/**
 * The address of one more gateway. Within `inTransaction` two callers never get the same. Throws
 * `gateway_limit_reached` or `address_pool_exhausted`.
 */
export async function allocateAddress(transaction: Transaction<Tables>, network: Network): Promise<string> {
  const { maxGateways } = await readSettings(transaction)
  const rows = await transaction.selectFrom('gateways').select('address').execute()
  if (rows.length >= maxGateways) throw new HubError('gateway_limit_reached')
  const address = lowestFreeAddress(network, new Set(rows.map((row) => row.address)))
  if (address === undefined) throw new HubError('address_pool_exhausted')
  return address
}
