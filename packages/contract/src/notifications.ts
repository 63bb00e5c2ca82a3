import { z } from 'zod'
import { call } from './call.ts'

const delivery = z.object({
  /** `off`: this hub has no such channel, or nobody to tell. */
  status: z.enum(['sent', 'failed', 'off']),
  /** What happened, for a person. */
  message: z.string(),
})

/** Which channels this hub was started with, and how much waits to go out. */
export const readNotificationChannels = call({
  method: 'GET',
  path: '/v1/admin/notifications',
  response: z.object({
    /** HUB_SMTP_URL is set. */
    email: z.boolean(),
    /** HUB_WEBHOOK_URL is set. */
    webhook: z.boolean(),
    waiting: z.number().int(),
    failed: z.number().int(),
  }),
})

/** Sends a test message over every channel now, whatever the switches say, and tells how that went. */
export const sendTestNotification = call({
  method: 'POST',
  path: '/v1/admin/notifications/test',
  response: z.object({ email: delivery, webhook: delivery }),
})
