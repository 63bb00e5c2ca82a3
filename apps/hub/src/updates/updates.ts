/**
 * Updates of agents: which release the hub asks each gateway to run. A request is a row; the answers to the gateway's
 * heartbeats name it until the gateway runs the release, or says that it failed. This module does not decide what may
 * be installed: gateways trust only signed lists.
 */
import type { Heartbeat, HubSettings, HubVersion, Versions, WantedUpdate } from '@hedgerow/contract'
import type { Kysely, Selectable } from 'kysely'
import type { Logger } from 'pino'
import type { Caller } from '../access/sessions.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Downloads } from '../downloads/downloads.ts'
import { actorOf, dropAfter, HUB, record } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createTasks } from '../kernel/tasks.ts'
import { isWithinHours, planRollout, type RolloutRow } from './rollout.ts'

type Row = Selectable<Tables['gateway_updates']>
type Release = { version: string; number: number; platforms: readonly string[] }

const LOOK_INTERVAL_MS = 5_000
/** Automatic updates skip a gateway whose last heartbeat is older than this. */
const HEARD_WITHIN_MS = 120_000

export type Updates = {
  /** The update to name in the answer to a heartbeat. */
  wanted(gatewayId: string): Promise<WantedUpdate | undefined>
  /** With `search`, the gateways whose name or location contains it. */
  list(search?: string): Promise<Versions>
  /** Throws `no_release`, `gateway_not_found` and `gateway_cannot_update`. */
  ask(gatewayIds: readonly string[], by: { caller: Caller; sourceIp: string }): Promise<Versions>
  /** Throws `no_release` and `rollout_not_stopped`. */
  resume(by: { caller: Caller; sourceIp: string }): Promise<Versions>
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
  heartbeats: { latest(gatewayId: string): { at: number; content: Heartbeat } | undefined }
  automatic: () => Promise<Pick<HubSettings, 'automaticUpdates' | 'automaticUpdateHours'>>
  hubVersion: () => HubVersion
  log: Logger
}): Updates {
  const { db, clock, downloads, heartbeats, automatic } = options
  let asked: Promise<ReadonlyMap<string, WantedUpdate>> | undefined
  dropAfter(db, 'asked-updates', ['update.asked', 'update.ended', 'update.withdrawn', 'gateway.deleted'], () => {
    asked = undefined
  })

  async function readAsked(): Promise<ReadonlyMap<string, WantedUpdate>> {
    const rows = await db.selectFrom('gateway_updates').selectAll().where('state', '=', 'asked').execute()
    return new Map(
      rows.map(({ gateway_id: id, number, attempt, by_name: by }) => [id, { number, attempt, byHand: by !== null }]),
    )
  }

  async function currentRelease(): Promise<Release | undefined> {
    const agent = await downloads.agent()
    return agent && { ...agent, platforms: agent.files.map(({ platform }) => platform) }
  }

  function canUpdate(content: Heartbeat | undefined, release: Release | undefined): boolean {
    const runs = content?.release
    return !!runs && !!release && release.platforms.includes(runs.platform) && runs.number < release.number
  }

  async function put(
    to: Db,
    gateway: { id: string; name: string },
    release: Release,
    by: { caller: Caller; sourceIp: string } | undefined,
  ): Promise<void> {
    const now = clock()
    const before = await to
      .selectFrom('gateway_updates')
      .select('attempt')
      .where('gateway_id', '=', gateway.id)
      .executeTakeFirst()
    const row = {
      number: release.number,
      version: release.version,
      // Greater than any earlier one, also after the clock was set back.
      attempt: Math.max(now, (before?.attempt ?? 0) + 1),
      by_name: by?.caller.username ?? null,
      state: 'asked' as const,
      message: '',
      asked_at: now,
      ended_at: null,
    }
    await to
      .insertInto('gateway_updates')
      .values({ gateway_id: gateway.id, ...row })
      .onConflict((conflict) => conflict.column('gateway_id').doUpdateSet(row))
      .execute()
    await record(to, {
      kind: 'update.asked',
      at: now,
      actor: by ? actorOf(by) : HUB,
      target: gateway.id,
      gatewayId: gateway.id,
      data: { gatewayName: gateway.name, version: release.version },
    })
  }

  async function list(search = ''): Promise<Versions> {
    const release = await currentRelease()
    const gateways = await db
      .selectFrom('gateways')
      .select(['id', 'name', 'location', 'version'])
      .orderBy('name')
      .execute()
    const updates = new Map(
      (await db.selectFrom('gateway_updates').selectAll().execute()).map((row) => [row.gateway_id, row]),
    )
    const rollout = release && (await automatic()).automaticUpdates && (await findRollout(db, release.number))
    const shown = gateways.map(({ id, name, location, version }) => {
      const content = heartbeats.latest(id)?.content
      const row = updates.get(id)
      return {
        id,
        name,
        location: location ?? '',
        version: content?.version ?? version ?? '',
        canUpdate: canUpdate(content, release) && row?.state !== 'asked',
        update: row ? toUpdate(row, content) : null,
      }
    })
    const sought = search.toLocaleLowerCase()
    const isFound = ({ name, location }: (typeof shown)[number]) =>
      [name, location].some((text) => text.toLocaleLowerCase().includes(sought))
    const counts = Map.groupBy(shown, ({ version }) => version)
    return {
      hub: options.hubVersion(),
      release: release ? { version: release.version, number: release.number } : null,
      rollout: rollout ? { state: rollout.state, message: rollout.message } : null,
      counts: [...counts]
        .map(([version, { length }]) => ({ version, gateways: length }))
        .toSorted((a, b) => b.gateways - a.gateways || (a.version < b.version ? 1 : -1)),
      gateways: search === '' ? shown : shown.filter(isFound),
    }
  }

  /** Ends requests by the gateways' latest reports. */
  async function endRequests(release: Release | undefined): Promise<void> {
    const rows = await db
      .selectFrom('gateway_updates')
      .innerJoin('gateways', 'gateways.id', 'gateway_updates.gateway_id')
      .selectAll('gateway_updates')
      .select('gateways.name')
      .where('state', '=', 'asked')
      .execute()
    for (const row of rows) {
      const end = endOf(row, heartbeats.latest(row.gateway_id)?.content, release)
      if (!end) continue
      await inTransaction(db, async (transaction) => {
        const now = clock()
        const { numUpdatedRows } = await transaction
          .updateTable('gateway_updates')
          .set({ ...end, ended_at: now })
          .where('gateway_id', '=', row.gateway_id)
          .where('attempt', '=', row.attempt)
          .where('state', '=', 'asked')
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

  async function goOn(release: Release): Promise<void> {
    const now = clock()
    const known = await findRollout(db, release.number)
    const rollout: RolloutRow = known ?? {
      number: release.number,
      version: release.version,
      state: 'running',
      message: '',
      started_at: now,
    }
    if (rollout.state === 'stopped') return
    const rows = await db
      .selectFrom('gateway_updates')
      .selectAll()
      .where('number', '=', release.number)
      .where('by_name', 'is', null)
      .execute()
    const busy = await db.selectFrom('gateway_updates').select('gateway_id').where('state', '=', 'asked').execute()
    const isAsked = new Set(busy.map(({ gateway_id: id }) => id))
    const gateways = await db.selectFrom('gateways').select(['id', 'name']).orderBy('id').execute()
    const candidates = gateways.filter(({ id }) => {
      const heard = heartbeats.latest(id)
      return heard && now - heard.at < HEARD_WITHIN_MS && !isAsked.has(id) && canUpdate(heard.content, release)
    })
    const plan = planRollout(rows, { candidates: candidates.length, now })
    if (known && plan.state === known.state && plan.message === known.message && plan.ask === 0) return
    await inTransaction(db, async (transaction) => {
      const { state, message } = plan
      await transaction
        .insertInto('rollouts')
        .values({ ...rollout, state, message })
        .onConflict((conflict) => conflict.column('number').doUpdateSet({ state, message }))
        .execute()
      const about = { at: now, actor: HUB, target: release.version }
      if (!known) await record(transaction, { kind: 'rollout.started', ...about, data: { version: release.version } })
      for (const gateway of candidates.slice(0, plan.ask)) await put(transaction, gateway, release, undefined)
      if (state !== 'stopped') return
      const withdrawn = await transaction
        .deleteFrom('gateway_updates')
        .where('number', '=', release.number)
        .where('by_name', 'is', null)
        .where('state', '=', 'asked')
        .returning('gateway_id')
        .execute()
      for (const { gateway_id: id } of withdrawn)
        await record(transaction, { kind: 'update.withdrawn', ...about, target: id, gatewayId: id, data: {} })
      await record(transaction, { kind: 'rollout.stopped', ...about, data: { version: release.version, message } })
    })
  }

  async function look(): Promise<void> {
    const release = await currentRelease()
    await endRequests(release)
    const { automaticUpdates, automaticUpdateHours: hours } = await automatic()
    if (release && automaticUpdates && isWithinHours(hours, clock())) await goOn(release)
  }

  const tasks = createTasks({ log: options.log, failure: 'could not follow the updates of gateways' })
  return {
    async wanted(gatewayId) {
      const reading = (asked ??= readAsked())
      reading.catch(() => {
        if (asked === reading) asked = undefined
      })
      return (await reading).get(gatewayId)
    },
    list,
    async ask(gatewayIds, by) {
      const release = await currentRelease()
      if (!release) throw new HubError('no_release')
      await inTransaction(db, async (transaction) => {
        for (const id of new Set(gatewayIds)) {
          const gateway = await transaction
            .selectFrom('gateways')
            .select(['id', 'name'])
            .where('id', '=', id)
            .executeTakeFirst()
          if (!gateway) throw new HubError('gateway_not_found')
          if (!canUpdate(heartbeats.latest(id)?.content, release)) throw new HubError('gateway_cannot_update')
          await put(transaction, gateway, release, by)
        }
      })
      return list()
    },
    async resume(by) {
      const release = await currentRelease()
      if (!release) throw new HubError('no_release')
      await inTransaction(db, async (transaction) => {
        const rollout = await findRollout(transaction, release.number)
        if (rollout?.state !== 'stopped') throw new HubError('rollout_not_stopped')
        await transaction
          .updateTable('rollouts')
          .set({ state: 'running', message: '' })
          .where('number', '=', release.number)
          .execute()
        await transaction
          .deleteFrom('gateway_updates')
          .where('number', '=', release.number)
          .where('by_name', 'is', null)
          .where('state', '=', 'failed')
          .execute()
        const about = { at: clock(), actor: actorOf(by), target: release.version }
        await record(transaction, { kind: 'rollout.resumed', ...about, data: { version: release.version } })
      })
      return list()
    },
    look,
    start: () => tasks.every(LOOK_INTERVAL_MS, look),
    stop: () => tasks.stop(),
  }
}

const findRollout = (db: Db, number: number): Promise<RolloutRow | undefined> =>
  db.selectFrom('rollouts').selectAll().where('number', '=', number).executeTakeFirst()

/** The outcome of a request by the gateway's last report; undefined while it goes on. */
function endOf(row: Row, content: Heartbeat | undefined, release: Release | undefined) {
  if (content?.release && content.release.number >= row.number && content.update?.state !== 'trying')
    return { state: 'done' as const, message: '' }
  if (content?.update?.state === 'failed' && content.update.attempt === row.attempt)
    return { state: 'failed' as const, message: content.update.message }
  if (release && release.number !== row.number)
    return { state: 'failed' as const, message: `The hub hands out ${release.version} now.` }
  return undefined
}

const WORDS = { waiting: 'Waits', fetching: 'Fetches it', trying: 'Tries it', failed: 'Failed' }

function toUpdate(row: Row, content: Heartbeat | undefined): NonNullable<Versions['gateways'][number]['update']> {
  const told = content?.update?.attempt === row.attempt ? content.update : undefined
  const progress = told ? [WORDS[told.state], told.message].filter(Boolean).join(': ') : ''
  return {
    number: row.number,
    version: row.version,
    state: row.state,
    message: row.state === 'asked' ? progress : row.message,
    by: row.by_name,
    askedAt: new Date(row.asked_at).toISOString(),
    endedAt: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
  }
}
