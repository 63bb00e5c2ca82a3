/** What names a site by its text follows it, in the transaction that renames it. */
import { record, type TransactionFollower } from '../facts/facts.ts'
import { renameSite, usesOfSite } from '../sites/sites.ts'

const kinds = ['site.left'] as const

export const renamedSites: TransactionFollower<(typeof kinds)[number]> = {
  name: 'renamed-sites',
  kinds,
  async inTransaction(transaction, facts) {
    for (const { at, actor, target: site = '', data } of facts) {
      const { rules, hasUpdates, views } = await usesOfSite(transaction, site)
      if (rules.length === 0 && !hasUpdates && views === 0) continue
      const changed = data.to === '' ? [] : await renameSite(transaction, { site, to: data.to }, { at, actor })
      const about = { at, actor, target: site, data: { to: data.to, rules, hasUpdates, views } }
      await record(transaction, ...changed, { ...about, kind: data.to === '' ? 'site.orphaned' : 'site.renamed' })
    }
  },
}
