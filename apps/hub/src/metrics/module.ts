import type { FastifyInstance } from 'fastify'
import type { Alerts } from '../alerts/module.ts'
import type { Proofs } from '../certificates/module.ts'
import type { Database } from '../database/module.ts'
import type { Fleet } from '../fleet/module.ts'
import type { Limits } from '../http/module.ts'
import type { Base } from '../kernel/room.ts'
import type { Tunnel } from '../tunnel/module.ts'
import type { Upkeep } from '../upkeep/module.ts'
import { openMetrics, type Metrics } from './metrics.ts'

/** The counters, which most rooms use. */
export const openCounters = async ({ config }: Base) => ({ gives: { metrics: await openMetrics(config) } })

type Needs = { metrics: Metrics; events: { streams(): number }; secondLook: { waiting(): number } | undefined }

/** The page with all measures. */
export function open(hub: Base & Database & Limits & Proofs & Tunnel & Alerts & Upkeep & Fleet & Needs) {
  const { metrics, presence, events, secondLook } = hub
  const secondLooksWaiting = () => secondLook?.waiting() ?? 0
  const parts = { ...hub, checkedStatuses: presence.statuses, eventStreams: events.streams, secondLooksWaiting }
  return {
    tasks: [{ stop: metrics.stop }],
    routes: (app: FastifyInstance) => metrics.mountOn(app, parts),
    onListening: metrics.start,
  }
}
