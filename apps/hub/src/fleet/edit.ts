import type { newGateway } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { recordActivity } from '../activity/activity.ts'
import { writeAudit } from '../audit/audit.ts'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Caller } from '../access/sessions.ts'
import { nameKey } from './fleet.ts'

type Context = { caller: Caller; sourceIp: string; now: number }

/** Throws `gateway_not_found`, or `gateway_name_taken` for a name that is another gateway's. */
export function updateGateway(
  db: Kysely<Tables>,
  id: string,
  { name, location, description }: z.output<typeof newGateway>,
  { caller, sourceIp, now }: Context,
): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const before = await transaction
      .selectFrom('gateways')
      .select(['name', 'location', 'description'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!before) throw new HubError('gateway_not_found')
    if (before.name === name && before.location === location && before.description === description) return
    await transaction
      .updateTable('gateways')
      .set({ name, name_key: nameKey(name), location, description })
      .where('id', '=', id)
      .execute()
      .catch((error: unknown) => {
        const fieldErrors = { name: 'Another gateway already has this name.' }
        throw isUniqueViolation(error) ? new HubError('gateway_name_taken', { fieldErrors, cause: error }) : error
      })
    const message =
      before.name === name
        ? `Gateway "${name}" was edited by ${caller.username}`
        : `Gateway "${before.name}" was renamed to "${name}" by ${caller.username}`
    await recordActivity(transaction, { at: now, type: 'info', message, gatewayId: id })
    await writeAudit(transaction, {
      actor: caller.username,
      actorId: caller.userId,
      action: 'gateway.edit',
      target: id,
      sourceIp,
      result: 'ok',
    })
  })
}

/**
 * Deletes the row, with which its address and name are free again; gives the key whose peer must leave the tunnel. Its
 * approved registration stays without a gateway: the device that asks again under its old identity waits for a person.
 * Throws `gateway_not_found` or `confirmation_mismatch`.
 */
export function deleteGateway(
  db: Kysely<Tables>,
  id: string,
  typedName: string,
  { caller, sourceIp, now }: Context,
): Promise<{ publicKey: string }> {
  return inTransaction(db, async (transaction) => {
    const gateway = await transaction
      .selectFrom('gateways')
      .select(['name', 'wireguard_public_key'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!gateway) throw new HubError('gateway_not_found')
    if (typedName.trim() !== gateway.name)
      throw new HubError('confirmation_mismatch', { fieldErrors: { name: "This is not the gateway's name." } })
    await transaction.deleteFrom('gateways').where('id', '=', id).execute()
    await recordActivity(transaction, {
      at: now,
      type: 'warning',
      message: `Gateway "${gateway.name}" was deleted by ${caller.username}`,
      gatewayId: id,
    })
    await writeAudit(transaction, {
      actor: caller.username,
      actorId: caller.userId,
      action: 'gateway.delete',
      target: id,
      sourceIp,
      result: 'ok',
    })
    return { publicKey: gateway.wireguard_public_key }
  })
}
