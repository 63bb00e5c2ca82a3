import type { FastifyInstance } from 'fastify'
import { troubleOfAlerts } from '../alerts/alert-rules.ts'
import type { Database } from '../database/module.ts'
import type { Fleet } from '../fleet/module.ts'
import type { Base } from '../kernel/room.ts'
import type { Updates } from '../updates/updates.ts'
import type { Upkeep } from '../upkeep/module.ts'
import { createFleetCount } from './fleet-count.ts'
import { dashboardRoutes } from './routes.ts'

export function open(hub: Base & Database & Upkeep & Fleet & { updates: Updates }) {
  const { db, signals, presence } = hub
  const fleetCount = createFleetCount(db, signals, presence.statuses)
  return {
    routes: (app: FastifyInstance) =>
      dashboardRoutes(app, {
        ...hub,
        fleetCount,
        storageTrouble: hub.watch.trouble,
        alertTrouble: () => troubleOfAlerts(db),
        rolloutTrouble: hub.updates.trouble,
        backupTrouble: () => hub.backups.state()?.trouble,
      }),
  }
}
