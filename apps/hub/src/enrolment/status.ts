/** The answer to a device about its request: pending, rejected with the reason, or all it needs to join the tunnel. */
import { KEEPALIVE_SECONDS, type registrationStatus, type ResponseOf } from '@hedgerow/contract'
import { exchangeKeys, seal } from '@hedgerow/enrolment'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import type { Db } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { requireVpn, type Vpn } from '../tunnel/tunnel.ts'
import type { RegistrationRow } from './enrolment.ts'

export type StatusAnswer = ResponseOf<typeof registrationStatus>

/** Throws `registration_not_found`. */
export async function findRegistration(db: Db, id: string): Promise<RegistrationRow> {
  const row = await db.selectFrom('registrations').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new HubError('registration_not_found')
  return row
}

/**
 * The preshared key is sealed for the device's WireGuard key with an ephemeral key of this answer, salted with the
 * request's nonce. Throws `registration_not_found` when its gateway was deleted or has other keys now, and
 * `vpn_disabled`.
 */
export async function answerStatus(
  db: Db,
  row: RegistrationRow,
  context: { nonce: string; vpn: Vpn; endpoints: string[] },
): Promise<StatusAnswer> {
  if (row.status === 'pending') return { status: 'pending' }
  if (row.status === 'rejected') return { status: 'rejected', reason: row.reason ?? '' }
  const { nonce, vpn, endpoints } = context
  const gateway = await db
    .selectFrom('gateways')
    .select(['id', 'address', 'preshared_key'])
    .where('id', '=', row.gateway_id)
    .where('identity_public_key', '=', row.identity_public_key)
    .where('wireguard_public_key', '=', row.wireguard_public_key)
    .executeTakeFirst()
  if (!gateway) throw new HubError('registration_not_found')
  requireVpn(vpn)
  const ephemeral = generateKeyPair()
  const keys = exchangeKeys(ephemeral.privateKey, row.wireguard_public_key, nonce)
  if (!keys) throw new HubError('key_invalid')
  return {
    status: 'approved',
    gatewayId: gateway.id,
    assignedIp: gateway.address,
    hubVpnIp: vpn.address,
    allowedIps: [`${vpn.address}/32`],
    endpoints,
    hubPublicKey: vpn.publicKey,
    hubEphemeralPublicKey: ephemeral.publicKey,
    sealedPresharedKey: seal(keys, gateway.preshared_key),
    keepaliveSeconds: KEEPALIVE_SECONDS,
  }
}
