/** Automatic updates of sites: each follows the hub's settings or has its own. */
import type { HubSettings, SiteUpdates, Versions } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import { findSiteId } from '../sites/sites.ts'
import { isWithinHours } from './rollout.ts'

/** What is left out keeps its value, which is null for a site that has none. */
export type SiteChange = Change<SiteUpdates> & Pick<SiteUpdates, 'site'>
export type AutomaticSettings = Pick<HubSettings, 'automaticUpdates' | 'automaticUpdateHours'>

/** The sites that do not follow the hub's settings, by name. */
export async function readSites(db: Db): Promise<Versions['sites']> {
  const rows = await db
    .selectFrom('site_updates')
    .innerJoin('sites', 'sites.id', 'site')
    .select(['site', 'sites.name', 'automatic', 'hours'])
    .execute()
  return rows
    .map(({ automatic, ...row }) => ({ ...row, automatic: automatic === null ? null : automatic === 1 }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Whether the hub may update gateways of a site by itself: ever, and at this time. */
export function automaticOf(sites: readonly SiteUpdates[], settings: AutomaticSettings) {
  const own = new Map(sites.map((site) => [site.site, site]))
  return {
    isAnywhere: settings.automaticUpdates || sites.some(({ automatic }) => automatic),
    isOn: (siteId: string | null) => own.get(siteId ?? '')?.automatic ?? settings.automaticUpdates,
    isNow: (siteId: string | null, now: number) =>
      isWithinHours(own.get(siteId ?? '')?.hours ?? settings.automaticUpdateHours, now),
  }
}

/** Throws `changed_meanwhile` and `site_not_found`. */
export function saveSite(db: Kysely<Tables>, change: SiteChange, act: Act): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const site = await findSiteId(transaction, change.site)
    if (site === undefined) throw new HubError('site_not_found')
    const { name } = await transaction
      .selectFrom('sites')
      .select('name')
      .where('id', '=', site)
      .executeTakeFirstOrThrow()
    const before = (await readSites(transaction)).find((one) => one.site === site)
    const { automatic, hours } = edited(before ?? { site, automatic: null, hours: null }, { ...change, site })
    if (automatic === null && hours === null) {
      await transaction.deleteFrom('site_updates').where('site', '=', site).execute()
    } else {
      const row = { automatic: automatic === null ? null : Number(automatic), hours }
      await transaction
        .insertInto('site_updates')
        .values({ site, ...row })
        .onConflict((conflict) => conflict.column('site').doUpdateSet(row))
        .execute()
    }
    const data = { automatic, hours }
    await record(transaction, { kind: 'site-updates.changed', ...by(act), target: name, siteId: site, data })
  })
}
