/** Escalation: while nobody has acknowledged an alert, its rule notifies the next people, step by step. */
import { expressionBuilder, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import { LONGEST_WAIT_MS } from '../database/clock-leaps.ts'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HUB, record } from '../facts/facts.ts'
import { createTasks } from '../kernel/tasks.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { toldOf } from './alert-rows.ts'
import { fieldsOf } from './alert-rules.ts'
import { announceStep, nextStepAt } from './alerts.ts'
import { titleOf } from './words.ts'

const LOOK_INTERVAL_MS = 5_000

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
  notifications: Pick<Notifications, 'announce' | 'wake'>
}): AlertSteps {
  const { db, clock, log, notifications } = options
  const tasks = createTasks({ log, failure: 'could not send the next step of an alert' })

  async function look(): Promise<void> {
    const due = await db.selectFrom('alerts').select('id').where(isDue(clock())).orderBy('id').execute()
    for (const { id } of due) await tellNext(id)
    if (due.length > 0) notifications.wake()
  }

  /** One transaction for each alert; nothing is sent for one that was acknowledged meanwhile. */
  function tellNext(id: string): Promise<void> {
    return inTransaction(db, async (transaction) => {
      const now = clock()
      const alert = await transaction
        .updateTable('alerts')
        .set((row) => ({ step: row('step', '+', 1), next_step_at: null }))
        .where('id', '=', id)
        .where(isDue(now))
        .returningAll()
        .executeTakeFirst()
      if (!alert) return
      const rule = await transaction
        .selectFrom('alert_rules')
        .select('fields')
        .where('id', '=', alert.rule_id)
        .executeTakeFirst()
      const { steps, enabled } = rule ? fieldsOf(rule) : { steps: [], enabled: false }
      const step = steps[alert.step - 1]
      if (!step || !enabled) return
      await announceStep(transaction, alert, { ...step, step: alert.step, dueAt: now }, notifications)
      await transaction
        .updateTable('alerts')
        .set({ next_step_at: nextStepAt(steps[alert.step], now) })
        .where('id', '=', id)
        .execute()
      await record(transaction, {
        kind: 'alert.escalated',
        at: now,
        actor: HUB,
        target: id,
        gatewayId: alert.gateway_id ?? undefined,
        data: { title: titleOf(toldOf(alert)), ruleName: alert.rule_name, step: alert.step },
      })
    })
  }

  return {
    start: () => tasks.every(LOOK_INTERVAL_MS, look),
    look: () => tasks.run(look),
    stop: () => tasks.stop(),
  }
}

function isDue(now: number) {
  const eb = expressionBuilder<Tables, 'alerts'>()
  return eb.or([eb('next_step_at', '<=', now), eb('next_step_at', '>', now + LONGEST_WAIT_MS)])
}
