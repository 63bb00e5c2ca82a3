import { z } from 'zod'
import { call } from './call.ts'

const delivery = z.object({
  /** `off`: this hub has no such channel, or no recipient. */
  status: z.enum(['sent', 'failed', 'off']),
  /** The result, in words. */
  message: z.string(),
})

/** The channels that this hub was started with, and how many messages are waiting. */
export const readNotificationChannels = call({
  method: 'GET',
  path: '/v1/admin/notifications',
  response: z.object({
    /** HUB_SMTP_URL is set. */
    email: z.boolean(),
    /** HUB_WEBHOOK_URL is set. */
    webhook: z.boolean(),
    /** Whether this hub was started with a channel, by its name. */
    channels: z.record(z.string(), z.boolean()),
    waiting: z.number().int(),
    failed: z.number().int(),
  }),
})

/** Sends a test message over every channel now, also when notifications are off, and answers the results. */
export const sendTestNotification = call({
  method: 'POST',
  path: '/v1/admin/notifications/test',
  response: z.object({ email: delivery, webhook: delivery, channels: z.record(z.string(), delivery) }),
})
