import type { App, Base, Ground } from '../facts/room.ts'
import { openMetrics, type MeasuredParts, type Metrics } from './metrics.ts'

/** The counters, which most rooms use. */
export const openCounters = async ({ config }: Base) => ({ gives: { metrics: await openMetrics(config) } })

/** The page with all measures. */
export const open = (hub: Ground & MeasuredParts & { metrics: Metrics }) => ({
  tasks: [{ stop: hub.metrics.stop }],
  routes: (app: App) => hub.metrics.mountOn(app, hub),
  onListening: hub.metrics.start,
})
