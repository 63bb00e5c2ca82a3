/** Automatic updates of sites, which are locations of gateways: each follows the hub's settings or has its own. */
import type { HubSettings, SiteUpdates } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import { isWithinHours } from './rollout.ts'

/** What is left out keeps its value, which is null for a site that has none. */
export type SiteChange = Change<SiteUpdates> & Pick<SiteUpdates, 'site'>
export type AutomaticSettings = Pick<HubSettings, 'automaticUpdates' | 'automaticUpdateHours'>

/** The sites that do not follow the hub's settings, by name. */
export async function readSites(db: Db): Promise<SiteUpdates[]> {
  const rows = await db.selectFrom('site_updates').selectAll().execute()
  return rows
    .map(({ site, automatic, hours }) => ({ site, automatic: automatic === null ? null : automatic === 1, hours }))
    .toSorted((a, b) => (a.site < b.site ? -1 : 1))
}

/** Whether the hub may update gateways of a location by itself: ever, and at this time. */
export function automaticOf(sites: readonly SiteUpdates[], settings: AutomaticSettings) {
  const own = new Map(sites.map((site) => [site.site, site]))
  return {
    isAnywhere: settings.automaticUpdates || sites.some(({ automatic }) => automatic),
    isOn: (location: string) => own.get(location)?.automatic ?? settings.automaticUpdates,
    isNow: (location: string, now: number) =>
      isWithinHours(own.get(location)?.hours ?? settings.automaticUpdateHours, now),
  }
}

/** Throws `changed_meanwhile`, and `site_not_found` when no gateway is there. */
export function saveSite(db: Kysely<Tables>, change: SiteChange, act: Act): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const before = (await readSites(transaction)).find(({ site }) => site === change.site)
    const { site, automatic, hours } = edited(before ?? { site: change.site, automatic: null, hours: null }, change)
    if (automatic === null && hours === null) {
      await transaction.deleteFrom('site_updates').where('site', '=', site).execute()
    } else {
      const gateway = await transaction
        .selectFrom('gateways')
        .select('id')
        .where('location', '=', site)
        .limit(1)
        .executeTakeFirst()
      if (!gateway) throw new HubError('site_not_found')
      const row = { automatic: automatic === null ? null : Number(automatic), hours }
      await transaction
        .insertInto('site_updates')
        .values({ site, ...row })
        .onConflict((conflict) => conflict.column('site').doUpdateSet(row))
        .execute()
    }
    const data = { automatic, hours }
    await record(transaction, { kind: 'site-updates.changed', ...by(act), target: site, data })
  })
}
