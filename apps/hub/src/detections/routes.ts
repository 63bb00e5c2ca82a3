import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { actorOf, record } from '../facts/facts.ts'
import { findVisibleGateway, visibleGatewayIds } from '../fleet/fleet.ts'
import { mount } from '../http/mount.ts'
import { createSharedAnswers } from '../http/shared-answers.ts'
import { createExports } from './export.ts'
import { listDetections } from './detection-list.ts'
import { readThumbnail, readThumbnails } from './thumbnails.ts'
import { listIncidents, maySeeAll, neighboursOf, readIncidentOf, scopeOf } from './incident-list.ts'
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
  mount(app, contract.listDetections, async ({ params, caller, query, reply }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return listDetections(db, id, { query, reply })
  })
  mount(app, contract.readDetectionThumbnail, async ({ params, caller, raw, reply }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    const { jpeg, etag } = await readThumbnail(db, id, params.detectionId)
    // It changes while its detection goes on, so browsers revalidate it and get 304.
    reply.headers({ etag, 'cache-control': 'private, no-cache', vary: 'Authorization' })
    if (raw.headers['if-none-match'] === etag) return void reply.code(304).send()
    reply.type('image/jpeg').header('content-disposition', 'inline')
    return jpeg
  })
  mount(app, contract.readThumbnails, async ({ query: { of }, caller }) => {
    const gateways = of.map(({ gatewayId }) => gatewayId)
    const visible = await visibleGatewayIds(db, caller, gateways)
    const seen = of.filter(({ gatewayId }) => visible.has(gatewayId))
    const found = await readThumbnails(db, seen)
    return found.map(({ gatewayId, id, jpeg }) => ({ gatewayId, id, jpeg: jpeg.toString('base64') }))
  })
  const share = createSharedAnswers()
  mount(app, contract.listIncidents, (request) => {
    const { caller, query } = request
    return share('list', request, (reply) => listIncidents(db, caller, { query, reply }))
  })
  const countOf = createKeptCounts(db)
  mount(app, contract.countIncidents, (request) => {
    const { caller, query } = request
    return share('counts', request, () => countOf(caller, query))
  })
  const exports = createExports({ db })
  mount(app, contract.exportIncidents, async (request) => {
    const { caller, query, reply, raw, sourceIp } = request
    const scope = await scopeOf(db, caller, query)
    const zip = exports.open(caller, { scope, filter: query, now: clock(), sourceIp })
    raw.allowance = { caller, role: 'user', mayStillSee: (now) => maySeeAll(db, now, scope) }
    const fact = { at: clock(), actor: actorOf(request), data: { filter: JSON.stringify(query) } }
    await record(db, { kind: 'incidents.exported', ...fact }).catch((error: unknown) => {
      zip.destroy()
      throw error
    })
    reply.type('application/zip').header('content-disposition', 'attachment; filename="threats.zip"')
    return zip
  })
  mount(app, contract.readIncident, ({ params, caller }) => readIncidentOf(db, caller, params.id))
  mount(app, contract.readNeighbours, ({ params, caller, query }) => neighboursOf(db, caller, params.id, query))
  mount(app, contract.readReviewCounts, async ({ params, caller }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return countReviews(db, id, clock())
  })
  mount(app, contract.listSavedViews, ({ caller }) => listSavedViews(db, caller.userId))
  mount(app, contract.saveView, ({ body, caller }) => saveView(db, { ...body, userId: caller.userId, now: clock() }))
  mount(app, contract.deleteSavedView, ({ params, caller }) => deleteSavedView(db, caller.userId, params.id))
  mount(app, contract.reviewIncidents, ({ body, caller, sourceIp }) =>
    review(db, body, { caller, sourceIp, now: clock() }),
  )
  mount(app, contract.undoReviews, ({ body, caller, sourceIp }) =>
    undoReviews(db, body, { caller, sourceIp, now: clock() }),
  )
}
