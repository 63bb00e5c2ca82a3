/**
 * Versions of the hub and of the fleet's agents, and the agents' updates: by hand, or automatic in rings of one, ten,
 * and all.
 */
import { z } from 'zod'
import { releaseNumber } from './agent-updates.ts'
import { call } from './call.ts'
import { gatewayId } from './gateways.ts'
import { searchQuery } from './lists.ts'

const UPDATES_AT_ONCE = 1_000

export const gatewayVersion = z.object({
  id: gatewayId,
  name: z.string(),
  location: z.string(),
  /** As the gateway told it last; empty before its first heartbeat. */
  version: z.string(),
  /** Whether it runs a release that it can replace by the one that this hub hands out. */
  canUpdate: z.boolean(),
  /** The newest request for it; null without one. */
  update: z
    .object({
      number: releaseNumber,
      version: z.string(),
      /** `asked`: until the gateway runs it, or says that it failed. */
      state: z.enum(['asked', 'done', 'failed']),
      /** What an asked one does or waits for, or why it failed. */
      message: z.string(),
      /** A person's name as it was then; null for the automatic. */
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
  /** Whether it looks for newer ones: HUB_UPDATES_URL is set. */
  isChecked: z.boolean(),
  /** A signed release that is newer than this hub; null where none is known. */
  newer: z.object({ version: z.string(), createdAt: z.iso.datetime() }).nullable(),
  /** When it looked last; null before the first time. */
  checkedAt: z.iso.datetime().nullable(),
  /** Why the last look failed; null where it did not. */
  problem: z.string().nullable(),
})
export type HubVersion = z.output<typeof hubVersion>

export const versions = z.object({
  hub: hubVersion,
  /** What this hub hands out; null without a release. */
  release: z.object({ version: z.string(), number: releaseNumber }).nullable(),
  /** The automatic updates to this release; null before they began, and while they are switched off. */
  rollout: z
    .object({
      /** `stopped`: a gateway failed, and no other one is asked until a person goes on. */
      state: z.enum(['running', 'stopped']),
      /** What it does, or why it stopped. */
      message: z.string(),
    })
    .nullable(),
  /** How many gateways run each version, the most first. */
  counts: z.array(z.object({ version: z.string(), gateways: z.number().int() })),
  gateways: z.array(gatewayVersion),
})
export type Versions = z.output<typeof versions>

/**
 * `q` matches part of a gateway's name or location; `limit` and `cursor` page the gateways. The rest is of the whole.
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

/** Goes on with automatic updates that a failure stopped; gateways that failed are asked again. */
export const resumeRollout = call({
  method: 'POST',
  path: '/v1/hub/updates/resume',
  errors: ['no_release', 'rollout_not_stopped'],
  response: versions,
})
