import { randomBytes } from 'node:crypto'
import type { newGateway } from '@hedgerow/contract'
import { ofGatewayTexts } from '@hedgerow/contract/gateway-fields'
import { generateKeyPair, generatePresharedKey } from '@hedgerow/wireguard/node'
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { nameKey } from '../kernel/name-key.ts'
import { siteFor } from '../sites/sites.ts'
import { allocateAddress, newGatewayId } from './fleet.ts'

type NewGateway = z.output<typeof newGateway>

/**
 * Makes a gateway for a device that runs plain WireGuard: keys, address and device token are the hub's, and the hub
 * stores the private key until the device's first handshake. Returns its id. Throws `gateway_name_taken`,
 * `site_not_found`, `gateway_limit_reached` or `address_pool_exhausted`.
 */
export async function addGateway(db: Kysely<Tables>, gateway: NewGateway, act: Act): Promise<string> {
  return inTransaction(db, async (transaction) => {
    const name_key = nameKey(gateway.name)
    const taken = await transaction
      .selectFrom('gateways')
      .select('id')
      .where('name_key', '=', name_key)
      .executeTakeFirst()
    if (taken) throw new HubError('gateway_name_taken')
    const address = await allocateAddress(transaction)
    const { privateKey, publicKey } = generateKeyPair()
    const id = newGatewayId()
    await transaction
      .insertInto('gateways')
      .values({
        id,
        kind: 'wireguard',
        name: gateway.name,
        name_key,
        ...ofGatewayTexts((text) => gateway[text]),
        site_id: await siteFor(transaction, gateway),
        tags: JSON.stringify(gateway.tags),
        device_token: newDeviceToken(),
        wireguard_public_key: publicKey,
        preshared_key: generatePresharedKey(),
        private_key: privateKey,
        address,
        created_at: act.now,
      })
      .execute()
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? new HubError('gateway_name_taken', { cause: error }) : error
      })
    await record(transaction, {
      kind: 'gateway.added',
      ...by(act),
      target: id,
      gatewayId: id,
      data: { name: gateway.name },
    })
    return id
  })
}

/** The token of a device that cannot make its own. */
function newDeviceToken(): string {
  return `DT-${randomBytes(6).toString('hex').toUpperCase()}`
}
