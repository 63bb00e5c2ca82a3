import { z } from 'zod'
import { role } from './accounts.ts'
import { call } from './call.ts'
import { oneLine, wholeNumber } from './fields.ts'
import { searchQuery } from './lists.ts'

export const userInvitation = z.object({
  id: z.string(),
  label: z.string(),
  /** What an account made with it becomes. */
  role,
  /** `used_up`, `expired` and `revoked` ones let nobody in any more. */
  status: z.enum(['active', 'used_up', 'expired', 'revoked']),
  uses: z.number().int(),
  maxUses: z.number().int(),
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  /** A username, or `hub` for one from the command line. */
  createdBy: z.string(),
})
export type UserInvitation = z.output<typeof userInvitation>

/**
 * Newest first; `q` is part of the label, role or creator. Never their codes: those are shown once, at their creation.
 */
export const listUserInvitations = call({
  method: 'GET',
  path: '/v1/admin/user-invitations',
  query: searchQuery,
  response: z.array(userInvitation),
})

export const newUserInvitation = z.strictObject({
  label: oneLine(100).default(''),
  role: role.default('user'),
  maxUses: wholeNumber(1, 10_000).default(1),
  expiresInHours: wholeNumber(1, 8_760).default(168),
})

/** The only answer that holds the code. */
export const createUserInvitation = call({
  method: 'POST',
  path: '/v1/admin/user-invitations',
  body: newUserInvitation,
  response: z.object({ invitation: userInvitation, code: z.string() }),
})

/** Lets nobody in from now on; accounts that it made stay. */
export const revokeUserInvitation = call({
  method: 'DELETE',
  path: '/v1/admin/user-invitations/:id',
  params: z.strictObject({ id: z.uuid('This is not an invitation id') }),
  errors: ['user_invitation_not_found'],
  response: null,
})
