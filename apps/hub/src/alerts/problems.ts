/**
 * Outages: gateways that are silent or have a warning, and cameras without a picture. A rule reports an outage once it
 * has lasted for the rule's hold-off, so that reboots are not reported, and sends one all-clear when all outages of a
 * message are over. The stored rows show which outages began or ended while the hub was off.
 */
import { language, type AlertRuleFields, type Heartbeat, type Language } from '@hedgerow/contract'
import { expressionBuilder, type Kysely, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import { LONGEST_WAIT_MS } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import type { FleetStatus, Statuses } from '../fleet/fleet.ts'
import { slices } from '../kernel/slices.ts'
import { createTasks } from '../kernel/tasks.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { aboutAlert, wholeList } from './alert-rows.ts'
import { fieldsOf } from './alert-rules.ts'
import { disarmedFor } from './alert-words.ts'
import { announceStep, markTold, MINUTE_MS, addLines, type Occurrence } from './alerts.ts'
import { matches } from './match.ts'
import { notifyPeople } from './people.ts'
import type { Line } from './words.ts'

const LOOK_INTERVAL_MS = 5_000
const DAY_MS = 86_400_000
/** Gateways that have been silent for longer are not reported. */
const NEWS_MS = 7 * DAY_MS
const SUBJECTS_AT_ONCE = 500

export type Problems = { start(): void; look(): Promise<void>; stop(): Promise<void> }

type ById = ReadonlyMap<string, FleetStatus>

export function createProblems(options: {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
  notifications: Pick<Notifications, 'announce' | 'waitsUnder' | 'wake'>
  statuses: Statuses
  camerasOf: (gatewayId: string) => Heartbeat['cameras']
}): Problems {
  const { db, clock, log, notifications, statuses, camerasOf } = options
  const tasks = createTasks({ log, name: 'problems', on: 'one hub', failure: 'could not report outages' })
  /**
   * The subjects of the last run, also those that no rule reports; undefined until the rows of the last run were read.
   */
  let previous: ReadonlySet<string> | undefined

  async function look(): Promise<void> {
    const fleet = new Map((await statuses()).map((gateway) => [gateway.id, gateway]))
    const now = clock()
    previous ??= new Set(
      (await db.selectFrom('alert_problems').select('subject').distinct().execute()).map((row) => row.subject),
    )
    const current = await subjectsOf([...fleet.values()], camerasOf, now, previous)
    const begun = [...current].filter(([subject]) => !previous!.has(subject))
    const ended = [...previous].filter((subject) => !current.has(subject))
    if (begun.length > 0) await begin(begun, fleet, now)
    for await (const subjects of slices(ended, SUBJECTS_AT_ONCE)) await end(subjects, fleet, now)
    previous = new Set(current.keys())
    await reportDue(current, fleet, now)
  }

  function begin(begun: readonly (readonly [string, Line])[], fleet: ById, now: number): Promise<void> {
    return inTransaction(db, async (transaction) => {
      const rules = await transaction.selectFrom('alert_rules').selectAll().orderBy('id').execute()
      for (const rule of rules) {
        const fields = { ...fieldsOf(rule), hours: null }
        const rows = begun
          .filter(([, line]) => {
            const { siteId, tags } = fleet.get(line.gatewayId)!
            return matches(fields, { ...line, siteId, tags, at: now, severity: 'alert', isValidated: true })
          })
          .map(([subject, line]) => ({
            rule_id: rule.id,
            subject,
            since: now,
            due_at: now + fields.holdOffMinutes * MINUTE_MS,
            line: JSON.stringify(line),
            alert_id: null,
          }))
        for await (const some of slices(rows, SUBJECTS_AT_ONCE))
          await transaction
            .insertInto('alert_problems')
            .values(some)
            .onConflict((conflict) => conflict.columns(['rule_id', 'subject']).doNothing())
            .execute()
      }
    })
  }

  function end(subjects: readonly string[], fleet: ById, now: number): Promise<void> {
    return inTransaction(db, async (transaction) => {
      const rows = await transaction
        .deleteFrom('alert_problems')
        .where('subject', 'in', subjects)
        .returning(['alert_id', 'line'])
        .execute()
      const byAlert = Map.groupBy(rows, ({ alert_id }) => alert_id ?? '')
      byAlert.delete('')
      for (const id of [...byAlert.keys()].toSorted()) {
        const lines = byAlert.get(id)!.map(({ line }) => JSON.parse(line) as Line)
        const removed = lines.filter((line) => isRemoved(line, fleet)).length
        await clear(transaction, { id, removed }, now)
      }
    })
  }

  /** The gateway was deleted, or has the camera no more. */
  function isRemoved({ kind, gatewayId, camera }: Line, fleet: ById): boolean {
    if (!fleet.has(gatewayId)) return true
    return kind === 'camera-dark' && camerasOf(gatewayId).every(({ name }) => name !== camera)
  }

  /**
   * Sends one all-clear when every outage of the alert is over; none when all of them were `removed`, because then
   * nothing recovered.
   */
  async function clear(
    transaction: Transaction<Tables>,
    { id, removed }: { id: string; removed: number },
    now: number,
  ): Promise<void> {
    const left = transaction.selectFrom('alert_problems').select('subject').where('alert_id', '=', id).limit(1)
    if (await left.executeTakeFirst()) return
    const open = transaction.selectFrom('alerts').selectAll().where('id', '=', id).where('cleared_at', 'is', null)
    const alert = await open.executeTakeFirst()
    if (!alert) return
    const rule = await transaction
      .selectFrom('alert_rules')
      .select('fields')
      .where('id', '=', alert.rule_id)
      .executeTakeFirst()
    const fields = rule && fieldsOf(rule)
    // A message that was never due starts no cool-down.
    const spared = alert.people_due_at === null ? 0 : (fields?.coolDownSeconds ?? 0) * 1_000
    const over = { cleared_at: now, next_step_at: null, people_due_at: null, due_at: alert.due_at - spared }
    await transaction.updateTable('alerts').set(over).where('id', '=', id).execute()
    await withdrawUnsent(transaction, id)
    await record(transaction, { kind: 'alert.cleared', ...aboutAlert(alert, now) })
    // A warning comes and goes: its end sends no message.
    if (!fields || alert.kind === 'gateway-warning' || removed >= wholeList(alert).count) return
    const delivery = { ...fields, ...readersOf(fields, alert.step), step: 'cleared' as const, dueAt: now, now }
    await announceStep(transaction, alert, delivery, notifications)
    await notifyPeople(transaction, alert, delivery, notifications)
  }

  /** One transaction for each rule. Outages that ended meanwhile have no row any more. */
  async function reportDue(current: ReadonlyMap<string, Line>, fleet: ById, now: number): Promise<void> {
    const due = await db
      .selectFrom('alert_problems')
      .select('rule_id')
      .distinct()
      .where('alert_id', 'is', null)
      .where(isDue(now))
      .execute()
    for (const { rule_id } of due)
      await inTransaction(db, async (transaction) => {
        const found = await transaction
          .selectFrom('alert_problems')
          .selectAll()
          .where('rule_id', '=', rule_id)
          .where('alert_id', 'is', null)
          .where(isDue(now))
          .orderBy('since')
          .orderBy('subject')
          .execute()
        const rows = found.filter(({ line }) => !isInMaintenance(line, fleet))
        for (const [kind, ofKind] of Map.groupBy(rows, ({ line }) => (JSON.parse(line) as Line).kind)) {
          const things = ofKind.map(({ subject, line }) => {
            const begun = JSON.parse(line) as Line
            // The reason says how long it lasts: at the beginning that was a moment.
            return thingOf(subject, { ...begun, detail: current.get(subject)?.detail ?? begun.detail }, now)
          })
          const fresh = kind === 'gateway-warning' ? await markTold(transaction, rule_id, things, now) : things
          const lines = fresh.map(({ line }) => line)
          const alertId = lines[0] && (await addLines(transaction, rule_id, lines, now, notifications))
          await transaction
            .updateTable('alert_problems')
            .set({ alert_id: alertId ?? '' })
            .where('rule_id', '=', rule_id)
            .where(
              'subject',
              'in',
              ofKind.map(({ subject }) => subject),
            )
            .execute()
        }
      })
    // No fact has told of it yet: alert.raised follows when people are told.
    if (due.length > 0) notifications.wake()
  }

  return {
    start: () => tasks.every(LOOK_INTERVAL_MS, look),
    look: () => tasks.run(look),
    stop: () => tasks.stop(),
  }
}

/** An outage that ended before its message was sent is no news: the message and its all-clear are not sent. */
async function withdrawUnsent(transaction: Transaction<Tables>, alertId: string): Promise<void> {
  const unsent = transaction.deleteFrom('notifications').where('alert_id', '=', alertId)
  await unsent.where('state', '=', 'waiting').where('attempts', '=', 0).execute()
}

/** The readers of an alert's message and of the steps that were sent. */
function readersOf({ people, steps }: AlertRuleFields, sentSteps: number) {
  const lists = [people, ...steps.slice(0, sentSteps).map((step) => step.people)]
  return { channels: [], people: lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())] }
}

