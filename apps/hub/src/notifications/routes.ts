import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { HubError } from '../kernel/hub-error.ts'
import { actorOf, record } from '../facts/facts.ts'
import { lastOutcomes, listDeliveries, sendAgain } from './deliveries.ts'
import type { Notifications } from './notifications.ts'

const UNKNOWN = 'This hub has no such channel.'
const UNTESTED = { status: 'off', message: 'This channel was not tested.' } as const

/** The calls for the channels: their state, a test message, and the log of deliveries. */
export function notificationRoutes(
  app: FastifyInstance,
  { db, clock, notifications }: { db: Kysely<Tables>; clock: () => number; notifications: Notifications },
): void {
  mount(app, contract.readNotificationChannels, async () => {
    const { channels, waiting, failed } = await notifications.status()
    return {
      email: channels['email'] ?? false,
      webhook: channels['webhook'] ?? false,
      channels: { portal: true, ...channels },
      last: await lastOutcomes(db),
      waiting,
      failed,
    }
  })
  mount(app, contract.sendTestNotification, async ({ query: { channel }, caller, sourceIp }) => {
    const { channels: known } = await notifications.status()
    if (channel !== undefined && !Object.hasOwn(known, channel))
      throw new HubError('invalid_request', { fieldErrors: { channel: UNKNOWN } })
    await record(db, {
      kind: 'notification.tested',
      at: clock(),
      actor: actorOf({ caller, sourceIp }),
      target: channel ?? 'all channels',
      data: {},
    })
    const channels = await notifications.test(channel)
    const { email = UNTESTED, webhook = UNTESTED } = channels
    return { email, webhook, channels }
  })
  mount(app, contract.listDeliveries, ({ query, reply }) => listDeliveries(db, query, reply))
  mount(app, contract.sendDeliveryAgain, ({ params, caller, sourceIp }) =>
    sendAgain(db, Number(params.id), { notifications, now: clock(), caller, sourceIp }),
  )
}
