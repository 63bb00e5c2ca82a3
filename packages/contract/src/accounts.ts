import { z } from 'zod'
import { call } from './call.ts'
import { changedFields } from './edits.ts'
import { cleanLine, emailAddress, oneLine } from './fields.ts'

/**
 * From the least to the most powerful. The table in docs/security.md lists what each role may do; a new user is a
 * `user`.
 */
export const role = z.enum(['user', 'manager', 'admin'])
export type Role = z.output<typeof role>

/** Whether `own` is at least `required`. */
export function hasRole(own: Role, required: Role): boolean {
  return role.options.indexOf(own) >= role.options.indexOf(required)
}

export const USERNAME_MIN_LENGTH = 3
export const PASSWORD_MIN_LENGTH = 8
/** The hub refuses a longer password before it hashes it. */
const PASSWORD_MAX_LENGTH = 1_024

/** Alphabets that share lookalike letters. */
const ALPHABETS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]

/** Letters and digits of any script and `. _ - @ +`; the hub also refuses a name that looks like another user's. */
export const username = z
  .string({ error: 'Enter a username' })
  .trim()
  .min(USERNAME_MIN_LENGTH, 'Username must be at least 3 characters long')
  .max(64, 'Username must be at most 64 characters long')
  .regex(/^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}._@+-])+$/u, {
    error: 'A username may hold letters, digits and . _ - @ + only',
    abort: true,
  })
  .refine(
    (name) => ALPHABETS.filter((alphabet) => alphabet.test(name)).length <= 1,
    'A username may not mix letters of different alphabets',
  )

/** The rules for every password; with `passwordComplexity` the hub has more of them (`password_too_weak`). */
export const newPassword = z
  .string({ error: 'Enter a password' })
  .min(PASSWORD_MIN_LENGTH, 'Password must be at least 8 characters long')
  .max(PASSWORD_MAX_LENGTH, 'Password must be at most 1024 characters long')

const currentPassword = z
  .string({ error: 'Enter your password' })
  .min(1, 'Enter your password')
  .max(PASSWORD_MAX_LENGTH, 'This is too long for a password')

export const personName = oneLine(100)

/** The signed-in person. */
export const sessionUser = z.object({
  id: z.string(),
  username: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role,
  /** The hub requires two-factor and this person has none yet: all other calls answer `two_factor_setup_required`. */
  mustSetUpTwoFactor: z.boolean(),
  /** The sign-in provider that opened this session; absent for the hub's own sign-in. */
  provider: z.string().optional(),
})
export type SessionUser = z.output<typeof sessionUser>

const signedIn = z.object({ accessToken: z.string(), user: sessionUser })

export const credentials = z.strictObject({
  /** Cleaned, because the log and the audit show it. */
  username: cleanLine(200).min(1, 'Enter your username'),
  password: currentPassword,
})

/** With two-factor the answer is a challenge, valid for 5 minutes and 5 codes, for `loginTwoFactor`. */
export const login = call({
  method: 'POST',
  path: '/v1/auth/login',
  body: credentials,
  errors: ['invalid_credentials', 'local_sign_in_off', 'account_inactive', 'session_ended', 'too_many_requests'],
  response: z.union([signedIn, z.object({ twoFactorRequired: z.literal(true), challenge: z.string() })]),
})

/** Six digits of an authenticator app or a recovery code; setting up two-factor takes the digits only. */
const twoFactorCode = z.string({ error: 'Enter the code' }).trim().min(1, 'Enter the code').max(50)

/** The second step of signing in. */
export const loginTwoFactor = call({
  method: 'POST',
  path: '/v1/auth/login/two-factor',
  body: z.strictObject({ challenge: z.string().min(1).max(200), code: twoFactorCode }),
  errors: ['challenge_ended', 'two_factor_code_wrong', 'two_factor_disabled', 'session_ended', 'too_many_requests'],
  response: signedIn,
})

export const validateSession = call({ method: 'GET', path: '/v1/auth/validate', response: sessionUser })

/** Exchanges a valid access token for a new one. The portal calls it only while the person is active. */
export const renewSession = call({
  method: 'POST',
  path: '/v1/auth/renew',
  response: z.object({ accessToken: z.string() }),
})

/** Ends the token's session on the hub. */
export const logout = call({ method: 'POST', path: '/v1/auth/logout', response: null })

export const registrationInfo = call({
  method: 'GET',
  path: '/v1/auth/registration-info',
  response: z.object({ inviteCodeRequired: z.boolean(), openRegistration: z.boolean() }),
})

