/** The notices of alerts that the portal shows a person until they have read them. */
import type { listNotices, ResponseOf } from '@hedgerow/contract'
import type { Caller } from '../access/sessions.ts'
import type { Db } from '../database/tables.ts'
import { gatewaysOf, toAlert, toldTo } from './alert-rows.ts'

const LISTED = 50

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
  const own = await gatewaysOf(db, caller)
  return {
    unread: await countUnread(db, caller.userId),
    notices: rows.flatMap((row) => {
      const told = toldTo(row, own)
      return told ? [{ ...toAlert(row, told), isRead: row.read_at !== null }] : []
    }),
  }
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
