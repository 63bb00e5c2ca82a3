import type { Gateway } from '@hedgerow/contract'
import { GATEWAY_TEXTS, type GatewayText } from '@hedgerow/contract/gateway-fields'
import type { Kysely, Transaction } from 'kysely'
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
import { storeTags } from './tags.ts'

/** Throws `gateway_not_found`, `changed_meanwhile`, and `gateway_name_taken` when another gateway has the name. */
export function updateGateway(
  db: Kysely<Tables>,
  id: string,
  change: Change<Pick<Gateway, 'name' | 'tags' | GatewayText>>,
  act: Act,
): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const before = await gatewaysIn(transaction, scopeOf(act.actor))
      .select(['name', 'tags', ...GATEWAY_TEXTS])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!before) throw new HubError('gateway_not_found')
    const { name, tags, ...texts } = edited({ ...before, tags: tagsOf(before) }, change)
    if (change.tags) await record(transaction, ...(await storeTags(transaction, { ...before, id, name }, tags, act)))
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
    await leaveSite(transaction, { site: before.location, to: texts.location }, act)
  })
}

/**
 * Deletes the row, which frees its address and name. Its approved registration stays without a gateway: when the device
 * asks again with its old identity, it waits for a person. Throws `gateway_not_found` or `confirmation_mismatch`.
 */
export function deleteGateway(db: Kysely<Tables>, id: string, typedName: string, act: Act): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const gateway = await gatewaysIn(transaction, scopeOf(act.actor))
      .select(['name', 'location', 'wireguard_public_key'])
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
    await leaveSite(transaction, { site: gateway.location, to: '' }, act)
  })
}

/** Records that no gateway is at the site any more, if that is so. */
async function leaveSite(
  transaction: Transaction<Tables>,
  { site, to }: { site: string; to: string },
  act: Act,
): Promise<void> {
  if (site === '' || site === to) return
  const there = transaction.selectFrom('gateways').select('id').where('location', '=', site).limit(1)
  if (await there.executeTakeFirst()) return
  const about = { ...by(act), target: site }
  await record(transaction, { ...about, kind: 'site.left', data: { to } })
}
