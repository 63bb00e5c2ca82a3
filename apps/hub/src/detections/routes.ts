import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { findVisibleGateway } from '../fleet/fleet.ts'
import { mount } from '../http/mount.ts'
import { listDetections, readThumbnail } from './detection-list.ts'

/** The detections of a gateway, for people who see that gateway. */
export function detectionRoutes(app: FastifyInstance, { db }: { db: Kysely<Tables> }): void {
  mount(app, contract.listDetections, async ({ params, caller, query, reply }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return listDetections(db, id, { query, reply })
  })
  mount(app, contract.readDetectionThumbnail, async ({ params, caller }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return { jpeg: await readThumbnail(db, id, params.detectionId) }
  })
}
