import { base32 } from '@hedgerow/enrolment'
import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'

type Before = {
  gateways: { location: string; site_id: string | null }
  gateway_invitations: {
    location: string
    site_id: string | null
    revoked_at: number | null
    uses: number
    max_uses: number
  }
  alert_rules: { id: string; fields: string }
  saved_views: { id: string; filter: string }
  site_updates: { site: string }
  sites: { id: string; name: string; created_at: number }
  site_names: { name: string; site_id: string }
}

/**
 * Sites, each with its names: the present one and former ones. Each location that an alert rule, a saved view, a usable
 * invitation or automatic updates name becomes a site with the gateways that are there, and is named by its id.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sites')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull().unique())
    .addColumn('latitude', 'double precision')
    .addColumn('longitude', 'double precision')
    .addColumn('time_zone', 'text')
    .addColumn('notes', 'text', (c) => c.notNull().defaultTo(''))
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('site_names')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('site_id', 'text', (c) => c.notNull().references('sites.id').onDelete('cascade'))
    .execute()
  for (const table of ['gateways', 'gateway_invitations'])
    await db.schema
      .alterTable(table)
      .addColumn('site_id', 'text', (c) => c.references('sites.id').onDelete('set null'))
      .execute()
  await nameByIds(db.withTables<Before>())
}

async function nameByIds(db: Kysely<Before>): Promise<void> {
  const ids = new Map<string, string>()
  async function idOf(name: string): Promise<string> {
    const existing = ids.get(name)
    if (existing !== undefined) return existing
    const id = base32(randomBytes(8)).slice(0, 12)
    ids.set(name, id)
    await db.insertInto('sites').values({ id, name, created_at: Date.now() }).execute()
    await db.insertInto('site_names').values({ name, site_id: id }).execute()
    for (const table of ['gateways', 'gateway_invitations'] as const)
      await db.updateTable(table).set({ site_id: id }).where('location', '=', name).execute()
    return id
  }

  for (const { id, fields } of await db.selectFrom('alert_rules').select(['id', 'fields']).execute()) {
    const rule = JSON.parse(fields) as { sites?: string[] }
    // The first rules of a hub lack the list.
    if (!rule.sites?.length) continue
    const sites: string[] = []
    for (const name of rule.sites) sites.push(await idOf(name))
    const changed = JSON.stringify({ ...rule, sites })
    await db.updateTable('alert_rules').set({ fields: changed }).where('id', '=', id).execute()
  }
  for (const { id, filter } of await db.selectFrom('saved_views').select(['id', 'filter']).execute()) {
    const parameters = new URLSearchParams(filter)
    const name = parameters.get('site') ?? ''
    if (name === '') continue
    parameters.set('site', await idOf(name))
    await db
      .updateTable('saved_views')
      .set({ filter: String(parameters) })
      .where('id', '=', id)
      .execute()
  }
  for (const { site } of await db.selectFrom('site_updates').select('site').execute())
    await db
      .updateTable('site_updates')
      .set({ site: await idOf(site) })
      .where('site', '=', site)
      .execute()
  const invitations = await db
    .selectFrom('gateway_invitations')
    .select('location')
    .distinct()
    .where('location', '!=', '')
    .where('revoked_at', 'is', null)
    .whereRef('uses', '<', 'max_uses')
    .execute()
  for (const { location } of invitations) await idOf(location)
}
