/**
 * Turns a pending request into a gateway, or gives a gateway its new keys, in one transaction: address, preshared key,
 * owner, activity and audit are all written or none. When two people decide at once, exactly one succeeds. The tunnel's
 * peer is added after the commit; reconciling repairs a crash in between.
 */
import { generatePresharedKey } from '@hedgerow/wireguard/node'
import type { Transaction } from 'kysely'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { allocateAddress, newGatewayId } from '../fleet/fleet.ts'
import { nameKey } from '../kernel/name-key.ts'
import { isUnowned, ownerOf, type Owned } from '../access/ownership.ts'
import { HubError } from '../kernel/hub-error.ts'
import { record } from '../facts/facts.ts'
import { siteFor } from '../sites/sites.ts'
import { useInvitation } from './invitations.ts'
import { gatewayOfKeys, takePending, type Decision, type RegistrationRow } from './enrolment.ts'

export type Approved = {
  gatewayId: string
  name: string
  /** The address in the tunnel. */
  address: string
}

/**
 * Also counts a use of the request's invitation. Throws `registration_not_found`, `registration_decided`,
 * `site_not_found`, `gateway_limit_reached`, `address_pool_exhausted`, `device_token_taken` or `key_invalid`; the
 * request then waits as before.
 */
export function approveRegistration(
  db: Db,
  decision: Decision & {
    /** Why a rule approved it; undefined when a person did. */
    rule?: string
    /** The site of a new gateway; without one, its invitation's, or the one that its location names. */
    siteId?: string | undefined
  },
): Promise<Approved> {
  const { id, at, actor, rule = null, siteId } = decision
  return inTransaction(db, async (transaction) => {
    const row = await takePending(transaction, id, at)
    const owner = await gatewayOfKeys(transaction, row.identity_public_key, row.wireguard_public_key)
    await checkToken(transaction, row, owner?.id)
    const approved = owner
      ? await changeKeys(transaction, row, owner)
      : await createGateway(transaction, row, { now: at, siteId })
    const { gatewayId, name, address } = approved
    await transaction
      .updateTable('registrations')
      .set({ status: 'approved', gateway_id: gatewayId, decided_at: at, decided_by: actor.name })
      .where('id', '=', id)
      .execute()
    const about = { at, actor, target: id, gatewayId }
    await record(
      transaction,
      owner
        ? {
            ...about,
            kind: 'gateway.rekeyed',
            data: {
              name,
              replacedPublicKey:
                owner.wireguard_public_key === row.wireguard_public_key ? null : owner.wireguard_public_key,
            },
          }
        : { ...about, kind: 'gateway.approved', data: { name, address, rule } },
    )
    return approved
  })
}

/** With another gateway's token, its owner could take this device for theirs. */
async function checkToken(
  transaction: Transaction<Tables>,
  row: RegistrationRow,
  ownId: string | undefined,
): Promise<void> {
  const holder = await transaction
    .selectFrom('gateways')
    .select('id')
    .where('device_token', '=', row.device_token)
    .executeTakeFirst()
  if (holder && holder.id !== ownId) throw new HubError('device_token_taken')
}

async function createGateway(
  transaction: Transaction<Tables>,
  row: RegistrationRow,
  { now, siteId }: { now: number; siteId: string | undefined },
): Promise<Approved> {
  const address = await allocateAddress(transaction)
  // A used-up or revoked invitation does not stop a person, but then no rule approves.
  const invitation = row.invitation_id === null ? undefined : await useInvitation(transaction, row.invitation_id, now)
  const name = await freeName(transaction, invitation?.name || row.device_name)
  const gatewayId = newGatewayId()
  const location = invitation?.location || row.device_location
  await transaction
    .insertInto('gateways')
    .values({
      id: gatewayId,
      kind: 'enrolled',
      name,
      name_key: nameKey(name),
      location,
      site_id: await siteFor(transaction, { siteId: siteId ?? invitation?.site_id ?? undefined, location }),
      description: invitation?.description ?? '',
      tags: invitation?.tags ?? '[]',
      device_token: row.device_token,
      ...ownerOf(invitation === undefined || isUnowned(invitation) ? row : invitation),
      identity_public_key: row.identity_public_key,
      wireguard_public_key: row.wireguard_public_key,
      preshared_key: generatePresharedKey(),
      address,
      source_ip: row.source_ip,
      version: row.device_version,
      created_at: now,
    })
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? new HubError('registration_decided', { cause: error }) : error
    })
  // Other waiting requests with one of these keys would now change this gateway's keys.
  await transaction
    .updateTable('registrations')
    .set({ key_change_for: gatewayId })
    .where('status', '=', 'pending')
    .where('id', '!=', row.id)
    .where((other) =>
      other.or([
        other('identity_public_key', '=', row.identity_public_key),
        other('wireguard_public_key', '=', row.wireguard_public_key),
      ]),
    )
    .execute()
  return { gatewayId, name, address }
}

async function changeKeys(
  transaction: Transaction<Tables>,
  row: RegistrationRow,
  owner: Owned & { id: string; wireguard_public_key: string },
): Promise<Approved> {
  const isMoved = owner.wireguard_public_key !== row.wireguard_public_key
  const gateway = await transaction
    .updateTable('gateways')
    .set({
      kind: 'enrolled',
      identity_public_key: row.identity_public_key,
      wireguard_public_key: row.wireguard_public_key,
      preshared_key: generatePresharedKey(),
      private_key: null,
      device_token: row.device_token,
      version: row.device_version,
      source_ip: row.source_ip,
      ...(isMoved && { endpoint_address: null, endpoint_port: null, last_handshake_at: null }),
      ...ownerOf(isUnowned(owner) ? row : owner),
    })
    .where('id', '=', owner.id)
    .returning(['name', 'address'])
    .executeTakeFirstOrThrow()
  // The old keys' request must not answer any more: it would return as a key change.
  await transaction.deleteFrom('registrations').where('gateway_id', '=', owner.id).where('id', '!=', row.id).execute()
  return { gatewayId: owner.id, name: gateway.name, address: gateway.address }
}

/** The device's name, or the name with the lowest number that makes it unique. */
async function freeName(transaction: Transaction<Tables>, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name} ${number}`
    const taken = await transaction
      .selectFrom('gateways')
      .select('id')
      .where('name_key', '=', nameKey(candidate))
      .executeTakeFirst()
    if (!taken) return candidate
  }
}
