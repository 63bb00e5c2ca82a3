import { z } from 'zod'
import { role } from './accounts.ts'
import { call } from './call.ts'
import { oneLine, wholeNumber } from './fields.ts'

export const TOKEN_PREFIX = 'hgr_'
export const TOKENS_MAX = 50

/** `read`: calls that change nothing. */
export const tokenAccess = z.enum(['read', 'all'])

/** A token with which a program makes calls for a person, without the token itself. */
export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  /** It never has more than its person has at the time. */
  role,
  access: tokenAccess,
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** To the minute; null before its first call. */
  lastUsedAt: z.iso.datetime().nullable(),
})
export type ApiToken = z.output<typeof apiToken>

export const tokenFields = z.strictObject({
  /** The audit names it; no two tokens of a person have the same. */
  name: z.string({ error: 'Enter a name' }).pipe(oneLine(60).min(1, 'Enter a name')),
  /** Left out, it is that of the caller. */
  role: role.optional(),
  access: tokenAccess.default('read'),
  expiresInDays: wholeNumber(1, 3_650).default(90),
})

const newToken = tokenFields.extend({
  password: z.string({ error: 'Enter your password' }).min(1, 'Enter your password').max(1_024),
})

/** The caller's own, newest first, with those that have expired. */
export const listTokens = call({ method: 'GET', path: '/v1/auth/tokens', response: z.array(apiToken) })

/** The only answer that contains the token. It takes the password, so that a stolen session makes none. */
export const createToken = call({
  method: 'POST',
  path: '/v1/auth/tokens',
  body: newToken,
  errors: ['password_wrong', 'token_role_too_high', 'token_name_taken', 'too_many_tokens', 'too_many_requests'],
  response: z.object({ token: z.string(), details: apiToken }),
})

/** It ends at once, with what it is reading. */
export const revokeToken = call({
  method: 'DELETE',
  path: '/v1/auth/tokens/:id',
  params: z.strictObject({ id: z.uuid('This is not a token id') }),
  errors: ['token_not_found'],
  response: null,
})
