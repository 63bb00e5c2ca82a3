import type { FastifyInstance } from 'fastify'
import type { Database } from '../database/module.ts'
import type { Base } from '../kernel/room.ts'
import { updateRoutes } from './routes.ts'
import { createUpdates } from './updates.ts'

type Options = Parameters<typeof createUpdates>[0]
type Needs = Pick<Options, 'downloads' | 'heartbeats' | 'settings'> & { hubUpdate: { status: Options['hubVersion'] } }

export function open(hub: Base & Database & Needs) {
  const updates = createUpdates({ ...hub, hubVersion: hub.hubUpdate.status })
  return { gives: { updates }, tasks: [updates], routes: (app: FastifyInstance) => updateRoutes(app, { updates }) }
}
