/** Tells people of an alert: a notice in the portal, and a push message to each of their browsers. */
import type { AlertPreferences, AlertStep } from '@hedgerow/contract'
import type { Transaction } from 'kysely'
import { gatewayIdsIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { readSetting } from '../settings/settings.ts'
import { visibleList, type AlertRow } from './alert-rows.ts'
import { EVENTS, keysOf } from './alerts.ts'
import { contentOf } from './contents.ts'
import { countUnread, putNotice } from './notices.ts'
import { readPreferences } from './preferences.ts'
import { afterQuietHours } from './quiet-hours.ts'
import type { Stage, LineList } from './words.ts'

type Step = Pick<AlertStep, 'channels' | 'people'> & { step: Stage; now: number; breaksThrough: boolean }
type Person = { id: string; role: Tables['users']['role'] }

/** Each person gets what they may see, in their language; push messages wait for the end of their quiet hours. */
export async function notifyPeople(
  transaction: Transaction<Tables>,
  alert: AlertRow,
  step: Step,
  { announce }: Pick<Notifications, 'announce'>,
): Promise<void> {
  const enableNotifications = await readSetting(transaction, 'enableNotifications')
  if (!enableNotifications) return
  const isOver = (channel: string) => step.channels.length === 0 || step.channels.includes(channel)
  for (const person of await readPeople(transaction, step.people)) {
    const visible = visibleList(
      alert,
      await gatewayIdsIn(transaction, scopeOf({ role: person.role, userId: person.id })),
    )
    if (!visible) continue
    // A notice shows by itself that its alert is over.
    if (isOver('portal') && step.step !== 'cleared') await putNotice(transaction, person.id, alert.id, step.now)
    if (isOver('push')) await notifyBrowsers(transaction, { alert, list: visible, person, step }, announce)
  }
}

function readPeople(transaction: Transaction<Tables>, ids: readonly string[]): Promise<Person[]> {
  const people = transaction.selectFrom('users').select(['id', 'role']).where('active', '=', 1).orderBy('id')
  return (ids.length === 0 ? people : people.where('id', 'in', ids)).execute()
}

async function notifyBrowsers(
  transaction: Transaction<Tables>,
  { alert, list: visible, person, step }: { alert: AlertRow; list: LineList; person: Person; step: Step },
  announce: Notifications['announce'],
): Promise<void> {
  const browsers = await transaction
    .selectFrom('push_subscriptions')
    .select('id')
    .where('user_id', '=', person.id)
    .orderBy('id')
    .execute()
  if (browsers.length === 0) return
  const preferences: AlertPreferences = await readPreferences(transaction, person.id)
  const unread = await countUnread(transaction, person.id)
  for (const { id } of browsers)
    await announce(transaction, {
      ...contentOf(alert, visible, { step: step.step, reader: preferences }),
      ...keysOf(alert, step.step, id),
      alertId: alert.id,
      kind: EVENTS[alert.kind],
      dueAt: step.breaksThrough ? step.now : afterQuietHours(step.now, preferences),
      data: {},
      to: id,
      userId: person.id,
      push: { tag: alert.id, unread },
    })
}
