import { z } from 'zod'
import { newPassword, personName, role, username } from './accounts.ts'
import { call } from './call.ts'
import { changedFields, wholeBody } from './edits.ts'
import { emailAddress } from './fields.ts'
import { searchQuery } from './lists.ts'

const userId = z.strictObject({ id: z.uuid('This is not a user id') })

export const hubUser = z.object({
  id: z.string(),
  username: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role,
  active: z.boolean(),
  twoFactorEnabled: z.boolean(),
  lastLogin: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})
export type HubUser = z.output<typeof hubUser>

/** By username. `q` matches usernames, names and email addresses. */
export const listUsers = call({
  method: 'GET',
  path: '/v1/hub/users',
  query: searchQuery,
  response: z.array(hubUser),
})

const userFields = z.strictObject({
  username,
  email: emailAddress,
  firstName: personName,
  lastName: personName,
  role,
  active: z.boolean(),
})
/** Left out or empty, the password stays. */
const replacedPassword = { password: z.union([z.literal(''), newPassword]).optional() }

export const newUser = userFields.extend({
  firstName: personName.default(''),
  lastName: personName.default(''),
  role: role.default('user'),
  active: z.boolean().default(true),
  password: newPassword,
})

/** `username_taken` also for a name that looks like another user's. */
export const createUser = call({
  method: 'POST',
  path: '/v1/hub/users',
  body: newUser,
  errors: ['username_taken', 'password_too_weak'],
  response: hubUser,
})

const EDIT_ERRORS = [
  'user_not_found',
  'last_admin',
  'username_taken',
  'password_too_weak',
  'changed_meanwhile',
] as const

/**
 * The whole user. A changed role, password or activity ends the user's sessions. The last active admin must stay an
 * active admin (`last_admin`).
 */
export const updateUser = call({
  method: 'PUT',
  path: '/v1/hub/users/:id',
  params: userId,
  body: wholeBody(userFields).extend(replacedPassword),
  errors: EDIT_ERRORS,
  response: hubUser,
})

/** As `updateUser`; fields that are left out keep their values. */
export const editUser = call({
  method: 'PATCH',
  path: '/v1/hub/users/:id',
  params: userId,
  body: changedFields(userFields).extend(replacedPassword),
  errors: EDIT_ERRORS,
  response: hubUser,
})

/** Gateways that the user claimed stay, without an owner. */
export const deleteUser = call({
  method: 'DELETE',
  path: '/v1/hub/users/:id',
  params: userId,
  errors: ['user_not_found', 'last_admin'],
  response: null,
})

/** For a person who lost both the authenticator and the recovery codes. Ends the user's sessions. */
export const resetUserTwoFactor = call({
  method: 'DELETE',
  path: '/v1/hub/users/:id/two-factor',
  params: userId,
  errors: ['user_not_found'],
  response: null,
})
