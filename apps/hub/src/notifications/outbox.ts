/**
 * The rows of outgoing messages. They are written in the transaction of the change, each under a unique key, so that
 * each is sent once and neither a crash nor an unavailable mail server loses it.
 */
import type { Transaction } from 'kysely'
import { LONGEST_WAIT_MS } from '../database/clock-leaps.ts'
import type { Db, Tables } from '../database/tables.ts'
import type { Message } from './channel.ts'
import type { Content, Row } from './messages.ts'

const ATTEMPTS_MAX = 10
const FIRST_RETRY_MS = 30_000
const LAST_RETRY_MS = 3_600_000
/** The kind of the messages that "Send test" writes. */
export const TEST = 'test'

type Written = Pick<Row, 'key' | 'channel' | 'kind' | 'alert_id'> & {
  content: Content
  /** A message with the same key that still waits becomes this one. */
  grows: boolean
}

/** Times are milliseconds since 1970. A message is not written again when its key and channel exist. */
export async function write(
  transaction: Transaction<Tables>,
  { content, grows, ...row }: Written,
  { now, dueAt }: { now: number; dueAt: number },
): Promise<void> {
  if (grows) {
    const { numUpdatedRows } = await transaction
      .updateTable('notifications')
      .set({ content: JSON.stringify(content) })
      .where('key', '=', row.key)
      .where('channel', '=', row.channel)
      .where('state', '=', 'waiting')
      .executeTakeFirst()
    if (numUpdatedRows > 0n) return
  }
  await insert(transaction, {
    ...row,
    content,
    state: 'waiting',
    attempts: 0,
    created_at: now,
    due_at: dueAt,
    error: null,
    attempted_at: null,
  })
}

/** A test counts as its channel's last outcome, and is in the log. */
export async function writeTest(
  db: Db,
  { channel, message, error, now }: { channel: string; message: Message; error: string | null; now: number },
): Promise<void> {
  const { id, title, text, data } = message
  await insert(db, {
    key: id,
    channel,
    kind: TEST,
    content: { title, text, data },
    state: error === null ? 'sent' : 'failed',
    attempts: 1,
    created_at: now,
    due_at: now,
    error,
    attempted_at: now,
  })
}

type NewRow = Omit<Row, 'id' | 'content' | 'alert_id' | 'sent_again'> & {
  content: Content
  alert_id?: Row['alert_id']
}

async function insert(db: Db, { content, ...row }: NewRow): Promise<void> {
  await db
    .insertInto('notifications')
    .values({ ...row, content: JSON.stringify(content) })
    .onConflict((conflict) => conflict.columns(['key', 'channel']).doNothing())
    .execute()
}

/** Due rows that only this call will send; of several concurrent calls, one gets each row. */
export async function claim(
  db: Db,
  { channel, limit, now }: { channel: Row['channel']; limit: number; now: number },
): Promise<Row[]> {
  const due = db
    .selectFrom('notifications')
    .select('id')
    .where('state', '=', 'waiting')
    .where('channel', '=', channel)
    .where(({ or, eb }) => or([eb('due_at', '<=', now), eb('due_at', '>', now + LONGEST_WAIT_MS)]))
    .orderBy('id')
    .limit(limit)
  const rows = await db
    .updateTable('notifications')
    .set((row) => ({ state: 'sending', attempts: row('attempts', '+', 1) }))
    .where('id', 'in', due)
    .where('state', '=', 'waiting')
    .returningAll()
    .execute()
  return rows.toSorted((a, b) => a.id - b.id)
}

/** The log shows what was sent. */
export async function putContent(db: Db, { id, content }: Row, current: Content): Promise<void> {
  const json = JSON.stringify(current)
  if (json !== content) await db.updateTable('notifications').set({ content: json }).where('id', '=', id).execute()
}

export async function withdraw(db: Db, { id }: Row): Promise<void> {
  await db.deleteFrom('notifications').where('id', '=', id).execute()
}

/** Marks rows as sent without a `problem`; else as due again later, or as given up. */
export async function putOutcome(
  db: Db,
  rows: readonly Row[],
  { problem, isLast, now }: { problem: string | undefined; isLast: boolean; now: number },
): Promise<void> {
  for (const { id, attempts } of rows) {
    const retryMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempts - 1))
    const outcome =
      problem === undefined
        ? { state: 'sent' as const, error: null }
        : isLast || attempts >= ATTEMPTS_MAX
          ? { state: 'failed' as const, error: problem }
          : { state: 'waiting' as const, error: problem, due_at: now + retryMs }
    await db
      .updateTable('notifications')
      .set({ ...outcome, attempted_at: now })
      .where('id', '=', id)
      .execute()
  }
}

/** Nobody knows whether these arrived before the hub stopped. Only the channels in `again` send them again. */
export async function settleInterrupted(
  db: Db,
  { again, now }: { again: readonly Row['channel'][]; now: number },
): Promise<void> {
  const interrupted = db.updateTable('notifications').where('state', '=', 'sending')
  if (again.length > 0) await interrupted.set({ state: 'waiting' }).where('channel', 'in', again).execute()
  const error = 'The hub stopped while this was being sent: it may have arrived.'
  await interrupted.set({ state: 'failed', error, attempted_at: now }).execute()
}

/**
 * Whether a message with this key still waits over all its channels, so that it may grow, and when it was or is due;
 * undefined when there is none.
 */
export async function waitsUnder(db: Db, key: string): Promise<{ isWaiting: boolean; dueAt: number } | undefined> {
  const rows = await db.selectFrom('notifications').select(['state', 'due_at']).where('key', '=', key).execute()
  if (rows.length === 0) return undefined
  const isWaiting = rows.every(({ state }) => state === 'waiting')
  // The time of the first channel counts, because a channel that fails may be put off for hours.
  return { isWaiting, dueAt: Math.min(...rows.map((row) => row.due_at)) }
}

/** The channels that have sent one of these messages, or will. */
export async function channelsOf(db: Db, keys: readonly string[]): Promise<Set<Row['channel']>> {
  const rows = db.selectFrom('notifications').select('channel').where('key', 'in', keys).where('state', '!=', 'failed')
  return new Set((await rows.execute()).map(({ channel }) => channel))
}

/** Tests do not count. */
export async function countMessages(db: Db): Promise<{ waiting: number; failed: number }> {
  const rows = await db
    .selectFrom('notifications')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('state', 'in', ['waiting', 'failed'])
    .where('kind', '!=', TEST)
    .groupBy('state')
    .execute()
  const count = (state: Row['state']) => Number(rows.find((row) => row.state === state)?.count ?? 0)
  return { waiting: count('waiting'), failed: count('failed') }
}
