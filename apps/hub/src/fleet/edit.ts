import type { Gateway } from '@hedgerow/contract'
import { GATEWAY_TEXTS, ofGatewayTexts, type GatewayText } from '@hedgerow/contract/gateway-fields'
import type { Kysely } from 'kysely'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { inTransaction } from '../database/transaction.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import { gatewaysIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { nameKey } from '../kernel/name-key.ts'
import { placeGateways, reportEmptied, siteFor } from '../sites/sites.ts'
import { storeTags } from './tags.ts'

/**
 * Throws `gateway_not_found`, `site_not_found`, `changed_meanwhile`, and `gateway_name_taken` when another gateway has
 * the name. A new location never takes a gateway out of its site: it may put it in the site of that name.
 */
export function updateGateway(
  db: Kysely<Tables>,
  id: string,
  change: Change<Pick<Gateway, 'name' | 'tags' | GatewayText> & { siteId: string | null }>,
  act: Act,
): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const before = await gatewaysIn(transaction, scopeOf(act.actor))
      .select(['name', 'tags', 'site_id', ...GATEWAY_TEXTS])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!before) throw new HubError('gateway_not_found')
    const { site_id: siteId, ...fields } = before
    const { name, tags, ...rest } = edited({ ...fields, siteId, tags: tagsOf(before) }, change)
    const texts = ofGatewayTexts((text) => rest[text])
    if (change.tags) await record(transaction, ...(await storeTags(transaction, { ...before, id, name }, tags, act)))
    const isMoved = change.siteId === undefined && texts.location !== before.location
    const wanted = isMoved ? ((await siteFor(transaction, texts)) ?? siteId) : rest.siteId
    if ((await placeGateways(transaction, [{ id, name, site_id: siteId }], wanted, act)) > 0)
      await reportEmptied(transaction, [siteId], by(act))
    if (before.name === name && GATEWAY_TEXTS.every((text) => before[text] === texts[text])) return
    await transaction
      .updateTable('gateways')
      .set({ name, name_key: nameKey(name), ...texts })
      .where('id', '=', id)
      .execute()
      .catch((error: unknown) => {
        const fieldErrors = { name: 'Another gateway already has this name.' }
        throw isUniqueViolation(error) ? new HubError('gateway_name_taken', { fieldErrors, cause: error }) : error
      })
    const about = { ...by(act), target: id, gatewayId: id }
    await record(
      transaction,
      before.name === name
        ? { ...about, kind: 'gateway.edited', data: { name } }
        : { ...about, kind: 'gateway.renamed', data: { name, before: before.name } },
    )
  })
}

/**
 * Deletes the row, which frees its address and name. Its approved registration stays without a gateway: when the device
 * asks again with its old identity, it waits for a person. Throws `gateway_not_found` or `confirmation_mismatch`.
 */
export function deleteGateway(db: Kysely<Tables>, id: string, typedName: string, act: Act): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const gateway = await gatewaysIn(transaction, scopeOf(act.actor))
      .select(['name', 'site_id', 'wireguard_public_key'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!gateway) throw new HubError('gateway_not_found')
    if (typedName.trim() !== gateway.name)
      throw new HubError('confirmation_mismatch', { fieldErrors: { name: "This is not the gateway's name." } })
    await transaction.deleteFrom('gateways').where('id', '=', id).execute()
    await record(transaction, {
      kind: 'gateway.deleted',
      ...by(act),
      target: id,
      gatewayId: id,
      data: { name: gateway.name, publicKey: gateway.wireguard_public_key },
    })
    await reportEmptied(transaction, [gateway.site_id], by(act))
  })
}
