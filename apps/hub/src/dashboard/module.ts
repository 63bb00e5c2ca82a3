import { troubleOfAlerts } from '../alerts/alert-rules.ts'
import type { App, Ground } from '../facts/room.ts'
import type { Fleet } from '../fleet/module.ts'
import type { Updates } from '../updates/updates.ts'
import type { Upkeep } from '../upkeep/module.ts'
import { dashboardRoutes } from './routes.ts'

export const open = (hub: Ground & Upkeep & Fleet & { updates: Updates }) => ({
  routes: (app: App) => dashboardRoutes(app, { ...hub, troubleOfAlerts: () => troubleOfAlerts(hub.db) }),
})
