import { Notice } from '@hedgerow/ui/notice.tsx'
import { siteMessage } from '../messages.ts'
import { useSiteUses } from '../queries.ts'

/** Says before saving what names the site that these gateways leave. */
export function SiteNotice({ ids, site, to }: { ids: readonly string[]; site: string; to: string }) {
  const uses = useSiteUses(site)
  const message = uses.data && siteMessage(site, to, ids, uses.data)
  return message === undefined ? null : <Notice tone="warning">{message}</Notice>
}
