import { z } from 'zod'
import { role } from './accounts.ts'
import { call } from './call.ts'
import { emailAddress, oneLine, wholeNumber } from './fields.ts'
import { searchQuery } from './lists.ts'

export const userInvitation = z.object({
  id: z.string(),
  label: z.string(),
  /** The role of an account that is created with it. */
  role,
  /** `used_up`, `expired` and `revoked` invitations no longer work. */
  status: z.enum(['active', 'used_up', 'expired', 'revoked']),
  uses: z.number().int(),
  maxUses: z.number().int(),
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  /** A username, or `hub` for one from the command line. */
  createdBy: z.string(),
})
export type UserInvitation = z.output<typeof userInvitation>

/** Newest first; `q` matches the label, role or creator. Without the codes: only `createUserInvitation` returns one. */
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
  /** The hub sends the link there. */
  email: emailAddress.optional(),
})

/** The only answer that contains the code. */
export const createUserInvitation = call({
  method: 'POST',
  path: '/v1/admin/user-invitations',
  body: newUserInvitation,
  errors: ['local_sign_in_off', 'mail_unavailable'],
  response: z.object({
    invitation: userInvitation,
    code: z.string(),
    /** Where an address was given: why the mail was not sent, in a sentence. */
    mail: z.object({ to: z.string(), problem: z.string().nullable() }).optional(),
  }),
})

/** The invitation stops working; accounts that were created with it stay. */
export const revokeUserInvitation = call({
  method: 'DELETE',
  path: '/v1/admin/user-invitations/:id',
  params: z.strictObject({ id: z.uuid('This is not an invitation id') }),
  errors: ['user_invitation_not_found'],
  response: null,
})
