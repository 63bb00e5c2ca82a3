import { z } from 'zod'
import { call } from './call.ts'

/** What each role may do is the table in docs/security.md; a new user is a `user`. */
export const role = z.enum(['user', 'manager', 'admin'])
export type Role = z.output<typeof role>

/** The signed-in person. */
export const sessionUser = z.object({
  id: z.string(),
  username: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role,
})
export type SessionUser = z.output<typeof sessionUser>

export const credentials = z.strictObject({
  username: z.string().trim().min(1, 'Enter your username').max(200),
  password: z.string().min(1, 'Enter your password').max(1_024),
})

export const login = call({
  method: 'POST',
  path: '/v1/auth/login',
  body: credentials,
  response: z.object({ accessToken: z.string(), user: sessionUser }),
})

export const validateSession = call({ method: 'GET', path: '/v1/auth/validate', response: sessionUser })

/** Exchanges a living access token for a fresh one. The portal calls it only while the person is active. */
export const renewSession = call({
  method: 'POST',
  path: '/v1/auth/renew',
  response: z.object({ accessToken: z.string() }),
})

/** Ends the session that the token belongs to, on the hub too. */
export const logout = call({ method: 'POST', path: '/v1/auth/logout', response: null })
