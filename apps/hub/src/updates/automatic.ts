/** Automatic updates to a release, in rings. A gateway that holds the next ring back is reported. */
import type { Heartbeat, Versions } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, HUB, nameOf, record, type Act } from '../facts/facts.ts'
import { findGateway } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import { HubError } from '../kernel/hub-error.ts'
import { canUpdate, HEARD_WITHIN_MS, progressOf, putRequest, whyUnwell, type Release } from './requests.ts'
import { findHeld, isBetween, isLastRing, planRollout, type RolloutRow } from './rollout.ts'
import { automaticOf, readSites, type AutomaticSettings } from './sites.ts'

export type Heartbeats = { latest(gatewayId: string): { at: number; content: Heartbeat } | undefined }

export function createAutomaticUpdates(options: {
  db: Kysely<Tables>
  clock: () => number
  heartbeats: Heartbeats
  settings: () => Promise<AutomaticSettings>
  log: Logger
}) {
  const { db, clock, heartbeats, log } = options

  const readAutomatic = async () => automaticOf(await readSites(db), await options.settings())
  const isAutomatic = (to: Db, release: Release) =>
    to.selectFrom('gateway_updates').selectAll().where('number', '=', release.number).where('by_name', 'is', null)

  /** The gateways with automatic updates, and those of them that can get the release and were not asked. */
  async function survey(release: Release, automatic: Awaited<ReturnType<typeof readAutomatic>>) {
    const rows = await isAutomatic(db, release).execute()
    // What failed at a person's request is for people to try again.
    const unavailable = await db
      .selectFrom('gateway_updates')
      .select('gateway_id')
      .where((row) =>
        row.or([
          row('state', '=', 'asked'),
          row.and([row('state', '=', 'failed'), row('number', '=', release.number)]),
        ]),
      )
      .execute()
    const isUnavailable = new Set(unavailable.map(({ gateway_id: id }) => id))
    const gateways = await db.selectFrom('gateways').select(['id', 'name', 'site_id']).orderBy('id').execute()
    const isSkipped = new Set(rows.flatMap(({ state, gateway_id: id }) => (state === 'skipped' ? [id] : [])))
    const left = gateways.filter(
      ({ id, site_id }) =>
        automatic.isOn(site_id) && !isUnavailable.has(id) && canUpdate(heartbeats.latest(id)?.content, release),
    )
    const names = new Map(gateways.map(({ id, name }) => [id, name]))
    const mustBeWell = isBetween(rows)
    const requests = rows.map((row) => ({
      ...row,
      name: names.get(row.gateway_id)!,
      unwell:
        mustBeWell && row.state === 'done'
          ? whyUnwell(release.number, heartbeats.latest(row.gateway_id), clock())
          : undefined,
    }))
    // Skipped gateways wait for all others.
    const [skipped, others] = [left.filter(({ id }) => isSkipped.has(id)), left.filter(({ id }) => !isSkipped.has(id))]
    const held = () => {
      if (others.length === 0) return []
      const seen = requests.map((row) => {
        const heard = heartbeats.latest(row.gateway_id)
        return { ...row, heardAt: heard?.at, progress: progressOf(row, heard?.content) }
      })
      return findHeld(seen, clock())
    }
    return { requests, left: isLastRing(requests) ? [...others, ...skipped] : others, held }
  }

  async function goOn(release: Release): Promise<void> {
    const now = clock()
    const automatic = await readAutomatic()
    if (!automatic.isAnywhere) return
    const rollout = await findRollout(db, release.number)
    if (rollout?.state === 'stopped') return
    const { requests, left, held } = await survey(release, automatic)
    const heard = left.filter(({ id }) => now - heartbeats.latest(id)!.at < HEARD_WITHIN_MS)
    const candidates = heard.filter(({ site_id }) => automatic.isNow(site_id, now))
    const [later, away] = [heard.length - candidates.length, left.length - heard.length]
    const plan = planRollout(requests, { candidates: candidates.length, later, away, now })
    // Before the first gateway may be asked there is nothing to tell.
    if (
      rollout
        ? plan.state !== rollout.state || plan.message !== rollout.message || plan.requests > 0
        : plan.requests > 0
    )
      await inTransaction(db, (transaction) => carryOut(transaction, release, { rollout, plan, candidates, now }))
    if (plan.state === 'running') await reportHeld(release, held())
  }

  async function carryOut(
    transaction: Transaction<Tables>,
    release: Release,
    {
      rollout,
      plan: { state, message, requests },
      candidates,
      now,
    }: {
      rollout: RolloutRow | undefined
      plan: ReturnType<typeof planRollout>
      candidates: readonly { id: string; name: string }[]
      now: number
    },
  ): Promise<void> {
    const { number, version } = release
    await transaction
      .insertInto('rollouts')
      .values({ number, version, state, message, started_at: now })
      .onConflict((conflict) => conflict.column('number').doUpdateSet({ state, message }))
      .execute()
    const about = { at: now, actor: HUB, target: version }
    if (!rollout) await record(transaction, { kind: 'rollout.started', ...about, data: { version } })
    for (const gateway of candidates.slice(0, requests)) await putRequest(transaction, gateway, release, { now })
    if (state !== 'stopped') return
    await withdraw(transaction, release, now)
    await record(transaction, { kind: 'rollout.stopped', ...about, data: { version, message } })
  }

  /** Takes the open requests back. */
  async function withdraw(transaction: Transaction<Tables>, { number, version }: Release, now: number): Promise<void> {
    const withdrawn = await transaction
      .deleteFrom('gateway_updates')
      .where('number', '=', number)
      .where('by_name', 'is', null)
      .where('state', '=', 'asked')
      .returning('gateway_id')
      .execute()
    const about = { at: now, actor: HUB, target: version, data: {} }
    for (const { gateway_id: id } of withdrawn)
      await record(transaction, { kind: 'update.withdrawn', ...about, gatewayId: id, target: id })
  }

  /** Records, once for each request, that the others wait for it. */
  async function reportHeld(release: Release, held: ReturnType<typeof findHeld>): Promise<void> {
    for (const { gateway_id: id, attempt, held_at: reportedAt, message } of held) {
      if (reportedAt !== null) continue
      await inTransaction(db, async (transaction) => {
        const now = clock()
        const { numUpdatedRows } = await transaction
          .updateTable('gateway_updates')
          .set({ held_at: now })
          .where('gateway_id', '=', id)
          .where('attempt', '=', attempt)
          .where('state', 'in', ['asked', 'done'])
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return
        const { version } = release
        const about = { at: now, actor: HUB, target: id, gatewayId: id }
        await record(transaction, { kind: 'rollout.held', ...about, data: { version, message } })
      })
      log.warn({ gatewayId: id, version: release.version }, `automatic updates wait: ${message}`)
    }
  }

  /** Null before they began, and while they are switched off. */
  async function describe(release: Release): Promise<Versions['rollout']> {
    const automatic = await readAutomatic()
    const rollout = automatic.isAnywhere && (await findRollout(db, release.number))
    if (!rollout) return null
    const { state, message } = rollout
    if (state === 'stopped') return { state, message, held: [] }
    const held = (await survey(release, automatic)).held()
    return {
      state,
      message,
      held: held.map(({ gateway_id: id, name, message: reason }) => ({ id, name, message: reason })),
    }
  }

  return {
    goOn,
    describe,
    /** Throws `rollout_not_stopped`. */
    resume: (release: Release, act: Act) =>
      inTransaction(db, async (transaction) => {
        const { number, version } = release
        const rollout = await findRollout(transaction, number)
        if (rollout?.state !== 'stopped') throw new HubError('rollout_not_stopped')
        await transaction
          .updateTable('rollouts')
          .set({ state: 'running', message: 'Goes on in a moment.' })
          .where('number', '=', number)
          .execute()
        await transaction
          .deleteFrom('gateway_updates')
          .where('number', '=', number)
          .where('by_name', 'is', null)
          .where('state', '=', 'failed')
          .execute()
        const about = { ...by(act), target: version }
        await record(transaction, { kind: 'rollout.resumed', ...about, data: { version } })
      }),
    /** Throws `rollout_not_running`. */
    stop: (release: Release, act: Act) =>
      inTransaction(db, async (transaction) => {
        const { number, version } = release
        const { numUpdatedRows } = await transaction
          .updateTable('rollouts')
          .set({ state: 'stopped', message: `${nameOf(act.actor)} stopped them.` })
          .where('number', '=', number)
          .where('state', '=', 'running')
          .executeTakeFirst()
        if (numUpdatedRows === 0n) throw new HubError('rollout_not_running')
        const now = clock()
        await withdraw(transaction, release, now)
        const about = { ...by(act), target: version }
        await record(transaction, { kind: 'rollout.stopped-by-hand', ...about, data: { version } })
      }),
    /** Throws `gateway_not_found` and `update_not_open`. */
    skip: (gatewayId: string, act: Act) =>
      inTransaction(db, async (transaction) => {
        const gateway = await findGateway(transaction, scopeOf(act.actor), gatewayId)
        const now = clock()
        const skipped = await transaction
          .updateTable('gateway_updates')
          .set({ state: 'skipped', message: `${nameOf(act.actor)} skipped it.`, ended_at: now })
          .where('gateway_id', '=', gatewayId)
          .where('by_name', 'is', null)
          .where((row) =>
            row.or([row('state', '=', 'asked'), row.and([row('state', '=', 'done'), row('held_at', 'is not', null)])]),
          )
          .returning('version')
          .executeTakeFirst()
        if (!skipped) throw new HubError('update_not_open')
        const about = { ...by(act), target: gatewayId, gatewayId }
        const data = { gatewayName: gateway.name, version: skipped.version }
        await record(transaction, { kind: 'update.skipped', ...about, data })
      }),
  }
}

const findRollout = (db: Db, number: number): Promise<RolloutRow | undefined> =>
  db.selectFrom('rollouts').selectAll().where('number', '=', number).executeTakeFirst()
