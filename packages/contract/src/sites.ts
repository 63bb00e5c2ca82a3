import { z } from 'zod'
import { call } from './call.ts'
import { oneLine } from './fields.ts'
import { gatewayId } from './gateways.ts'

/**
 * What names a site by its text. A site is a location of gateways: when the last of them gets another location, these
 * follow it. While gateways stay, all of it stays with them.
 */
export const siteUses = call({
  method: 'GET',
  path: '/v1/hub/sites/uses',
  query: z.strictObject({ site: oneLine(200).min(1) }),
  response: z.object({
    gatewayIds: z.array(gatewayId),
    /** Names of alert rules. */
    rules: z.array(z.string()),
    /** Whether it has automatic updates of its own. */
    hasUpdates: z.boolean(),
    /** Saved views of everybody. */
    views: z.number().int(),
  }),
})
export type SiteUses = z.output<typeof siteUses.response>
