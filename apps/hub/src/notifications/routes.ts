import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { actorOf, record } from '../kernel/facts.ts'
import type { Notifications } from './notifications.ts'

/** Which channels there are, and whether they work. */
export function notificationRoutes(
  app: FastifyInstance,
  { db, clock, notifications }: { db: Kysely<Tables>; clock: () => number; notifications: Notifications },
): void {
  mount(app, contract.readNotificationChannels, () => notifications.status())
  mount(app, contract.sendTestNotification, async ({ caller, sourceIp }) => {
    await record(db, { kind: 'notification.tested', at: clock(), actor: actorOf({ caller, sourceIp }), data: {} })
    return notifications.test()
  })
}
