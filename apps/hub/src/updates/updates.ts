/**
 * Updates of agents: which release the hub asks each gateway to run. A request is a row; the answers to the gateway's
 * heartbeats name it until the gateway runs the release, or says that it failed. This module does not decide what may
 * be installed: gateways trust only signed lists.
 */
import type { FactKind, Heartbeat, HubVersion, Versions, WantedUpdate } from '@hedgerow/contract'
import { byVersion } from '@hedgerow/contract/natural-order'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Downloads } from '../downloads/downloads.ts'
import { HUB, record, type Act } from '../facts/facts.ts'
import { cachedRead } from '../facts/cached-read.ts'
import { gatewaysIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createTasks } from '../kernel/tasks.ts'
import { siteOf } from '../sites/sites.ts'
import { createAutomaticUpdates, type Heartbeats } from './automatic.ts'
import { canUpdate, endOf, progressOf, putRequest, type Release, type RequestRow } from './requests.ts'
import { readSites, saveSite, type AutomaticSettings, type SiteChange } from './sites.ts'

const LOOK_INTERVAL_MS = 5_000
const DONE_LOOK_MS = 60_000

const STALE_AFTER = [
  'update.asked',
  'update.ended',
  'update.withdrawn',
  'update.skipped',
  'gateway.deleted',
] as const satisfies FactKind[]

export type Updates = {
  /** The update to name in the answer to a heartbeat. */
  wanted(gatewayId: string): Promise<WantedUpdate | undefined>
  /** With `search`, the gateways whose name, site, location or tag contains it. */
  list(search?: string): Promise<Versions>
  /** Throws `no_release`, `gateway_not_found` and `gateway_cannot_update`. */
  request(gatewayIds: readonly string[], act: Act): Promise<Versions>
  /** Throws `no_release` and `rollout_not_stopped`. */
  resume(act: Act): Promise<Versions>
  /** Throws `no_release` and `rollout_not_running`. */
  stopRollout(act: Act): Promise<Versions>
  /** Throws `gateway_not_found` and `update_not_open`. */
  skip(gatewayId: string, act: Act): Promise<Versions>
  /** Throws `site_not_found` and `changed_meanwhile`. */
  saveSite(change: SiteChange, act: Act): Promise<Versions>
  /** Why automatic updates do not go on, as a sentence; undefined while they do. */
  trouble(): Promise<string | undefined>
  /** Ends requests by the gateways' reports, and continues automatic updates; called every few seconds. */
  look(): Promise<void>
  start(): void
  stop(): Promise<void>
}

