import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { findVisibleGateway, fleetStatuses, type FleetSignals } from '../gateways/gateways.ts'
import { mount } from '../http/mount.ts'
import { hasRole } from '../http/policy.ts'
import type { Caller } from '../http/sessions.ts'
import { listDetections, readThumbnail } from './detection-list.ts'
import { recentActivity, threatsToday, timeline } from './activity.ts'

/** From how many gateways on the whole fleet is counted once a second at most, however many people look at it. */
const LARGE_FLEET = 1_000
const COUNTED_FOR_MS = 1_000

type Dependencies = { db: Kysely<Tables>; clock: () => number; signals: FleetSignals }

/** The dashboard's three calls, and the detections of a gateway. */
export function activityRoutes(app: FastifyInstance, { db, clock, signals }: Dependencies): void {
  const countFleet = createFleetCount(db, signals)
  mount(app, contract.hubStats, async ({ caller }) => {
    const { total, active } = await countFleet(caller)
    const users = await db
      .selectFrom('users')
      .select((row) => row.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return {
      totalGateways: total,
      activeGateways: active,
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

function createFleetCount(db: Kysely<Tables>, signals: FleetSignals) {
  let counted: { atMs: number; total: number; active: number } | undefined
  return async (caller: Caller): Promise<{ total: number; active: number }> => {
    const isWhole = hasRole(caller.role, 'manager')
    if (isWhole && counted && counted.total >= LARGE_FLEET && performance.now() - counted.atMs < COUNTED_FOR_MS)
      return counted
    const statuses = await fleetStatuses(db, signals, caller)
    let active = 0
    for (const { status } of statuses) if (status !== 'offline') active++
    const count = { atMs: performance.now(), total: statuses.length, active }
    if (isWhole) counted = count
    return count
  }
}
