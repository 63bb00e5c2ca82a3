import { randomBytes } from 'node:crypto'
import type { newGateway } from '@hedgerow/contract'
import { generateKeyPair, generatePresharedKey } from '@hedgerow/wireguard/node'
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { recordActivity } from '../activity/activity.ts'
import { writeAudit } from '../audit/audit.ts'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Caller } from '../access/sessions.ts'
import type { VpnPeer } from '../tunnel/tunnel.ts'
import { allocateAddress, nameKey, newGatewayId } from './fleet.ts'

type NewGateway = z.output<typeof newGateway>

/**
 * Makes a gateway for a device that runs plain WireGuard: keys, address and device token are the hub's, and the private
 * key stays until the device's first handshake. Gives the peer for the tunnel. Throws `gateway_name_taken`,
 * `gateway_limit_reached` or `address_pool_exhausted`.
 */
export async function addGateway(
  db: Kysely<Tables>,
  gateway: NewGateway,
  context: { caller: Caller; sourceIp: string; now: number },
): Promise<{ id: string; peer: VpnPeer }> {
  const { caller, sourceIp, now } = context
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
    const presharedKey = generatePresharedKey()
    await transaction
      .insertInto('gateways')
      .values({
        id,
        kind: 'wireguard',
        name: gateway.name,
        name_key,
        location: gateway.location,
        description: gateway.description,
        device_token: newDeviceToken(),
        wireguard_public_key: publicKey,
        preshared_key: presharedKey,
        private_key: privateKey,
        address,
        created_at: now,
      })
      .execute()
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? new HubError('gateway_name_taken', { cause: error }) : error
      })
    await recordActivity(transaction, {
      at: now,
      type: 'success',
      message: `Gateway "${gateway.name}" was added by ${caller.username}`,
      gatewayId: id,
    })
    await writeAudit(transaction, {
      actor: caller.username,
      actorId: caller.userId,
      action: 'gateway.add',
      target: id,
      sourceIp,
      result: 'ok',
    })
    return { id, peer: { publicKey, presharedKey, address } }
  })
}

/** For a device that cannot make its own. */
function newDeviceToken(): string {
  return `DT-${randomBytes(6).toString('hex').toUpperCase()}`
}
