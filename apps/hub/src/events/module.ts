import type { FastifyInstance } from 'fastify'
import type { Sessions } from '../access/sessions.ts'
import type { Database } from '../database/module.ts'
import type { Base } from '../kernel/room.ts'
import { createEvents } from './events.ts'
import { liveEvents } from './live-events.ts'
import { eventRoutes } from './routes.ts'

type Needs = { sessions: Sessions; heartbeats: { onDeterrents(listener: (gatewayId: string) => void): void } }

export function open(hub: Base & Database & Needs) {
  const events = createEvents(hub)
  hub.heartbeats.onDeterrents((gatewayId) => events.publish({ topic: 'deterrents', gatewayId }))
  return {
    gives: { events },
    follows: [liveEvents(events)],
    routes: (app: FastifyInstance) => eventRoutes(app, { events }),
    stop: events.stop,
  }
}
