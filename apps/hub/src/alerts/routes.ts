import * as contract from '@hedgerow/contract'
import type { Incident } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Caller } from '../access/sessions.ts'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { addRule, deleteRule, readRules, updateRule } from './alert-rules.ts'
import { preview } from './preview.ts'

type Dependencies = {
  db: Kysely<Tables>
  clock: () => number
  listIncidents: (caller: Caller, ids: readonly string[]) => Promise<Incident[]>
}

export function alertRoutes(app: FastifyInstance, dependencies: Dependencies): void {
  const { db, clock } = dependencies
  mount(app, contract.listAlertRules, () => readRules(db))
  mount(app, contract.addAlertRule, ({ body, caller, sourceIp }) =>
    addRule(db, body, { caller, sourceIp, now: clock() }),
  )
  mount(app, contract.updateAlertRule, ({ params, body, caller, sourceIp }) =>
    updateRule(db, params.id, body, { caller, sourceIp, now: clock() }),
  )
  mount(app, contract.deleteAlertRule, async ({ params, caller, sourceIp }) => {
    await deleteRule(db, params.id, { caller, sourceIp, now: clock() })
    return undefined
  })
  mount(app, contract.previewAlertRule, ({ body, caller }) =>
    preview(db, body, clock(), (ids) => dependencies.listIncidents(caller, ids)),
  )
}