export function createUpdates(options: {
  db: Kysely<Tables>
  clock: () => number
  downloads: Pick<Downloads, 'agent'>
  /** The last heartbeat of a gateway, and when it came. */
  heartbeats: Heartbeats
  settings: () => Promise<AutomaticSettings>
  hubVersion: () => HubVersion
  log: Logger
}): Updates {
  const { db, clock, downloads, heartbeats } = options
  const automatic = createAutomaticUpdates(options)
  let lookedAtDone = -Infinity
  const readAsked = cachedRead(db, { name: 'asked-updates', kinds: STALE_AFTER }, async () => {
    const rows = await db.selectFrom('gateway_updates').selectAll().where('state', '=', 'asked').execute()
    return new Map<string, WantedUpdate>(
      rows.map(({ gateway_id: id, number, attempt, by_name: by }) => [id, { number, attempt, byHand: by !== null }]),
    )
  })

  async function currentRelease(): Promise<Release | undefined> {
    const agent = await downloads.agent()
    return agent && { ...agent, platforms: agent.files.map(({ platform }) => platform) }
  }

  async function requireRelease(): Promise<Release> {
    const release = await currentRelease()
    if (!release) throw new HubError('no_release')
    return release
  }

  async function list(search = ''): Promise<Versions> {
    const release = await currentRelease()
    const gateways = await db
      .selectFrom('gateways')
      .leftJoin('sites', 'sites.id', 'gateways.site_id')
      .select(['gateways.id', 'gateways.name', 'location', 'site_id', 'sites.name as site_name', 'tags', 'version'])
      .orderBy('gateways.name')
      .execute()
    const updates = new Map(
      (await db.selectFrom('gateway_updates').selectAll().execute()).map((row) => [row.gateway_id, row]),
    )
    const shown = gateways.map(({ id, name, location, version, ...row }) => {
      const content = heartbeats.latest(id)?.content
      const update = updates.get(id)
      return {
        id,
        name,
        location: location ?? '',
        site: siteOf(row),
        version: content?.version ?? version ?? '',
        canUpdate: canUpdate(content, release) && update?.state !== 'asked',
        update: update ? toUpdate(update, content) : null,
      }
    })
    const sought = search.toLocaleLowerCase()
    const isFound = (_: unknown, index: number) => {
      const { name, location, site_name, ...row } = gateways[index]!
      return [name, location, site_name ?? '', ...tagsOf(row)].some((text) => text.toLocaleLowerCase().includes(sought))
    }
    const counts = Map.groupBy(shown, ({ version }) => version)
    return {
      hub: options.hubVersion(),
      release: release ? { version: release.version, number: release.number } : null,
      rollout: release ? await automatic.describe(release) : null,
      sites: await readSites(db),
      counts: [...counts]
        .map(([version, { length }]) => ({ version, gateways: length }))
        .toSorted((a, b) => b.gateways - a.gateways || byVersion(b.version, a.version)),
      gateways: search === '' ? shown : shown.filter(isFound),
    }
  }

  /** Ends requests by the gateways' latest reports. Those that are done, up to ten thousand, are read once a minute. */
  async function endRequests(release: Release | undefined): Promise<void> {
    const isMinute = Math.abs(clock() - lookedAtDone) >= DONE_LOOK_MS
    if (isMinute) lookedAtDone = clock()
    const rows = await db
      .selectFrom('gateway_updates')
      .innerJoin('gateways', 'gateways.id', 'gateway_updates.gateway_id')
      .selectAll('gateway_updates')
      .select('gateways.name')
      .where('state', 'in', isMinute ? ['asked', 'skipped', 'done'] : ['asked', 'skipped'])
      .execute()
    for (const row of rows) {
      const end = endOf(row, heartbeats.latest(row.gateway_id), release, clock())
      if (!end) continue
      await inTransaction(db, async (transaction) => {
        const now = clock()
        const { numUpdatedRows } = await transaction
          .updateTable('gateway_updates')
          .set({ ...end, ended_at: now })
          .where('gateway_id', '=', row.gateway_id)
          .where('attempt', '=', row.attempt)
          .where('state', '=', row.state)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return
        await record(transaction, {
          kind: 'update.ended',
          at: now,
          actor: HUB,
          target: row.gateway_id,
          gatewayId: row.gateway_id,
          data: { gatewayName: row.name, version: row.version, ...end },
        })
      })
    }
  }

  async function look(): Promise<void> {
    const release = await currentRelease()
    await endRequests(release)
    if (release) await automatic.goOn(release)
  }

  const tasks = createTasks({
    log: options.log,
    name: 'updates',
    on: 'one hub',
    failure: 'could not follow the updates of gateways',
  })
  return {
    wanted: async (gatewayId) => (await readAsked()).get(gatewayId),
    list,
    async request(gatewayIds, act) {
      const release = await requireRelease()
      await inTransaction(db, async (transaction) => {
        for (const id of new Set(gatewayIds)) {
          const gateway = await gatewaysIn(transaction, scopeOf(act.actor))
            .select(['id', 'name'])
            .where('id', '=', id)
            .executeTakeFirst()
          if (!gateway) throw new HubError('gateway_not_found')
          if (!canUpdate(heartbeats.latest(id)?.content, release)) throw new HubError('gateway_cannot_update')
          await putRequest(transaction, gateway, release, act)
        }
      })
      return list()
    },
    async resume(act) {
      await automatic.resume(await requireRelease(), act)
      return list()
    },
    async stopRollout(act) {
      await automatic.stop(await requireRelease(), act)
      return list()
    },
    async skip(gatewayId, act) {
      await automatic.skip(gatewayId, act)
      return list()
    },
    async saveSite(site, act) {
      await saveSite(db, site, act)
      return list()
    },
    async trouble() {
      const release = await currentRelease()
      const rollout = release && (await automatic.describe(release))
      if (!rollout) return undefined
      const about = `Automatic updates to version ${release.version}`
      if (rollout.state === 'stopped') return `${about} stopped: ${rollout.message}`
      const { message } = rollout.held[0] ?? {}
      return message === undefined ? undefined : `${about} wait: ${message}`
    },
    look,
    start: () => tasks.every(LOOK_INTERVAL_MS, look),
    stop: () => tasks.stop(),
  }
}

function toUpdate(
  row: RequestRow,
  content: Heartbeat | undefined,
): NonNullable<Versions['gateways'][number]['update']> {
  return {
    number: row.number,
    version: row.version,
    state: row.state,
    message: row.state === 'asked' ? progressOf(row, content) : row.message,
    by: row.by_name,
    askedAt: new Date(row.asked_at).toISOString(),
    endedAt: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
  }
}
