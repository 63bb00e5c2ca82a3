/** What people order of a gateway, what its ledger tells, and what it learned. */
import type { FastifyInstance } from 'fastify'
import type { Database } from '../database/module.ts'
import type { Base } from '../kernel/room.ts'
import { learningRoutes } from '../learning/routes.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { createCommands } from './commands.ts'
import { createLedgerIntake } from './ledger.ts'
import { commandRoutes } from './routes.ts'

export function open(hub: Base & Database & Tunnel) {
  const commands = createCommands(hub)
  return {
    gives: { commands, storeLedger: createLedgerIntake({ ...hub, requireRoom: hub.watch.requireRoom }) },
    tasks: [commands],
    routes(app: FastifyInstance) {
      commandRoutes(app, { ...hub, commands })
      learningRoutes(app, hub)
    },
  }
}
