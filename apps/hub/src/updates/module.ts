import type { App, Ground } from '../facts/room.ts'
import { updateRoutes } from './routes.ts'
import { createUpdates } from './updates.ts'

type Options = Parameters<typeof createUpdates>[0]
type Needs = Pick<Options, 'downloads' | 'heartbeats' | 'settings'> & { hubUpdate: { status: Options['hubVersion'] } }

export function open(hub: Ground & Needs) {
  const updates = createUpdates({ ...hub, hubVersion: hub.hubUpdate.status })
  return {
    gives: { updates, wantedUpdate: updates.wanted },
    tasks: [updates],
    routes: (app: App) => updateRoutes(app, { updates }),
  }
}
