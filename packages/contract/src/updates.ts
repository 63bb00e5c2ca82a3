/**
 * Versions of the hub and of the fleet's agents, and the agents' updates: by hand, or automatic in rings of one, ten,
 * and all.
 */
import { z } from 'zod'
import { releaseNumber } from './agent-updates.ts'
import { call } from './call.ts'
import { changedFields } from './edits.ts'
import { hoursOfDay, oneLine } from './fields.ts'
import { gatewayId } from './gateways.ts'
import { searchQuery } from './lists.ts'
import { siteName } from './sites.ts'

const UPDATES_AT_ONCE = 1_000

export const gatewayVersion = z.object({
  id: gatewayId,
  name: z.string(),
  location: z.string(),
  site: siteName.nullable(),
  /** The version in its last heartbeat; empty before the first one. */
  version: z.string(),
  /** Whether it runs a release that it can replace by the one that this hub hands out. */
  canUpdate: z.boolean(),
  /** The newest request for it; null without one. */
  update: z
    .object({
      number: releaseNumber,
      version: z.string(),
      /**
       * `asked`: until the gateway runs it, or says that it failed. `skipped`: automatic updates do not wait for it; it
       * is asked again after all others.
       */
      state: z.enum(['asked', 'done', 'failed', 'skipped']),
      /** The progress of the update, why it failed, or who skipped it. */
      message: z.string(),
      /** The person's name at that time; null for automatic updates. */
      by: z.string().nullable(),
      askedAt: z.iso.datetime(),
      endedAt: z.iso.datetime().nullable(),
    })
    .nullable(),
})
export type GatewayVersion = z.output<typeof gatewayVersion>

/** The hub's own version, and whether there is a newer one. */
export const hubVersion = z.object({
  version: z.string(),
  /** Whether the hub checks for newer versions: HUB_UPDATES_URL is set. */
  isChecked: z.boolean(),
  /** A signed release that is newer than this hub; null where none is known. */
  newer: z.object({ version: z.string(), createdAt: z.iso.datetime() }).nullable(),
  /** The time of the last check; null before the first one. */
  checkedAt: z.iso.datetime().nullable(),
  /** Why the last check failed; null when it did not. */
  problem: z.string().nullable(),
})
export type HubVersion = z.output<typeof hubVersion>

/** The automatic updates of a site. */
export const siteUpdates = z.strictObject({
  /** Its id; its name is understood too. */
  site: oneLine(200).min(1),
  /** Null for the hub's setting. */
  automatic: z.boolean().nullable(),
  /** As `automaticUpdateHours`; null for the hub's setting. */
  hours: hoursOfDay.nullable(),
})
export type SiteUpdates = z.output<typeof siteUpdates>

export const versions = z.object({
  hub: hubVersion,
  /** The release that this hub hands out; null without one. */
  release: z.object({ version: z.string(), number: releaseNumber }).nullable(),
  /** The automatic updates to this release; null before they began, and while they are switched off. */
  rollout: z
    .object({
      /** `stopped`: a gateway failed, or a person stopped them; no other gateway is asked until a person resumes. */
      state: z.enum(['running', 'stopped']),
      /** The current step, or why the updates stopped. */
      message: z.string(),
      /** The gateways that hold the others back, each with the reason as a sentence. */
      held: z.array(z.object({ id: gatewayId, name: z.string(), message: z.string() })),
    })
    .nullable(),
  /** The sites whose automatic updates differ from the settings. */
  sites: z.array(siteUpdates.extend({ name: z.string() })),
  /** How many gateways run each version, the most first. */
  counts: z.array(z.object({ version: z.string(), gateways: z.number().int() })),
  gateways: z.array(gatewayVersion),
})
export type Versions = z.output<typeof versions>

/**
 * `q` matches part of a gateway's name, site, location or tag; `limit` and `cursor` page the gateways. The other fields
 * describe the whole fleet.
 */
export const getVersions = call({
  method: 'GET',
  path: '/v1/hub/versions',
  query: searchQuery,
  response: versions,
})

/** Asks these gateways to run the release that this hub hands out, whatever their hours. */
export const updateGateways = call({
  method: 'POST',
  path: '/v1/hub/updates',
  body: z.strictObject({ gatewayIds: z.array(gatewayId).min(1).max(UPDATES_AT_ONCE) }),
  errors: ['no_release', 'gateway_not_found', 'gateway_cannot_update'],
  response: versions,
})

/** Resumes automatic updates that a failure stopped; gateways that failed are asked again. */
export const resumeRollout = call({
  method: 'POST',
  path: '/v1/hub/updates/resume',
  errors: ['no_release', 'rollout_not_stopped'],
  response: versions,
})

/** Stops automatic updates and takes back the open requests, until a person resumes. */
export const stopRollout = call({
  method: 'POST',
  path: '/v1/hub/updates/stop',
  errors: ['no_release', 'rollout_not_running'],
  response: versions,
})

/**
 * Takes back the automatic request to a gateway, so that the others do not wait for it. It is asked again after them,
 * when it is back. If it reports a failure of this request, the updates stop.
 */
export const skipUpdate = call({
  method: 'POST',
  path: '/v1/hub/updates/skip',
  body: z.strictObject({ gatewayId }),
  errors: ['gateway_not_found', 'update_not_open'],
  response: versions,
})

/** Sets the automatic updates of a site; with two nulls the site follows the hub's settings. */
export const editSiteUpdates = call({
  method: 'PATCH',
  path: '/v1/hub/updates/site',
  body: changedFields(siteUpdates).required({ site: true }),
  errors: ['site_not_found', 'changed_meanwhile'],
  response: versions,
})

/** The whole of what `editSiteUpdates` changes. */
export const saveSiteUpdates = call({
  method: 'PUT',
  path: '/v1/hub/updates/site',
  deprecated: true,
  body: siteUpdates,
  errors: ['site_not_found'],
  response: versions,
})
