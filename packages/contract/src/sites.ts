/** Places with gateways. A gateway is in one site or in none; its `location` is a text beside that. */
import { z } from 'zod'
import { call } from './call.ts'
import { changedFields } from './edits.ts'
import { oneLine, severalLines, timeZone } from './fields.ts'

export const siteId = z.string().regex(/^[a-z2-7]{12}$/, 'This is not a site id')

/** What is shown of the site of a gateway, an incident or a camera. */
export const siteName = z.object({ id: siteId, name: z.string() })
export type SiteName = z.output<typeof siteName>

const degrees = (max: number) =>
  z.number({ error: 'Enter a number' }).min(-max, `At least -${max}`).max(max, `At most ${max}`).nullable()

export const siteFields = z.strictObject({
  /** No other site has it. */
  name: oneLine(200).min(1, 'Enter a name'),
  /** In degrees (WGS 84), north and east positive; null for an unknown place. */
  latitude: degrees(90),
  longitude: degrees(180),
  /** As `Europe/Berlin`; null for that of each gateway. */
  timeZone: timeZone.nullable(),
  notes: severalLines(2_000),
})

export const site = siteFields.extend({
  id: siteId,
  /** How many gateways are in it that the caller may see. */
  gateways: z.number().int(),
})
export type Site = z.output<typeof site>

/** By name: all sites for managers and admins, and for users those of their gateways, without notes. */
export const listSites = call({ method: 'GET', path: '/v1/hub/sites', response: z.array(site) })

/** Puts the gateways without a site in it whose location is its name. */
export const addSite = call({
  method: 'POST',
  path: '/v1/hub/sites',
  body: z.strictObject({
    name: siteFields.shape.name,
    latitude: siteFields.shape.latitude.default(null),
    longitude: siteFields.shape.longitude.default(null),
    timeZone: siteFields.shape.timeZone.default(null),
    notes: siteFields.shape.notes.default(''),
  }),
  errors: ['site_name_taken'],
  response: site,
})

const byId = z.strictObject({ id: siteId })

/** A new name changes nothing else: gateways that join with a former name as their location are still put in it. */
export const editSite = call({
  method: 'PATCH',
  path: '/v1/hub/sites/:id',
  params: byId,
  body: changedFields(siteFields),
  errors: ['site_not_found', 'site_name_taken', 'changed_meanwhile'],
  response: site,
})

/** What names a site, for the question before it is deleted. */
export const siteUses = call({
  method: 'GET',
  path: '/v1/hub/sites/:id/uses',
  params: byId,
  errors: ['site_not_found'],
  response: z.object({
    gateways: z.number().int(),
    /** Names of alert rules. */
    rules: z.array(z.string()),
    /** Whether it has automatic updates of its own. */
    hasUpdates: z.boolean(),
    /** Valid invitations of gateways. */
    invitations: z.number().int(),
    /** Saved views of everybody. */
    views: z.number().int(),
  }),
})
export type SiteUses = z.output<typeof siteUses.response>

/**
 * Its gateways stay, without a site, and so do invitations and saved views; its own automatic updates go. While an
 * alert rule names it, answers `site_in_use`: without its last site a rule would cover all of them.
 */
export const deleteSite = call({
  method: 'DELETE',
  path: '/v1/hub/sites/:id',
  params: byId,
  errors: ['site_not_found', 'site_in_use'],
  response: null,
})
