import * as contract from '@hedgerow/contract'
import type { ResponseOf } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Caller } from '../access/sessions.ts'
import type { Db, Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { HubError } from '../kernel/hub-error.ts'
import { by, record } from '../facts/facts.ts'
import { inTransaction } from '../database/transaction.ts'
import { lastOutcomes, listDeliveries, sendAgain } from './deliveries.ts'
import type { Notifications } from './notifications.ts'
import type { SavedChannels } from './saved-channels.ts'

const UNKNOWN = 'This hub has no such channel.'
/** The channel that the hub has by itself: notices behind the bell. */
const PORTAL = 'portal'
const UNTESTED = { status: 'off', message: 'This channel was not tested.' } as const

type Dependencies = {
  db: Kysely<Tables>
  notifications: Notifications
  saved: SavedChannels
  portal: {
    /** Puts a test notice behind the caller's bell. */
    test(transaction: Db, caller: Caller, at: number): Promise<void>
    /** When somebody last got a notice, in milliseconds since 1970. */
    lastAt(db: Db): Promise<number | undefined>
  }
}

/** The calls for the channels: their settings, their state, a test message, and the log of deliveries. */
export function notificationRoutes(app: FastifyInstance, { db, notifications, saved, portal }: Dependencies): void {
  mount(app, contract.readNotificationChannels, async () => {
    const { channels, problems, waiting, failed } = await notifications.status()
    const noticeAt = await portal.lastAt(db)
    return {
      email: channels['email'] ?? false,
      webhook: channels['webhook'] ?? false,
      channels: { [PORTAL]: true, ...channels },
      problems,
      last: {
        ...(noticeAt !== undefined && { [PORTAL]: { at: new Date(noticeAt).toISOString(), error: null } }),
        ...(await lastOutcomes(db)),
      },
      waiting,
      failed,
    }
  })
  mount(app, contract.listChannelSetups, () => saved.list(db))
  for (const call of [contract.editChannelSetup, contract.saveChannelSetup])
    mount(app, call, ({ params: { name }, body, act }) =>
      saved.save(db, name, { ...body, isWhole: call.method === 'PUT' }, act),
    )
  mount(app, contract.sendTestNotification, async ({ query: { channel }, act }) => {
    const { channels: configured } = await notifications.status()
    if (channel !== undefined && channel !== PORTAL && !Object.hasOwn(configured, channel))
      throw new HubError('invalid_request', { fieldErrors: { channel: UNKNOWN } })
    const isOverPortal = channel === undefined || channel === PORTAL
    await inTransaction(db, async (transaction) => {
      if (isOverPortal) await portal.test(transaction, act.actor, act.now)
      await record(transaction, {
        kind: 'notification.tested',
        ...by(act),
        target: channel ?? 'all channels',
        data: {},
      })
    })
    const channels: ResponseOf<typeof contract.sendTestNotification>['channels'] = {
      ...(isOverPortal && { [PORTAL]: { status: 'sent' as const, message: 'It is behind your bell.' } }),
      ...(channel !== PORTAL && (await notifications.test(channel))),
    }
    const { email = UNTESTED, webhook = UNTESTED } = channels
    return { email, webhook, channels }
  })
  mount(app, contract.listDeliveries, ({ query, reply }) => listDeliveries(db, query, reply))
  mount(app, contract.sendDeliveryAgain, ({ params, act }) => sendAgain(db, Number(params.id), notifications, act))
}
