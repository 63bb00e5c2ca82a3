/**
 * What the message of an alert says. It is written with the alert, and again when it is sent, because a message may
 * wait for a cool-down, for a channel that failed or for the end of quiet hours: meanwhile outages end, requests are
 * decided, somebody makes room on the disk, and gateways get other owners.
 */
import { gatewayIdsIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Db } from '../database/tables.ts'
import type { Renew } from '../notifications/notifications.ts'
import { visibleList, type AlertRow } from './alert-rows.ts'
import { withDeeds } from './done.ts'
import { readPreferences, sharedReader } from './preferences.ts'
import { stillTrue, type HubNow } from './still-true.ts'
import type { Reader } from './seen.ts'
import { firstOf, messageOf, pathOf, type Stage, type LineList } from './words.ts'

type Row = Parameters<Renew>[0]
type Content = NonNullable<Awaited<ReturnType<Renew>>>
type MessageText = Required<Pick<Content, 'title' | 'text' | 'path' | 'step' | 'language'>> & Pick<Content, 'picture'>

export function contentOf(
  { id, rule_name: ruleName }: AlertRow,
  list: LineList,
  { step, reader }: { step: Stage; reader: Reader },
): MessageText {
  const { gatewayId, coverId } = firstOf(list.lines)
  return {
    ...messageOf(list, { step, ruleName }, reader),
    path: pathOf(list, id),
    step,
    language: reader.language,
    picture: coverId === null ? undefined : { gatewayId, detectionId: coverId },
  }
}

/** The content of a row of the outbox as of now; undefined when nothing in it is still true for its reader. */
export async function renewContent(db: Db, row: Row, hub: HubNow): Promise<Content | undefined> {
  const content = JSON.parse(row.content) as Content
  const { step, userId, language } = content
  const isRepeated = row.sent_again > 0
  if (row.alert_id === null)
    return isRepeated || row.kind !== 'registration.pending' || (await isPending(db, content)) ? content : undefined
  // Rows of an older hub do not say which message of the alert they are.
  if (step === undefined) return content
  // A shared message that somebody has sent again says what it said the first time.
  if (isRepeated && userId === undefined) return content
  const alert = await db.selectFrom('alerts').selectAll().where('id', '=', row.alert_id).executeTakeFirst()
  const reader = userId === undefined ? undefined : await readReader(db, userId)
  if (!alert || (userId !== undefined && !reader)) return undefined
  const current = isRepeated || step === 'cleared' ? alert : await stillTrue(db, alert, hub)
  const list = visibleList(current, reader && (await gatewayIdsIn(db, scopeOf(reader))))
  if (!list) return undefined
  return {
    ...content,
    ...contentOf(alert, await withDeeds(db, list), { step, reader: reader ?? (await sharedReader(db, language)) }),
    ...(reader && !content.push && { to: reader.email }),
  }
}

/** Whether nobody has decided the request yet that the message is about. */
async function isPending(db: Db, { data }: Content): Promise<boolean> {
  const query = db.selectFrom('registrations').select('id').where('id', '=', String(data['registrationId']))
  return (await query.where('status', '=', 'pending').executeTakeFirst()) !== undefined
}

async function readReader(db: Db, userId: string) {
  const user = await db
    .selectFrom('users')
    .select(['role', 'email'])
    .where('id', '=', userId)
    .where('active', '=', 1)
    .executeTakeFirst()
  return user && { ...(await readPreferences(db, userId)), ...user, userId }
}
