import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { listCommands, type Commands } from './commands.ts'
import { listLedger } from './ledger.ts'

/** Deterrents of a gateway: commands to them, and its ledger. */
export function commandRoutes(
  app: FastifyInstance,
  { db, commands }: { db: Kysely<Tables>; commands: Pick<Commands, 'give'> },
): void {
  mount(app, contract.fireDeterrent, ({ gateway, body, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'fire', ...body }, act),
  )
  mount(app, contract.stopDeterrents, ({ gateway, body, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'stop', ...body }, act),
  )
  mount(app, contract.armGateway, ({ gateway, act }) => commands.give({ gatewayId: gateway.id, action: 'arm' }, act))
  mount(app, contract.disarmGateway, ({ gateway, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'disarm' }, act),
  )
  mount(app, contract.undoGatewayLearning, ({ gateway, body: learning, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'undo-learning', learning }, act),
  )
  mount(app, contract.listCommands, ({ gateway }) => listCommands(db, gateway.id))
  mount(app, contract.listLedger, ({ gateway, query, reply }) => listLedger(db, gateway.id, { query, reply }))
}
