import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { findGateway } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import { orUnavailable, type GatewayDoor } from '../gateway-door/gateway-door.ts'
import { HubError } from '../kernel/hub-error.ts'
import { mount } from '../http/mount.ts'
import { listCommands, type Commands } from './commands.ts'
import { listLedger } from './ledger.ts'

type Snoozed = { camera?: string | undefined; lasts?: contract.SnoozeTime | undefined; until?: string | undefined }

/** The device counts seconds from now: its clock may be another one. */
function orderOf(kind: contract.SnoozeKind, { camera, lasts, until }: Snoozed, now: number): contract.SnoozeOrder {
  const seconds = until === undefined ? undefined : Math.round((Date.parse(until) - now) / 1_000)
  const order = contract.snoozeOrder.safeParse({ kind, camera, lasts: seconds ?? lasts })
  if (!order.success) throw new HubError('snooze_time_invalid')
  return order.data
}

const NAMES_LIMITS = { timeoutMs: 10_000, limitBytes: contract.LEARNING_MAX_BYTES }

/** Commands to a gateway's deterrents and its learning, and its ledger. */
export function commandRoutes(
  app: FastifyInstance,
  { db, commands, door }: { db: Kysely<Tables>; commands: Pick<Commands, 'give'>; door: Pick<GatewayDoor, 'call'> },
): void {
  mount(app, contract.fireDeterrent, ({ gateway, body, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'fire', ...body }, act),
  )
  mount(app, contract.stopDeterrents, ({ gateway, body, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'stop', ...body }, act),
  )
  mount(app, contract.armGateway, ({ gateway, act }) => commands.give({ gatewayId: gateway.id, action: 'arm' }, act))
  mount(app, contract.disarmGateway, ({ gateway, query, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'disarm', ...query }, act),
  )
  mount(app, contract.snoozeGateway, ({ gateway, body, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'snooze', snooze: orderOf('snooze', body, act.now) }, act),
  )
  mount(app, contract.endGatewaySnooze, ({ gateway, body, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'end-snooze', snooze: { kind: 'snooze', ...body } }, act),
  )
  mount(app, contract.maintainGateway, ({ gateway, body, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'snooze', snooze: orderOf('maintenance', body, act.now) }, act),
  )
  mount(app, contract.endGatewayMaintenance, ({ gateway, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'end-snooze', snooze: { kind: 'maintenance' } }, act),
  )
  mount(app, contract.undoGatewayLearning, ({ gateway, body: learning, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'undo-learning', learning }, act),
  )
  mount(app, contract.learnGatewayNow, ({ gateway, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'learn-now' }, act),
  )
  mount(app, contract.undoGatewayNames, ({ gateway, body: names, act }) =>
    commands.give({ gatewayId: gateway.id, action: 'undo-names', names }, act),
  )
  mount(app, contract.useGatewayNames, async ({ gateway, body: names, act }) => {
    const source = await findGateway(db, scopeOf(act.actor), names.gateway)
    const { head } = await door
      .call(source, contract.doorCalls.readNames, NAMES_LIMITS)
      .catch(orUnavailable('learning_unavailable'))
    if (!head) throw new HubError('learning_unavailable')
    const learned = { from: source.name, head }
    return commands.give({ gatewayId: gateway.id, action: 'use-names', names, learned }, act)
  })
  mount(app, contract.listCommands, ({ gateway }) => listCommands(db, gateway.id))
  mount(app, contract.listLedger, ({ gateway, query, reply }) => listLedger(db, gateway.id, { query, reply }))
}
