import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { findVisibleGateway } from '../fleet/fleet.ts'
import { mount } from '../http/mount.ts'
import { listCommands, type Commands } from './commands.ts'
import { listLedger } from './ledger.ts'

/** Deterrents of a gateway: commands to them, and its ledger. */
export function commandRoutes(
  app: FastifyInstance,
  { db, commands }: { db: Kysely<Tables>; commands: Pick<Commands, 'give'> },
): void {
  mount(app, contract.fireDeterrent, ({ params, body, caller, sourceIp }) =>
    commands.give({ gatewayId: params.id, action: 'fire', ...body }, { caller, sourceIp }),
  )
  mount(app, contract.stopDeterrents, ({ params, body, caller, sourceIp }) =>
    commands.give({ gatewayId: params.id, action: 'stop', ...body }, { caller, sourceIp }),
  )
  mount(app, contract.armGateway, ({ params, caller, sourceIp }) =>
    commands.give({ gatewayId: params.id, action: 'arm' }, { caller, sourceIp }),
  )
  mount(app, contract.disarmGateway, ({ params, caller, sourceIp }) =>
    commands.give({ gatewayId: params.id, action: 'disarm' }, { caller, sourceIp }),
  )
  mount(app, contract.undoGatewayLearning, ({ params, body: learning, caller, sourceIp }) =>
    commands.give({ gatewayId: params.id, action: 'undo-learning', learning }, { caller, sourceIp }),
  )
  mount(app, contract.listCommands, async ({ params, caller }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return listCommands(db, id)
  })
  mount(app, contract.listLedger, async ({ params, caller, query, reply }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return listLedger(db, id, { query, reply })
  })
}
