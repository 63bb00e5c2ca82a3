import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { writeAudit } from '../audit/audit.ts'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import type { Notifications } from './notifications.ts'

/** Which channels there are, and whether they work. */
export function notificationRoutes(
  app: FastifyInstance,
  { db, notifications }: { db: Kysely<Tables>; notifications: Notifications },
): void {
  mount(app, contract.readNotificationChannels, () => notifications.status())
  mount(app, contract.sendTestNotification, async ({ caller, sourceIp }) => {
    await writeAudit(db, {
      actor: caller.username,
      actorId: caller.userId,
      action: 'notification.test',
      sourceIp,
      result: 'ok',
    })
    return notifications.test()
  })
}
