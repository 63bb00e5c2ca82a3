import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Backups } from '../backups/backups.ts'
import type { StorageWatch } from '../database/storage-watch.ts'
import type { Tables } from '../database/tables.ts'
import type { HubUpdate } from '../hub-update/hub-update.ts'
import { mount } from '../http/mount.ts'
import { createSharedAnswers } from '../http/shared-answers.ts'
import type { Scope } from '../access/scope.ts'
import type { Statuses } from '../fleet/fleet.ts'
import type { Updates } from '../updates/updates.ts'
import { readSettings } from '../settings/settings.ts'
import { recentActivity } from './recent-activity.ts'
import { firingsToday, threatsToday, timeline } from './timeline.ts'

type Dependencies = {
  db: Kysely<Tables>
  clock: () => number
  statuses: Statuses
  watch: Pick<StorageWatch, 'trouble'>
  updates: Pick<Updates, 'trouble'>
  backups: Pick<Backups, 'state'>
  hubUpdate: Pick<HubUpdate, 'status'>
  /** The reason why nobody would be told of a threat, as a sentence; undefined when somebody would be. */
  troubleOfAlerts: () => Promise<string | undefined>
}

/** The dashboard's calls. */
export function dashboardRoutes(app: FastifyInstance, dependencies: Dependencies): void {
  const { db, clock, statuses, watch, updates, backups, hubUpdate } = dependencies
  const share = createSharedAnswers()
  mount(app, contract.hubStats, (request) => share('stats', request, () => readStats(request.scope)))
  mount(app, contract.hubProblems, async ({ scope }) => {
    const storage = watch.trouble()?.message
    const backup = scope.may({ hub: 'admin' }) ? backups.state()?.trouble : undefined
    const isManager = scope.may({ hub: 'manage' })
    const alerts = isManager ? await dependencies.troubleOfAlerts() : undefined
    const rollout = isManager ? await updates.trouble() : undefined
    const { version, newer } = hubUpdate.status()
    const { enableVpn } = await readSettings(db)
    const cutOff = enableVpn ? 0 : (await statuses(scope)).length
    return [
      ...(cutOff === 0 ? [] : [{ part: 'vpn' as const, message: vpnOff(cutOff) }]),
      ...(storage === undefined ? [] : [{ part: 'storage' as const, message: storage }]),
      ...(backup === undefined ? [] : [{ part: 'backup' as const, message: backup }]),
      ...(alerts === undefined ? [] : [{ part: 'alerts' as const, message: alerts }]),
      ...(rollout === undefined ? [] : [{ part: 'rollout' as const, message: rollout }]),
      ...(newer
        ? [
            {
              part: 'update' as const,
              message: `Version ${newer.version} of the hub is available; this is ${version}.`,
            },
          ]
        : []),
    ]
  })
  mount(app, contract.recentActivity, (request) => {
    const { scope, query } = request
    return share('activity', request, (reply) => recentActivity(db, scope, { query, reply }))
  })
  mount(app, contract.hubTimeline, (request) => share('timeline', request, () => timeline(db, request.scope, clock())))

  async function readStats(scope: Scope): Promise<contract.ResponseOf<typeof contract.hubStats>> {
    const gateways = await statuses(scope)
    const users = await db
      .selectFrom('users')
      .select((row) => row.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return {
      totalGateways: gateways.length,
      activeGateways: gateways.filter(({ status }) => status !== 'offline').length,
      totalUsers: users.count,
      threats: await threatsToday(db, scope, clock()),
      firings: await firingsToday(db, scope, clock()),
    }
  }
}

const vpnOff = (gateways: number): string =>
  `The VPN is off: the hub cannot reach ${gateways === 1 ? 'its gateway' : `its ${gateways} gateways`}.`
