import { z } from 'zod'
import { call } from './call.ts'
import { pageQuery } from './lists.ts'

const testResult = z.object({
  /** `off`: the channel is not set up, is switched off, or has no recipient. */
  status: z.enum(['sent', 'failed', 'off']),
  /** The result, in words. */
  message: z.string(),
})

/** The channels that work now, and how many messages are waiting. */
export const readNotificationChannels = call({
  method: 'GET',
  path: '/v1/admin/notifications',
  response: z.object({
    /** Mail is set up and on. */
    email: z.boolean(),
    /** The webhook is set up and on. */
    webhook: z.boolean(),
    /** Whether a channel is set up and on, by its name. */
    channels: z.record(z.string(), z.boolean()),
    /** Why such a channel reaches nobody now, in a sentence: a mail server without an address. */
    problems: z.record(z.string(), z.string()),
    /** The last attempt of each channel that was used, tests included. */
    last: z.record(
      z.string(),
      z.object({
        at: z.iso.datetime(),
        /** Why it failed, in a sentence; null when it was delivered. */
        error: z.string().nullable(),
      }),
    ),
    waiting: z.number().int(),
    failed: z.number().int(),
  }),
})

const channelName = z.string().regex(/^[a-z-]{1,30}$/, 'This is not the name of a channel')

/**
 * Sends a test message over a channel, or over every one, also when notifications are off, and answers with the
 * results.
 */
export const sendTestNotification = call({
  method: 'POST',
  path: '/v1/admin/notifications/test',
  query: z.strictObject({ channel: channelName.optional() }),
  response: z.object({ email: testResult, webhook: testResult, channels: z.record(z.string(), testResult) }),
})

const deliveryId = z.string().regex(/^\d{1,15}$/, 'This is not the id of a delivery')
const deliveryState = z.enum(['waiting', 'sending', 'sent', 'failed'])

/** One message over one channel. It holds no secret, because links and signatures are made when it is sent. */
export const delivery = z.object({
  id: deliveryId,
  channel: z.string(),
  /** The event name of the webhook, such as `incident.alert`. */
  event: z.string(),
  title: z.string(),
  /** The page of the portal about it. */
  path: z.string().nullable(),
  /** The username of its recipient; null for a channel that people share. */
  person: z.string().nullable(),
  /** `waiting` with an `attemptedAt` failed and is tried again at `nextAttemptAt`; `failed` was given up. */
  state: deliveryState,
  attempts: z.number().int(),
  createdAt: z.iso.datetime(),
  /** When the last attempt ended. */
  attemptedAt: z.iso.datetime().nullable(),
  nextAttemptAt: z.iso.datetime().nullable(),
  /** Why the last attempt failed, in a sentence. */
  error: z.string().nullable(),
})
export type Delivery = z.output<typeof delivery>

/**
 * The log of outgoing messages: newest first, 50 or `limit`. It has all messages of alert rules and of shared channels,
 * but no mail to a person about their own account. The newest 50,000 messages are kept, for `logRetentionDays`.
 */
export const listDeliveries = call({
  method: 'GET',
  path: '/v1/admin/deliveries',
  query: pageQuery.extend({ channel: channelName.optional(), state: deliveryState.optional() }),
  response: z.array(delivery),
})

/**
 * Sends a message of the log once more, now: a webhook with the same `X-Hedgerow-Delivery` and a new timestamp and
 * signature. Answers before it is sent.
 */
export const sendDeliveryAgain = call({
  method: 'POST',
  path: '/v1/admin/deliveries/:id/send-again',
  params: z.strictObject({ id: deliveryId }),
  errors: ['delivery_not_found', 'delivery_under_way', 'channel_off'],
  response: delivery,
})

/** What a message to a program is about. */
export const messageEvent = z.enum([
  'registration.pending',
  'registration.held',
  'incident.alert',
  'gateway.quiet',
  'gateway.back',
  'gateway.warning',
  'camera.dark',
  'camera.back',
  'deterrent.failed',
  'storage.low',
  'certificate.expiring',
  'backup.failed',
  'test',
])
export type MessageEvent = z.output<typeof messageEvent>

/** What the webhook posts; over MQTT programs get the same. */
export const webhookMessage = z.strictObject({
  /** The same at every attempt. */
  id: z.string(),
  event: messageEvent,
  at: z.iso.datetime(),
  title: z.string(),
  text: z.string(),
  /** The page of the portal about it. */
  url: z.url().optional(),
  data: z.record(z.string(), z.string().nullable()),
  /** For an alert: a page with a button for people, and the call and its token for programs. */
  acknowledge: z.object({ page: z.url(), call: z.url(), token: z.string() }).optional(),
  /** A JPEG. */
  picture: z.base64().optional(),
})

export const webhookHeaders = z.strictObject({
  'X-Hedgerow-Delivery': z.string().describe("The message's id."),
  'X-Hedgerow-Timestamp': z.string().describe('When this attempt was signed, in seconds since 1970.'),
  'X-Hedgerow-Signature': z
    .string()
    .describe('`sha256=` and the HMAC-SHA-256, in hexadecimal, of the timestamp, a dot and the body.'),
})
