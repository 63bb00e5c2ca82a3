/**
 * Sites are locations of gateways, and alert rules, automatic updates and saved views name them by their text. When the
 * last gateway of a site gets another location, the site was renamed, and they follow in the same transaction.
 */
import type { AlertRuleFields, Fact, SiteUses } from '@hedgerow/contract'
import type { Db, Tables } from '../database/tables.ts'
import type { Transaction } from 'kysely'

type Named = Pick<AlertRuleFields, 'name' | 'sites'>

export async function usesOfSite(db: Db, site: string): Promise<SiteUses> {
  const gateways = await db.selectFrom('gateways').select('id').where('location', '=', site).orderBy('id').execute()
  const updates = await db.selectFrom('site_updates').select('site').where('site', '=', site).executeTakeFirst()
  return {
    gatewayIds: gateways.map(({ id }) => id),
    rules: (await rulesNaming(db, site)).map(({ fields }) => fields.name),
    hasUpdates: updates !== undefined,
    views: (await viewsNaming(db, site)).length,
  }
}

/** Changes the site's name wherever it is written; returns the facts of what changed. */
export async function renameSite(
  transaction: Transaction<Tables>,
  { site, to }: { site: string; to: string },
  about: Pick<Fact, 'at' | 'actor'>,
): Promise<Fact[]> {
  const facts: Fact[] = []
  for (const { id, fields } of await rulesNaming(transaction, site)) {
    const changed = { ...fields, sites: replaced(fields.sites, site, to) }
    await transaction
      .updateTable('alert_rules')
      .set({ fields: JSON.stringify(changed) })
      .where('id', '=', id)
      .execute()
    facts.push({ ...about, kind: 'alert-rule.saved', target: fields.name, data: { name: fields.name } })
  }
  for (const { id, filter } of await viewsNaming(transaction, site)) {
    const parameters = new URLSearchParams(filter)
    parameters.set('site', to)
    await transaction
      .updateTable('saved_views')
      .set({ filter: String(parameters) })
      .where('id', '=', id)
      .execute()
  }
  const own = await transaction.deleteFrom('site_updates').where('site', '=', site).returningAll().executeTakeFirst()
  if (!own) return facts
  // A site that is there already keeps what it has.
  const moved = await transaction
    .insertInto('site_updates')
    .values({ ...own, site: to })
    .onConflict((conflict) => conflict.column('site').doNothing())
    .returningAll()
    .executeTakeFirst()
  const { automatic, hours } = moved ?? { automatic: null, hours: null }
  const data = { automatic: automatic === null ? null : automatic === 1, hours }
  return [...facts, { ...about, kind: 'site-updates.changed', target: moved ? to : site, data }]
}

const replaced = (sites: readonly string[], site: string, to: string) => [
  ...new Set(sites.map((one) => (one === site ? to : one))),
]

async function rulesNaming(db: Db, site: string): Promise<{ id: string; fields: Named }[]> {
  const rows = await db.selectFrom('alert_rules').select(['id', 'fields']).orderBy('created_at').orderBy('id').execute()
  const rules = rows.map(({ id, fields }) => ({ id, fields: JSON.parse(fields) as Named }))
  // The first rules of a hub lack the list.
  return rules.filter(({ fields }) => (fields as Partial<Named>).sites?.includes(site))
}

async function viewsNaming(db: Db, site: string): Promise<{ id: string; filter: string }[]> {
  const views = await db.selectFrom('saved_views').select(['id', 'filter']).execute()
  return views.filter(({ filter }) => new URLSearchParams(filter).get('site') === site)
}
