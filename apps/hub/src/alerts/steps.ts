/**
 * Due alerts: people are told in the portal and by push when the alert's message is due. While nobody has acknowledged
 * it, the rule's steps notify further people.
 */
import type { AlertRuleFields } from '@hedgerow/contract'
import { expressionBuilder, type Kysely, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import { LONGEST_WAIT_MS } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import { createTasks } from '../kernel/tasks.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { aboutAlert, visibleList, type AlertRow } from './alert-rows.ts'
import { fieldsOf } from './alert-rules.ts'
import { announceStep, nextStepAt } from './alerts.ts'
import { notifyPeople } from './people.ts'
import { stillTrue, type HubNow } from './still-true.ts'

const LOOK_INTERVAL_MS = 2_000
const RAISED_AT_ONCE = 200

export type AlertSteps = {
  start(): void
  /** Sends every step that is due. */
  look(): Promise<void>
  stop(): Promise<void>
}

export function createAlertSteps(options: {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
  notifications: Pick<Notifications, 'announce'>
  hub: HubNow
}): AlertSteps {
  const { db, clock, log, notifications, hub } = options
  const tasks = createTasks({
    log,
    name: 'alert-steps',
    on: 'one hub',
    failure: 'could not send the next step of an alert',
  })

  async function look(): Promise<void> {
    const raised = await db
      .selectFrom('alerts')
      .select('id')
      .where(isDue('people_due_at', clock()))
      .orderBy('people_due_at')
      .limit(RAISED_AT_ONCE)
      .execute()
    for (const { id } of raised) await raise(id)
    const due = await db.selectFrom('alerts').select('id').where(isDue('next_step_at', clock())).orderBy('id').execute()
    for (const { id } of due) await sendNext(id)
  }

  /** Sends an alert that is due: no more incidents join it. An outage that is already over is left out. */
  function raise(id: string): Promise<void> {
    return inTransaction(db, async (transaction) => {
      const now = clock()
      const stored = await transaction
        .updateTable('alerts')
        .set({ people_due_at: null })
        .where('id', '=', id)
        .where(isDue('people_due_at', now))
        .returningAll()
        .executeTakeFirst()
      if (!stored) return
      const current = await stillTrue(transaction, stored, hub)
      const alert = visibleList(current, undefined) ? current : stored
      const { lines, counts } = alert
      await transaction.updateTable('alerts').set({ lines, counts }).where('id', '=', id).execute()
      const rule = await readRule(transaction, alert)
      if (rule?.enabled && alert.acknowledged_at === null)
        await notifyPeople(transaction, current, { ...rule, step: 0, now }, notifications)
      await record(transaction, { kind: 'alert.raised', ...aboutAlert(alert, now) })
    })
  }

  /** One transaction for each alert; nothing is sent for one that was acknowledged meanwhile, or is over. */
  function sendNext(id: string): Promise<void> {
    return inTransaction(db, async (transaction) => {
      const now = clock()
      const stored = await transaction
        .updateTable('alerts')
        .set((row) => ({ step: row('step', '+', 1), next_step_at: null }))
        .where('id', '=', id)
        .where(isDue('next_step_at', now))
        .returningAll()
        .executeTakeFirst()
      const alert = stored && (await stillTrue(transaction, stored, hub))
      if (!alert || !visibleList(alert, undefined)) return
      const rule = await readRule(transaction, alert)
      const step = rule?.steps[alert.step - 1]
      if (!rule?.enabled || !step) return
      const { language, breaksThrough } = rule
      const delivery = { ...step, language, breaksThrough, step: alert.step, now, dueAt: now }
      await announceStep(transaction, alert, delivery, notifications)
      await notifyPeople(transaction, alert, delivery, notifications)
      await transaction
        .updateTable('alerts')
        .set({ next_step_at: nextStepAt(rule.steps[alert.step], now) })
        .where('id', '=', id)
        .execute()
      const { data, ...about } = aboutAlert(alert, now)
      await record(transaction, { ...about, kind: 'alert.escalated', data: { ...data, step: alert.step } })
    })
  }

  return {
    start: () => tasks.every(LOOK_INTERVAL_MS, look),
    look: () => tasks.run(look),
    stop: () => tasks.stop(),
  }
}

function isDue(column: 'next_step_at' | 'people_due_at', now: number) {
  const eb = expressionBuilder<Tables, 'alerts'>()
  return eb.or([eb(column, '<=', now), eb(column, '>', now + LONGEST_WAIT_MS)])
}

async function readRule(transaction: Transaction<Tables>, alert: AlertRow): Promise<AlertRuleFields | undefined> {
  const rule = transaction.selectFrom('alert_rules').select('fields').where('id', '=', alert.rule_id)
  const row = await rule.executeTakeFirst()
  return row && fieldsOf(row)
}
