import { z } from 'zod'
import { newPassword } from './accounts.ts'
import { call } from './call.ts'
import { cleanLine } from './fields.ts'

export const RESET_LINK_MINUTES = 30

/**
 * Sends a link by mail that sets a new password, where the hub sends mail and an active account has this username or
 * address. The answer is the same for every name, and comes before the hub has looked.
 */
export const requestPasswordReset = call({
  method: 'POST',
  path: '/v1/auth/password-reset',
  body: z.strictObject({
    who: cleanLine(254).min(1, 'Enter your username or your email address'),
  }),
  errors: ['local_sign_in_off', 'mail_unavailable', 'too_many_requests'],
  response: null,
})

/** Uses the link: its session-less token works once. All sessions and tokens of the person end. */
export const completePasswordReset = call({
  method: 'POST',
  path: '/v1/auth/password-reset/complete',
  body: z.strictObject({ token: z.string().min(1).max(100), newPassword }),
  errors: ['local_sign_in_off', 'reset_link_invalid', 'password_too_weak', 'too_many_requests'],
  response: z.object({ username: z.string() }),
})
