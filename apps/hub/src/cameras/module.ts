import type { FastifyInstance } from 'fastify'
import type { Database } from '../database/module.ts'
import { latestIncidents } from '../detections/latest-incidents.ts'
import { listGateways, type ListDependencies } from '../fleet/fleet.ts'
import type { Fleet } from '../fleet/module.ts'
import type { Base } from '../kernel/room.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { createLivePictures } from './live-pictures.ts'
import { cameraRoutes } from './routes.ts'

export function open(hub: Base & Database & Tunnel & Fleet & { list: ListDependencies }) {
  const { db, door, list, heartbeats } = hub
  const monotonic = () => performance.now()
  return {
    routes: (app: FastifyInstance) =>
      cameraRoutes(app, {
        ...hub,
        monotonic,
        pictures: createLivePictures({ door, monotonic }),
        listGateways: (scope, reply) => listGateways(db, scope, { ...list, query: {}, reply }),
        latestIncidents: (cameras) => latestIncidents(db, cameras),
        heartbeatOf: (id) => heartbeats.latest(id)?.content,
      }),
  }
}
