/** The notices of alerts that the portal shows a person until they have read them. */
import { randomBytes } from 'node:crypto'
import type { listNotices, ResponseOf } from '@hedgerow/contract'
import { gatewayIdsIn } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Caller } from '../access/sessions.ts'
import type { Db } from '../database/tables.ts'
import { toAlert, visibleList } from './alert-rows.ts'
import { readPreferences } from './preferences.ts'
import type { Line } from './words.ts'

const LISTED = 50
const ID_BYTES = 9

export async function readNoticesOf(db: Db, caller: Caller): Promise<ResponseOf<typeof listNotices>> {
  const rows = await db
    .selectFrom('notices')
    .innerJoin('alerts', 'alerts.id', 'notices.alert_id')
    .selectAll('alerts')
    .select('read_at')
    .where('user_id', '=', caller.userId)
    .orderBy('notices.at', 'desc')
    .orderBy('alert_id')
    .limit(LISTED)
    .execute()
  const own = await gatewayIdsIn(db, scopeOf(caller))
  const reader = await readPreferences(db, caller.userId)
  return {
    unread: await countUnread(db, caller.userId),
    notices: rows.flatMap((row) => {
      const visible = visibleList(row, own)
      return visible ? [{ ...toAlert(row, visible, reader), isRead: row.read_at !== null }] : []
    }),
  }
}

/** A step of the rule makes the notice new again. */
export async function putNotice(db: Db, userId: string, alertId: string, at: number): Promise<void> {
  await db
    .insertInto('notices')
    .values({ user_id: userId, alert_id: alertId, at, read_at: null })
    .onConflict((conflict) => conflict.columns(['user_id', 'alert_id']).doUpdateSet({ at, read_at: null }))
    .execute()
}

/** Tests the portal's own channel: a notice for this person only. */
export async function putTestNotice(db: Db, { userId }: Caller, at: number): Promise<void> {
  const id = randomBytes(ID_BYTES).toString('base64url')
  const line: Line = {
    kind: 'test',
    id,
    gatewayId: '',
    gatewayName: '',
    camera: '',
    label: '',
    detail: '',
    coverId: null,
    startedAt: at,
  }
  await db
    .insertInto('alerts')
    .values({
      id,
      kind: 'test',
      rule_id: '',
      rule_name: 'Send test',
      number: 0,
      at,
      due_at: at,
      people_due_at: null,
      lines: JSON.stringify([line]),
      counts: JSON.stringify({ '': 1 }),
    })
    .execute()
  await putNotice(db, userId, id, at)
}

/** When somebody last got a notice, in milliseconds since 1970. */
export async function lastNoticeAt(db: Db): Promise<number | undefined> {
  const newest = await db.selectFrom('notices').select('at').orderBy('at', 'desc').limit(1).executeTakeFirst()
  return newest?.at
}

export async function markNoticesRead(db: Db, { userId }: Caller, now: number): Promise<void> {
  const unread = db.updateTable('notices').where('user_id', '=', userId).where('read_at', 'is', null)
  await unread.set({ read_at: now }).execute()
}

export async function countUnread(db: Db, userId: string): Promise<number> {
  const { n } = await db
    .selectFrom('notices')
    .select(({ fn }) => fn.countAll().as('n'))
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}
