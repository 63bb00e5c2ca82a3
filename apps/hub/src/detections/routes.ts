import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { visibleGatewayIds } from '../access/objects.ts'
import type { Tables } from '../database/tables.ts'
import { by, record } from '../facts/facts.ts'
import { mount } from '../http/mount.ts'
import { createSharedAnswers } from '../http/shared-answers.ts'
import { createExports } from './export.ts'
import { listDetections } from './detection-list.ts'
import { readThumbnail, readThumbnails } from './thumbnails.ts'
import { gatewaysOf, hasAll, listIncidents, neighboursOf, readIncidentOf } from './incident-list.ts'
import { createKeptCounts } from './kept-counts.ts'
import { countReviews } from './review-counts.ts'
import { review } from './reviews.ts'
import { undoReviews } from './undo.ts'
import { deleteSavedView, listSavedViews, saveView } from './saved-views.ts'

/** The detections of a gateway, and the incidents of all, for people who see those gateways. */
export function detectionRoutes(
  app: FastifyInstance,
  { db, clock }: { db: Kysely<Tables>; clock: () => number },
): void {
  mount(app, contract.listDetections, ({ gateway, query, reply }) => listDetections(db, gateway.id, { query, reply }))
  mount(app, contract.readDetectionThumbnail, async ({ gateway, params, raw, reply }) => {
    const { jpeg, etag } = await readThumbnail(db, gateway.id, params.detectionId)
    // It changes while its detection goes on, so browsers revalidate it and get 304.
    reply.headers({ etag, 'cache-control': 'private, no-cache', vary: 'Authorization' })
    if (raw.headers['if-none-match'] === etag) return void reply.code(304).send()
    reply.type('image/jpeg').header('content-disposition', 'inline')
    return jpeg
  })
  mount(app, contract.readThumbnails, async ({ query: { of }, scope }) => {
    const gateways = of.map(({ gatewayId }) => gatewayId)
    const visible = await visibleGatewayIds(db, scope, gateways)
    const seen = of.filter(({ gatewayId }) => visible.has(gatewayId))
    const found = await readThumbnails(db, seen)
    return found.map(({ gatewayId, id, jpeg }) => ({ gatewayId, id, jpeg: jpeg.toString('base64') }))
  })
  const share = createSharedAnswers()
  mount(app, contract.listIncidents, (request) => {
    const { scope, query } = request
    return share('list', request, (reply) => listIncidents(db, scope, { query, reply }))
  })
  const countOf = createKeptCounts(db)
  mount(app, contract.countIncidents, (request) => {
    const { scope, query } = request
    return share('counts', request, () => countOf(scope, query))
  })
  const exports = createExports({ db })
  mount(app, contract.exportIncidents, async (request) => {
    const { act, scope, query, reply, raw } = request
    const gateways = await gatewaysOf(db, scope, query)
    const zip = exports.open(act, { gateways, filter: query })
    const capability = { gateway: 'see' } as const
    raw.allowance = { caller: act.actor, capability, mayStillSee: (now) => hasAll(db, now, gateways) }
    const fact = { ...by(act), data: { filter: JSON.stringify(query) } }
    await record(db, { kind: 'incidents.exported', ...fact }).catch((error: unknown) => {
      zip.destroy()
      throw error
    })
    reply.type('application/zip').header('content-disposition', 'attachment; filename="threats.zip"')
    return zip
  })
  mount(app, contract.readIncident, ({ incident }) => readIncidentOf(db, incident))
  mount(app, contract.readNeighbours, ({ incident, scope, query }) => neighboursOf(db, scope, incident, query))
  mount(app, contract.readReviewCounts, ({ gateway }) => countReviews(db, gateway.id, clock()))
  mount(app, contract.listSavedViews, ({ caller }) => listSavedViews(db, caller.userId))
  mount(app, contract.saveView, ({ body, act }) => saveView(db, body, act))
  mount(app, contract.deleteSavedView, ({ params, caller }) => deleteSavedView(db, caller.userId, params.id))
  mount(app, contract.reviewIncidents, ({ body, act }) => review(db, body, act))
  mount(app, contract.undoReviews, ({ body, act }) => undoReviews(db, body, act))
}
