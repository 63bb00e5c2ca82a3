/**
 * Sites: places with gateways. What names a site has its id, so a new name changes nothing else. A gateway whose
 * location is a name of a site, present or former, is put in it when it joins and when its location changes.
 */
import { randomBytes } from 'node:crypto'
import type {
  addSite as addCall,
  AlertRuleFields,
  assignSite as assignCall,
  FactData,
  Site,
  siteFields,
  SiteName,
  SiteUses,
} from '@hedgerow/contract'
import { base32 } from '@hedgerow/enrolment'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { z } from 'zod'
import { gatewaysIn } from '../access/objects.ts'
import { scopeOf, type Scope } from '../access/scope.ts'
import { isUniqueViolation } from '../database/storage-errors.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act, type Authorship } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'

type Fields = z.output<typeof siteFields>
type SiteRow = Selectable<Tables['sites']>

/** SQLite takes 32,766 variables in a statement. */
const ROWS_AT_ONCE = 3_000

/** The facts that change what a read with names or time zones of sites has. */
export const SITE_FACTS = ['site.added', 'site.edited', 'site.renamed', 'site.deleted', 'gateway.site-changed'] as const

/** Of rows that `left join sites` gave these columns. */
export const siteOf = ({ site_id, site_name }: { site_id: string | null; site_name: string | null }): SiteName | null =>
  site_id === null ? null : { id: site_id, name: site_name ?? '' }

/** Where a gateway is, in words: its site or, without one, its location. */
export const placeOf = ({ site_name, location }: { site_name: string | null; location: string }): string =>
  site_name ?? location

/** By name: all sites for managers, and for others those of their gateways, without notes. */
export async function listSites(db: Db, scope: Scope): Promise<Site[]> {
  const sites = await db.selectFrom('sites').selectAll().orderBy('name').execute()
  const counted = await gatewaysIn(db, scope)
    .select('site_id')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy('site_id')
    .execute()
  const counts = new Map(counted.map(({ site_id, count }) => [site_id, Number(count)]))
  const seen = scope.isWhole ? sites : sites.filter(({ id }) => counts.has(id))
  return seen.map((row) => ({
    ...fieldsOf(row),
    notes: scope.may({ hub: 'manage' }) ? row.notes : '',
    id: row.id,
    gateways: counts.get(row.id) ?? 0,
  }))
}

/** Returns its id. Throws `site_name_taken`. */
export function addSite(db: Kysely<Tables>, fields: z.output<typeof addCall.body>, act: Act): Promise<string> {
  return inTransaction(db, async (transaction) => {
    const id = base32(randomBytes(8)).slice(0, 12)
    const row = { ...columnsOf(fields), id, created_at: act.now }
    await transaction.insertInto('sites').values(row).execute().catch(nameTaken)
    await giveName(transaction, id, fields.name)
    await record(transaction, { ...about(id, fields.name, act), kind: 'site.added', data: {} })
    const there = placed(transaction).where('site_id', 'is', null).where('location', '=', fields.name)
    await placeGateways(transaction, await there.execute(), id, act)
    return id
  })
}

/** Throws `site_not_found`, `site_name_taken` and `changed_meanwhile`. */
export function editSite(db: Kysely<Tables>, id: string, change: Change<Fields>, act: Act): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const row = await findSite(transaction, id)
    const before = fieldsOf(row)
    const after = edited(before, change)
    const changed = transaction.updateTable('sites').set(columnsOf(after)).where('id', '=', id)
    await changed.execute().catch(nameTaken)
    if (before.name === after.name)
      return record(transaction, { ...about(id, after.name, act), kind: 'site.edited', data: {} })
    await giveName(transaction, id, after.name)
    const data = { before: before.name }
    await record(transaction, { ...about(id, after.name, act), kind: 'site.renamed', data })
  })
}

/** Throws `site_not_found`, and `site_in_use` while an alert rule names it. */
export function deleteSite(db: Kysely<Tables>, id: string, act: Act): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const { name } = await findSite(transaction, id)
    const rules = await rulesNaming(transaction, id)
    if (rules.length > 0) {
      const named = rules.map((rule) => `"${rule}"`).join(', ')
      const message = `The site is named by ${rules.length === 1 ? 'the alert rule' : 'the alert rules'} ${named}.`
      throw new HubError('site_in_use', { message: `${message} Change ${rules.length === 1 ? 'it' : 'them'} first.` })
    }
    const there = await placed(transaction).where('site_id', '=', id).execute()
    await placeGateways(transaction, there, null, act)
    await transaction.deleteFrom('site_updates').where('site', '=', id).execute()
    await transaction.deleteFrom('sites').where('id', '=', id).execute()
    await record(transaction, { ...about(id, name, act), kind: 'site.deleted', data: {} })
  })
}