/** Creates the caller's own account. Its role is the invitation's, else `user`. */
export const registerAccount = call({
  method: 'POST',
  path: '/v1/auth/register',
  body: z.strictObject({
    username,
    email: emailAddress,
    password: newPassword,
    firstName: z.string({ error: 'Enter your first name' }).pipe(personName.min(1, 'Enter your first name')),
    lastName: z.string({ error: 'Enter your last name' }).pipe(personName.min(1, 'Enter your last name')),
    /** Required when `registrationInfo` says so; the hub always checks a code that is present. */
    inviteCode: z.string().trim().max(100).optional(),
  }),
  errors: ['registration_closed', 'invite_code_invalid', 'username_taken', 'password_too_weak', 'too_many_requests'],
  response: z.object({ username: z.string(), role }),
})

export const profile = z.object({
  username: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role,
  createdAt: z.iso.datetime(),
  /** False: only a provider signs the person in. */
  hasPassword: z.boolean(),
  twoFactorEnabled: z.boolean(),
  /** How many of the ten recovery codes are unused; 0 without two-factor. */
  recoveryCodesLeft: z.number().int(),
})
export type Profile = z.output<typeof profile>

export const readProfile = call({ method: 'GET', path: '/v1/auth/profile', response: profile })

export const profileFields = z.strictObject({ email: emailAddress, firstName: personName, lastName: personName })

/** A new address takes the password: links that set another one go there. */
const forNewAddress = { currentPassword: currentPassword.optional() }

export const editProfile = call({
  method: 'PATCH',
  path: '/v1/auth/profile',
  body: changedFields(profileFields).extend(forNewAddress),
  errors: ['changed_meanwhile', 'password_wrong'],
  response: profile,
})

/** The whole of what `editProfile` changes. */
export const saveProfile = call({
  method: 'PUT',
  path: '/v1/auth/profile',
  deprecated: true,
  body: profileFields.extend(forNewAddress),
  errors: ['password_wrong'],
  response: profile,
})

/** Ends every session of the person and opens a new one here. `password_wrong` when the current password is wrong. */
export const changePassword = call({
  method: 'POST',
  path: '/v1/auth/password',
  body: z.strictObject({ currentPassword, newPassword }),
  errors: ['password_wrong', 'password_too_weak', 'too_many_requests'],
  response: z.object({ accessToken: z.string() }),
})

export const session = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  sourceIp: z.string(),
  userAgent: z.string(),
  /** The session of this request. */
  current: z.boolean(),
})
export type Session = z.output<typeof session>

/** The caller's own sessions that have not ended, newest first. */
export const listSessions = call({ method: 'GET', path: '/v1/auth/sessions', response: z.array(session) })

/** Ends one of the caller's own sessions; somebody else's is `session_not_found`. */
export const endSession = call({
  method: 'DELETE',
  path: '/v1/auth/sessions/:id',
  params: z.strictObject({ id: z.uuid('This is not a session id') }),
  errors: ['session_not_found'],
  response: null,
})

/** A new secret. It takes effect when `enableTwoFactor` confirms it; each call replaces the previous secret. */
export const setUpTwoFactor = call({
  method: 'POST',
  path: '/v1/auth/two-factor/setup',
  body: z.strictObject({ password: currentPassword }),
  /** `otpauthUrl` is the content of a QR code for authenticator apps; `secret` is base32 for typing. */
  errors: ['password_wrong', 'two_factor_enabled', 'too_many_requests'],
  response: z.object({ secret: z.string(), otpauthUrl: z.string() }),
})

/** The only answer that contains the recovery codes: ten, each valid once instead of a code. */
export const enableTwoFactor = call({
  method: 'POST',
  path: '/v1/auth/two-factor/enable',
  body: z.strictObject({ code: twoFactorCode }),
  errors: ['two_factor_code_wrong', 'two_factor_disabled', 'two_factor_enabled', 'too_many_requests'],
  response: z.object({ recoveryCodes: z.array(z.string()) }),
})

export const disableTwoFactor = call({
  method: 'POST',
  path: '/v1/auth/two-factor/disable',
  body: z.strictObject({ password: currentPassword, code: twoFactorCode }),
  errors: ['password_wrong', 'two_factor_code_wrong', 'two_factor_disabled', 'too_many_requests'],
  response: null,
})

/** Replaces the remaining recovery codes by ten new ones. Only this answer contains them. */
export const renewRecoveryCodes = call({
  method: 'POST',
  path: '/v1/auth/two-factor/recovery-codes',
  body: z.strictObject({ password: currentPassword, code: twoFactorCode }),
  errors: ['password_wrong', 'two_factor_code_wrong', 'two_factor_disabled', 'too_many_requests'],
  response: z.object({ recoveryCodes: z.array(z.string()) }),
})