/** What lasts longer than the maintenance is reported after it. */
function isInMaintenance(line: string, fleet: ById): boolean {
  return fleet.get((JSON.parse(line) as Line).gatewayId)?.isInMaintenance ?? false
}

function isDue(now: number) {
  const eb = expressionBuilder<Tables, 'alert_problems'>()
  return eb.or([eb('due_at', '<=', now), eb('due_at', '>', now + LONGEST_WAIT_MS)])
}

/** Warnings come and go: one a day is enough. */
function thingOf(subject: string, line: Line, now: number): Occurrence {
  return { at: now, line, once: `${subject} ${Math.floor(now / DAY_MS)}` }
}

/** The current outages, each under a name that does not change while it lasts. */
async function subjectsOf(
  fleet: readonly FleetStatus[],
  camerasOf: (gatewayId: string) => Heartbeat['cameras'],
  now: number,
  known: ReadonlySet<string>,
): Promise<Map<string, Line>> {
  const subjects = new Map<string, Line>()
  for await (const some of slices(fleet))
    for (const gateway of some) {
      const { id, status, lastSeenAt, disarmed } = gateway
      // A gateway that was never online cannot go offline.
      if (status === 'offline' && lastSeenAt !== undefined && now - lastSeenAt <= NEWS_MS)
        subjects.set(`quiet ${id}`, {
          ...lineOf(gateway, now),
          kind: 'gateway-quiet',
          detail: reasonOf(gateway),
          startedAt: lastSeenAt,
        })
      if (status === 'warning' && !gateway.isOnlyCameras)
        subjects.set(`warning ${id}`, { ...lineOf(gateway, now), kind: 'gateway-warning', detail: reasonOf(gateway) })
      // Somebody forgot to arm it: a reminder each day.
      const days = disarmed && disarmed.until === null ? Math.floor((now - disarmed.at) / DAY_MS) : 0
      if (disarmed && days > 0 && status !== 'offline')
        subjects.set(`disarmed ${id} ${days}`, {
          ...lineOf(gateway, now),
          kind: 'gateway-warning',
          detail: disarmedFor(disarmed.by, days),
        })
      for (const { name: camera, state } of camerasOf(id)) {
        // The state of a camera is unknown while its gateway is offline.
        const isBlind = state !== 'online' && state !== 'disabled'
        const isDark = status === 'offline' ? known.has(cameraSubject(id, camera)) : isBlind
        const sees = isBlind && state !== 'offline' && { sees: state }
        if (isDark)
          subjects.set(cameraSubject(id, camera), { ...lineOf(gateway, now), kind: 'camera-dark', camera, ...sees })
      }
    }
  return subjects
}

const cameraSubject = (gatewayId: string, camera: string) => `camera ${gatewayId} ${camera}`

function lineOf({ id, name, place }: FleetStatus, now: number) {
  return {
    id,
    gatewayId: id,
    gatewayName: name,
    site: place,
    camera: '',
    label: '',
    detail: '',
    coverId: null,
    startedAt: now,
  } as const
}

function reasonOf(gateway: FleetStatus): Line['detail'] {
  return Object.fromEntries(language.options.map((one) => [one, gateway.reasonIn(one)])) as Record<Language, string>
}