/** Throws `site_not_found`. */
export async function usesOfSite(db: Db, id: string, now: number): Promise<SiteUses> {
  await findSite(db, id)
  const gateways = await db.selectFrom('gateways').select('id').where('site_id', '=', id).execute()
  const invitations = await db
    .selectFrom('gateway_invitations')
    .select('id')
    .where('site_id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .whereRef('uses', '<', 'max_uses')
    .execute()
  return { gateways: gateways.length, invitations: invitations.length, ...(await namingOf(db, id)) }
}

/**
 * Puts gateways in a site, or in none; returns how many it changed. Throws `gateway_not_found` or `site_not_found`.
 */
export function assignSite(
  db: Kysely<Tables>,
  { ids, siteId }: z.output<typeof assignCall.body>,
  act: Act,
): Promise<number> {
  return inTransaction(db, async (transaction) => {
    const wanted = [...new Set(ids)]
    const scope = scopeOf(act.actor)
    const gateways = await gatewaysIn(transaction, scope)
      .select(PLACED)
      .where('id', 'in', wanted)
      .orderBy('id')
      .execute()
    if (gateways.length < wanted.length) throw new HubError('gateway_not_found')
    const changed = await placeGateways(transaction, gateways, siteId, act)
    const left = gateways.map(({ site_id }) => site_id)
    await reportEmptied(transaction, left, by(act))
    return changed
  })
}

const PLACED = ['id', 'name', 'site_id'] as const
type Placed = Pick<Selectable<Tables['gateways']>, (typeof PLACED)[number]>
const placed = (db: Db) => db.selectFrom('gateways').select(PLACED).orderBy('id')

/** Returns how many it changed. Throws `site_not_found`. */
export async function placeGateways(
  transaction: Transaction<Tables>,
  gateways: readonly Placed[],
  siteId: string | null,
  act: Act,
): Promise<number> {
  const site = siteId === null ? '' : (await findSite(transaction, siteId)).name
  const changed = gateways.filter(({ site_id }) => site_id !== siteId)
  for (let start = 0; start < changed.length; start += ROWS_AT_ONCE) {
    const ids = changed.slice(start, start + ROWS_AT_ONCE).map(({ id }) => id)
    await transaction.updateTable('gateways').set({ site_id: siteId }).where('id', 'in', ids).execute()
  }
  const facts = changed.map(({ id, name }) => ({
    ...by(act),
    kind: 'gateway.site-changed' as const,
    target: id,
    gatewayId: id,
    ...(siteId !== null && { siteId }),
    data: { name, site },
  }))
  if (facts.length > 0) await record(transaction, ...facts)
  return changed.length
}

/**
 * The site of a gateway that joins, or that gets this location: the named one or, without a name, the one that the
 * location names. Throws `site_not_found`.
 */
export async function siteFor(
  db: Db,
  { siteId, location }: { siteId?: string | null | undefined; location: string },
): Promise<string | null> {
  if (siteId) return (await findSite(db, siteId)).id
  if (siteId === null || location === '') return null
  const named = await db.selectFrom('site_names').select('site_id').where('name', '=', location).executeTakeFirst()
  return named?.site_id ?? null
}

/** The ids of sites that a caller gives by id or, as programs did before sites had ids, by name. */
export async function siteIdsOf(db: Db, given: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const text of given) {
    const id = await findSiteId(db, text)
    if (id === undefined)
      throw new HubError('site_not_found', { fieldErrors: { sites: `No site has the id or name "${text}".` } })
    ids.push(id)
  }
  return [...new Set(ids)]
}

/** The site with this id or name. */
export async function findSiteId(db: Db, text: string): Promise<string | undefined> {
  const site = await db.selectFrom('sites').select('id').where('id', '=', text).executeTakeFirst()
  return site?.id ?? (await siteFor(db, { location: text })) ?? undefined
}

/** Reports sites that have lost their last gateway and are still named. */
export async function reportEmptied(
  transaction: Transaction<Tables>,
  siteIds: Iterable<string | null>,
  author: Authorship,
): Promise<void> {
  for (const id of new Set(siteIds)) {
    if (id === null || (await placed(transaction).where('site_id', '=', id).limit(1).executeTakeFirst())) continue
    const naming = await namingOf(transaction, id)
    if (naming.rules.length === 0 && !naming.hasUpdates && naming.views === 0) continue
    const { name } = await findSite(transaction, id)
    await record(transaction, { ...author, kind: 'site.orphaned', target: name, siteId: id, data: naming })
  }
}

async function namingOf(db: Db, id: string): Promise<FactData['site.orphaned']> {
  const updates = await db.selectFrom('site_updates').select('site').where('site', '=', id).executeTakeFirst()
  const views = await db.selectFrom('saved_views').select('filter').execute()
  return {
    rules: await rulesNaming(db, id),
    hasUpdates: updates !== undefined,
    views: views.filter(({ filter }) => new URLSearchParams(filter).get('site') === id).length,
  }
}

/** Names of alert rules. */
async function rulesNaming(db: Db, id: string): Promise<string[]> {
  const rows = await db.selectFrom('alert_rules').select('fields').orderBy('created_at').orderBy('id').execute()
  // The first rules of a hub lack the list.
  const rules = rows.map(({ fields }) => JSON.parse(fields) as Pick<AlertRuleFields, 'name'> & { sites?: string[] })
  return rules.filter(({ sites }) => sites?.includes(id)).map(({ name }) => name)
}

/** Throws `site_not_found`. */
export async function findSite(db: Db, id: string): Promise<SiteRow> {
  const row = await db.selectFrom('sites').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new HubError('site_not_found')
  return row
}

/** From now on the name means this site, also where it is a former name of another one. */
async function giveName(transaction: Transaction<Tables>, id: string, name: string): Promise<void> {
  await transaction
    .insertInto('site_names')
    .values({ name, site_id: id })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ site_id: id }))
    .execute()
}

function nameTaken(error: unknown): never {
  const fieldErrors = { name: 'Another site already has this name.' }
  throw isUniqueViolation(error) ? new HubError('site_name_taken', { fieldErrors, cause: error }) : error
}

const fieldsOf = ({ name, latitude, longitude, time_zone, notes }: SiteRow): Fields => ({
  name,
  latitude,
  longitude,
  timeZone: time_zone,
  notes,
})

const columnsOf = ({ timeZone, ...fields }: Fields) => ({ ...fields, time_zone: timeZone })

const about = (siteId: string, target: string, act: Act) => ({ ...by(act), target, siteId })
