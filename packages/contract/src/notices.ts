import { z } from 'zod'
import { alert } from './alerts.ts'
import { call } from './call.ts'
import { changedFields } from './edits.ts'
import { hoursByDay, language, oneLine, timeZone } from './fields.ts'

/** The caller's own notices in the portal: the newest 50, and how many are unread in all. */
export const listNotices = call({
  method: 'GET',
  path: '/v1/hub/notices',
  response: z.object({ unread: z.number().int(), notices: z.array(alert.extend({ isRead: z.boolean() })) }),
})

export const readNotices = call({ method: 'POST', path: '/v1/hub/notices/read', response: null })

/** How alerts reach a person. */
export const alertPreferences = z.strictObject({
  language,
  /** Push messages of these hours are sent afterwards, unless their rule breaks through. */
  quietHours: hoursByDay.nullable(),
  timeZone,
})
export type AlertPreferences = z.output<typeof alertPreferences>

export const readAlertPreferences = call({
  method: 'GET',
  path: '/v1/auth/alert-preferences',
  response: alertPreferences,
})

export const editAlertPreferences = call({
  method: 'PATCH',
  path: '/v1/auth/alert-preferences',
  body: changedFields(alertPreferences),
  errors: ['changed_meanwhile'],
  response: alertPreferences,
})

/** The whole of what `editAlertPreferences` changes. */
export const saveAlertPreferences = call({
  method: 'PUT',
  path: '/v1/auth/alert-preferences',
  deprecated: true,
  body: alertPreferences,
  response: alertPreferences,
})

/** A browser that shows push messages. */
export const pushSubscription = z.object({
  id: z.string(),
  userAgent: z.string(),
  createdAt: z.iso.datetime(),
  /** When it last received a message, and why the last one failed. */
  lastAt: z.iso.datetime().nullable(),
  lastError: z.string().nullable(),
})
export type PushSubscription = z.output<typeof pushSubscription>

/** The key that a browser subscribes with (RFC 8292, base64url), and the caller's own browsers. */
export const readPush = call({
  method: 'GET',
  path: '/v1/auth/push',
  response: z.object({ publicKey: z.string(), subscriptions: z.array(pushSubscription) }),
})

const base64url = (bytes: number) =>
  z.string().regex(new RegExp(`^[\\w-]{${Math.ceil((bytes * 4) / 3)}}={0,2}$`), `Must be ${bytes} bytes in base64url`)

/** The result of the browser's `PushSubscription.toJSON()`. A known endpoint becomes the caller's. */
export const subscribePush = call({
  method: 'POST',
  path: '/v1/auth/push',
  body: z.strictObject({
    endpoint: z
      .url({ protocol: /^https$/, error: 'Must be an https:// address' })
      .max(1_000)
      .pipe(oneLine(1_000)),
    keys: z.strictObject({ p256dh: base64url(65), auth: base64url(16) }),
  }),
  errors: ['push_endpoint_refused', 'too_many_push_subscriptions'],
  response: pushSubscription,
})

const byId = z.strictObject({ id: z.string().regex(/^[\w-]{1,40}$/, 'This is not the id of a browser') })

export const unsubscribePush = call({
  method: 'DELETE',
  path: '/v1/auth/push/:id',
  params: byId,
  errors: ['push_subscription_not_found'],
  response: null,
})

/** Sends a test message to this browser now, and answers with the result. */
export const testPush = call({
  method: 'POST',
  path: '/v1/auth/push/:id/test',
  params: byId,
  errors: ['push_subscription_not_found'],
  response: z.object({ status: z.enum(['sent', 'failed']), message: z.string() }),
})
