import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { findVisibleGateway } from '../fleet/fleet.ts'
import { mount } from '../http/mount.ts'
import { listDetections, readThumbnail } from './detection-list.ts'
import { countIncidents, listIncidents, readIncidentOf } from './incident-list.ts'
import { review } from './reviews.ts'

/** The detections of a gateway, and the incidents of all, for people who see those gateways. */
export function detectionRoutes(
  app: FastifyInstance,
  { db, clock }: { db: Kysely<Tables>; clock: () => number },
): void {
  mount(app, contract.listDetections, async ({ params, caller, query, reply }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return listDetections(db, id, { query, reply })
  })
  mount(app, contract.readDetectionThumbnail, async ({ params, caller }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return { jpeg: await readThumbnail(db, id, params.detectionId) }
  })
  mount(app, contract.listIncidents, ({ caller, query, reply }) => listIncidents(db, caller, { query, reply }))
  mount(app, contract.countIncidents, ({ caller, query }) => countIncidents(db, caller, query))
  mount(app, contract.readIncident, ({ params, caller }) => readIncidentOf(db, caller, params.id))
  mount(app, contract.reviewIncidents, ({ body, caller, sourceIp }) =>
    review(db, body, { caller, sourceIp, now: clock() }),
  )
}
