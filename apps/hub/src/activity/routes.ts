import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { fleetStatuses, type FleetSignals } from '../gateways/gateways.ts'
import { mount } from '../http/mount.ts'
import { recentActivity, threatsToday, timeline } from './activity.ts'

type Dependencies = { db: Kysely<Tables>; clock: () => number; signals: FleetSignals }

/** The dashboard's three calls. */
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
  mount(app, contract.recentActivity, ({ caller }) => recentActivity(db, caller))
  mount(app, contract.hubTimeline, ({ caller }) => timeline(db, caller, clock()))
}
