import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { findVisibleGateway, fleetStatuses, type FleetSignals } from '../gateways/gateways.ts'
import { mount } from '../http/mount.ts'
import { listDetections, readThumbnail } from './detection-list.ts'
import { recentActivity, threatsToday, timeline } from './activity.ts'

type Dependencies = { db: Kysely<Tables>; clock: () => number; signals: FleetSignals }

/** The dashboard's three calls, and the detections of a gateway. */
export function activityRoutes(app: FastifyInstance, { db, clock, signals }: Dependencies): void {
  mount(app, contract.hubStats, async ({ caller }) => {
    const statuses = await fleetStatuses(db, signals, caller)
    const users = await db
      .selectFrom('users')
      .select((row) => row.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return {
      totalGateways: statuses.length,
      activeGateways: statuses.filter(({ status }) => status !== 'offline').length,
      totalUsers: users.count,
      threats: await threatsToday(db, caller, clock()),
    }
  })
  mount(app, contract.recentActivity, ({ caller, query, reply }) => recentActivity(db, caller, { query, reply }))
  mount(app, contract.hubTimeline, ({ caller }) => timeline(db, caller, clock()))
  mount(app, contract.listDetections, async ({ params, caller, query, reply }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return listDetections(db, id, { query, reply })
  })
  mount(app, contract.readDetectionThumbnail, async ({ params, caller }) => {
    const { id } = await findVisibleGateway(db, caller, params.id)
    return { jpeg: await readThumbnail(db, id, params.detectionId) }
  })
}
