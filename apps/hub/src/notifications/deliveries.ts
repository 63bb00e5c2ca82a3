/** The outbox as a log for people: each message, its channel and its outcome. A person can have one sent again. */
import type { Delivery, listDeliveries as listCall, readNotificationChannels, ResponseOf } from '@hedgerow/contract'
import type { FastifyReply } from 'fastify'
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import { HubError } from '../kernel/hub-error.ts'
import { channelTypes } from './channels.ts'
import type { Content, Row } from './messages.ts'
import type { Notifications } from './notifications.ts'

const PAGE_LENGTH = 50

/** The channels that people share. A message of another channel is in the log when an alert sent it. */
const SHARED = channelTypes.filter(({ audience }) => audience === 'operators').map(({ name }) => name)

export async function listDeliveries(
  db: Db,
  { channel, state, ...paging }: z.output<typeof listCall.query>,
  reply: FastifyReply,
): Promise<Delivery[]> {
  const page = pageFrom(paging, ['number'], PAGE_LENGTH)
  let selection = logged(db).orderBy('id', 'desc')
  if (page.after) selection = selection.where('id', '<', Number(page.after[0]))
  if (channel !== undefined) selection = selection.where('channel', '=', channel)
  if (state !== undefined) selection = selection.where('state', '=', state)
  const rows = await selection.limit(page.rowsWanted ?? PAGE_LENGTH).execute()
  const shown = sendPage(reply, rows, page, ({ id }) => [id])
  return toDeliveries(db, shown)
}

/** Puts a message that was sent, was given up or has failed so far back into the outbox, due now. */
export async function sendAgain(
  db: Kysely<Tables>,
  id: number,
  notifications: Pick<Notifications, 'problemOf'>,
  act: Act,
): Promise<Delivery> {
  const delivery = await inTransaction(db, async (transaction) => {
    const row = await logged(transaction).where('id', '=', id).executeTakeFirst()
    if (!row) throw new HubError('delivery_not_found')
    const problem = await notifications.problemOf(transaction, row)
    if (problem !== undefined) throw new HubError('channel_off', { message: problem })
    const again = await transaction
      .updateTable('notifications')
      .set((columns) => ({
        state: 'waiting',
        attempts: 0,
        due_at: act.now,
        sent_again: columns('sent_again', '+', 1),
      }))
      .where('id', '=', id)
      .where(({ or, eb, and }) =>
        or([eb('state', 'in', ['sent', 'failed']), and([eb('state', '=', 'waiting'), eb('attempts', '>', 0)])]),
      )
      .returningAll()
      .executeTakeFirst()
    if (!again) throw new HubError('delivery_under_way')
    const { title } = contentOf(again)
    await record(transaction, {
      kind: 'notification.sent-again',
      ...by(act),
      target: String(id),
      data: { channel: again.channel, title },
    })
    return (await toDeliveries(transaction, [again]))[0]
  })
  if (!delivery) throw new HubError('delivery_not_found')
  return delivery
}

/** The newest attempt of each channel; none for one that was never used. */
export async function lastOutcomes(db: Db): Promise<ResponseOf<typeof readNotificationChannels>['last']> {
  const newest = await Promise.all(
    channelTypes.map(({ name }) =>
      db
        .selectFrom('notifications')
        .select(['channel', 'attempted_at', 'error'])
        .where('channel', '=', name)
        .where('attempted_at', 'is not', null)
        .orderBy('attempted_at', 'desc')
        .limit(1)
        .executeTakeFirst(),
    ),
  )
  return Object.fromEntries(
    newest.flatMap((row) => {
      const at = moment(row?.attempted_at ?? null)
      return row && at !== null ? [[row.channel, { at, error: row.error }]] : []
    }),
  )
}

function logged(db: Db) {
  return db
    .selectFrom('notifications')
    .selectAll()
    .where(({ or, eb }) => or([eb('channel', 'in', SHARED), eb('alert_id', 'is not', null)]))
}

async function toDeliveries(db: Db, rows: readonly Row[]): Promise<Delivery[]> {
  const contents = rows.map((row) => ({ row, content: contentOf(row) }))
  const ids = [...new Set(contents.flatMap(({ content }) => content.userId ?? []))]
  const people =
    ids.length === 0 ? [] : await db.selectFrom('users').select(['id', 'username']).where('id', 'in', ids).execute()
  const names = new Map(people.map(({ id, username }) => [id, username]))
  return contents.map(({ row, content: { title, path, userId } }) => ({
    id: String(row.id),
    channel: row.channel,
    event: row.kind,
    title,
    path: path ?? null,
    person: names.get(userId ?? '') ?? null,
    state: row.state,
    attempts: row.attempts,
    createdAt: new Date(row.created_at).toISOString(),
    attemptedAt: moment(row.attempted_at),
    nextAttemptAt: row.state === 'waiting' ? moment(row.due_at) : null,
    error: row.error,
  }))
}

function contentOf({ content }: Row): Content {
  return JSON.parse(content) as Content
}

function moment(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
