import { latestIncidents } from '../detections/latest-incidents.ts'
import type { App, Ground } from '../facts/room.ts'
import type { ListDependencies } from '../fleet/fleet.ts'
import type { Fleet } from '../fleet/module.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { cameraRoutes } from './routes.ts'

type Cameras = Parameters<typeof latestIncidents>[1]

export const open = (hub: Ground & Tunnel & Fleet & { list: ListDependencies }) => ({
  routes: (app: App) =>
    cameraRoutes(app, { ...hub, latestIncidents: (cameras: Cameras) => latestIncidents(hub.db, cameras) }),
})
