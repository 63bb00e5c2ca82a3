import { troubleOfAlerts } from '../alerts/alert-rules.ts'
import type { App, Ground } from '../facts/room.ts'
import type { Fleet } from '../fleet/module.ts'
import type { Updates } from '../updates/updates.ts'
import type { Upkeep } from '../upkeep/module.ts'
import { createFleetCount } from './fleet-count.ts'
import { dashboardRoutes } from './routes.ts'

export function open(hub: Ground & Upkeep & Fleet & { updates: Updates }) {
  const fleetCount = createFleetCount(hub.db, hub.signals, hub.statuses)
  return {
    routes: (app: App) => dashboardRoutes(app, { ...hub, fleetCount, troubleOfAlerts: () => troubleOfAlerts(hub.db) }),
  }
}
