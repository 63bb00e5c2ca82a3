/** What people order of a gateway, what its ledger tells, and what it learned. */
import type { App, Ground } from '../facts/room.ts'
import { learningRoutes } from '../learning/routes.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { createCommands } from './commands.ts'
import { createLedgerIntake } from './ledger.ts'
import { commandRoutes } from './routes.ts'

export function open(hub: Ground & Tunnel) {
  const commands = createCommands(hub)
  return {
    gives: { commands, storeLedger: createLedgerIntake({ ...hub, requireRoom: hub.watch.requireRoom }) },
    tasks: [commands],
    routes(app: App) {
      commandRoutes(app, { ...hub, commands })
      learningRoutes(app, hub)
    },
  }
}
