import { z } from 'zod'
import { call } from './call.ts'
import type { FactKind } from './facts.ts'
import { gatewayId } from './gateways.ts'
import { searchQuery } from './lists.ts'
import { incidentId } from './detections.ts'

export const hubStats = call({
  method: 'GET',
  path: '/v1/hub/stats',
  response: z.object({
    totalGateways: z.number().int(),
    /** Gateways whose status is online or warning. */
    activeGateways: z.number().int(),
    totalUsers: z.number().int(),
    /** Detections of severity alert since local midnight of the hub. */
    threats: z.number().int(),
    /** Firings of deterrents since then. */
    firings: z.number().int(),
  }),
})

/**
 * The problems of the hub itself, and whether there is a newer version of it, for everybody signed in; empty when there
 * is neither. For managers and admins also `alerts`, when nobody would be told of a threat, and `rollout`, when
 * automatic updates stopped or wait for a gateway.
 */
export const hubProblems = call({
  method: 'GET',
  path: '/v1/hub/problems',
  response: z.array(
    z.object({ part: z.enum(['vpn', 'storage', 'backup', 'alerts', 'rollout', 'update']), message: z.string() }),
  ),
})

export const activityEntry = z.object({
  id: z.string(),
  message: z.string(),
  timestamp: z.iso.datetime(),
  type: z.enum(['info', 'success', 'warning', 'error']),
  /** The gateway it is about; null for none, or one that was deleted. */
  gatewayId: gatewayId.nullable(),
  /** The kind of the fact, as in `facts.ts`; null for entries of older hubs. */
  kind: z.string().nullable(),
  /** The detection that it is about, with its incident, while the hub has it. */
  detection: z.object({ id: z.string(), incidentId, hasThumbnail: z.boolean() }).nullable(),
})
export type ActivityEntry = z.output<typeof activityEntry>

/** What the history of one gateway tells: the kinds of each are `HISTORY_KINDS`. */
export const historyPart = z.enum(['connection', 'version', 'approval', 'deterrents', 'arming', 'device'])
export type HistoryPart = z.output<typeof historyPart>

/** Everything but what its cameras saw, which Threats has. */
export const HISTORY_KINDS = {
  connection: ['gateway.status-changed'],
  version: ['update.ended'],
  approval: [
    'gateway.approved',
    'gateway.rekeyed',
    'gateway.added',
    'gateway.claimed',
    'gateway.renamed',
    'gateway.edited',
    'gateway.site-changed',
  ],
  deterrents: ['deterrent.fired', 'deterrent.failed', 'command.ended'],
  arming: ['gateway.armed', 'gateway.disarmed', 'gateway.snoozed', 'gateway.snooze-ended'],
  device: ['device.file-saved', 'device.password-refused'],
} as const satisfies Record<HistoryPart, FactKind[]>

/**
 * The newest 50 entries, or a page, of the gateways that the caller may see, newest first. `q` matches part of the
 * message, in the newest 10,000 entries. With `gateway`: the history of that one, or a part of it.
 */
export const recentActivity = call({
  method: 'GET',
  path: '/v1/hub/activity/recent',
  query: searchQuery.extend({ gateway: gatewayId.optional(), part: historyPart.optional() }),
  response: z.array(activityEntry),
})

/** The last 24 hours, oldest first: 24 entries; the last one is the current hour. */
export const hubTimeline = call({
  method: 'GET',
  path: '/v1/hub/timeline',
  response: z.array(
    z.object({
      hour: z.iso.datetime(),
      /** The most gateways connected at once in that hour. */
      activeConnections: z.number().int(),
      /** Detections of severity alert in that hour. */
      threats: z.number().int(),
      /** Firings of deterrents in that hour. */
      firings: z.number().int(),
    }),
  ),
})
