/** Changes the tags of gateways: words that people file them under. */
import { GATEWAY_TAGS_MAX, type Fact, type tagGateways as call } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { z } from 'zod'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { inTransaction } from '../database/transaction.ts'
import { gatewaysIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'

type Tagged = { id: string; name: string; tags: string }

/**
 * Adds and removes tags of several gateways, all or none; returns how many it changed. Throws `gateway_not_found` or
 * `too_many_tags`.
 */
export function tagGateways(
  db: Kysely<Tables>,
  { ids, add, remove }: z.output<typeof call.body>,
  act: Act,
): Promise<number> {
  return inTransaction(db, async (transaction) => {
    const wanted = [...new Set(ids)]
    const gateways = await gatewaysIn(transaction, scopeOf(act.actor))
      .select(['id', 'name', 'tags'])
      .where('id', 'in', wanted)
      .orderBy('id')
      .execute()
    if (gateways.length < wanted.length) throw new HubError('gateway_not_found')
    const changes: Fact[] = []
    for (const gateway of gateways) {
      const before = tagsOf(gateway)
      const remaining = before.filter((tag) => !remove.includes(tag))
      const tags = [...new Set([...remaining, ...add])].toSorted()
      if (tags.length > GATEWAY_TAGS_MAX) throw tooManyOf(gateway)
      changes.push(...(await storeTags(transaction, gateway, tags, act)))
    }
    await record(transaction, ...changes)
    return changes.length
  })
}

/** Returns the fact to record; undefined when the tags do not change. */
export async function storeTags(
  transaction: Transaction<Tables>,
  gateway: Tagged,
  tags: readonly string[],
  act: Act,
): Promise<Fact<'gateway.tagged'>[]> {
  const before = tagsOf(gateway)
  const added = tags.filter((tag) => !before.includes(tag))
  const removed = before.filter((tag) => !tags.includes(tag))
  if (added.length + removed.length === 0) return []
  await transaction
    .updateTable('gateways')
    .set({ tags: JSON.stringify(tags) })
    .where('id', '=', gateway.id)
    .execute()
  const about = { ...by(act), target: gateway.id, gatewayId: gateway.id }
  return [{ ...about, kind: 'gateway.tagged', data: { name: gateway.name, added, removed } }]
}

function tooManyOf({ name }: Tagged): HubError {
  const message = `Gateway "${name}" would have more than ${GATEWAY_TAGS_MAX} tags.`
  return new HubError('too_many_tags', { message, fieldErrors: { add: message } })
}
