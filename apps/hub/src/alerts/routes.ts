import * as contract from '@hedgerow/contract'
import type { Incident } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Scope } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { HubError } from '../kernel/hub-error.ts'
import { acknowledge, acknowledgeLinked, readLinked, readLinkedPicture } from './acknowledge.ts'
import { gatewaysOfAlert, listAlerts } from './alert-rows.ts'
import { addRule, deleteRule, readRules, updateRule, withSiteIds } from './alert-rules.ts'
import { markNoticesRead, readNoticesOf } from './notices.ts'
import { PICTURE_LINK, type AlertLink, type AlertLinks } from './links.ts'
import { readPreferences, savePreferences } from './preferences.ts'
import { preview } from './preview.ts'

type Dependencies = {
  db: Kysely<Tables>
  clock: () => number
  listIncidents: (scope: Scope, ids: readonly string[]) => Promise<Incident[]>
  links: AlertLinks
  /** Throws `detection_not_found`. */
  readPicture: (gatewayId: string, detectionId: string) => Promise<{ jpeg: Buffer }>
}

export function alertRoutes(app: FastifyInstance, dependencies: Dependencies): void {
  const { db, clock, links } = dependencies
  mount(app, contract.listAlertRules, () => readRules(db))
  mount(app, contract.addAlertRule, ({ body, act }) => addRule(db, body, act))
  for (const call of [contract.editAlertRule, contract.updateAlertRule])
    mount(app, call, ({ params, body, act }) => updateRule(db, params.id, body, act))
  mount(app, contract.deleteAlertRule, ({ params, act }) => deleteRule(db, params.id, act))
  mount(app, contract.previewAlertRule, async ({ body, scope }) =>
    preview(db, await withSiteIds(db, body), clock(), (ids) => dependencies.listIncidents(scope, ids)),
  )
  mount(app, contract.listAlerts, ({ caller, query }) => listAlerts(db, caller, query))
  mount(app, contract.listAlertGateways, ({ caller, params }) => gatewaysOfAlert(db, caller, params.id))
  mount(app, contract.acknowledgeAlert, ({ params, act }) => acknowledge(db, params.id, act))
  mount(app, contract.readAlertPreferences, ({ caller }) => readPreferences(db, caller.userId))
  for (const call of [contract.editAlertPreferences, contract.saveAlertPreferences])
    mount(app, call, (request) => savePreferences(db, request.body, request.act))
  mount(app, contract.listNotices, ({ caller }) => readNoticesOf(db, caller))
  mount(app, contract.readNotices, ({ caller }) => markNoticesRead(db, caller, clock()))
  mount(app, contract.readAlertLink, ({ body }) => readLinked(db, linkOf(body.token)))
  mount(app, contract.readAlertPicture, async ({ query, reply }) => {
    const link = links.read(query.token)
    if (link?.channel !== PICTURE_LINK) throw new HubError('alert_link_invalid')
    const { gatewayId, detectionId } = await readLinkedPicture(db, link)
    const { jpeg } = await dependencies.readPicture(gatewayId, detectionId)
    reply.type('image/jpeg').header('cache-control', 'private, no-store')
    return jpeg
  })
  mount(app, contract.acknowledgeByLink, ({ body, sourceIp }) =>
    acknowledgeLinked(db, linkOf(body.token), { sourceIp, now: clock() }),
  )

  function linkOf(token: string): AlertLink {
    const link = links.read(token)
    if (!link || link.channel === PICTURE_LINK) throw new HubError('alert_link_invalid')
    return link
  }
}
