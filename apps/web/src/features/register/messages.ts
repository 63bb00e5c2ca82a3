/** The sentences of specification sections 5 and 8 for this screen that are the portal's own. */
import { ApiError } from '#api/client.ts'

export const REGISTERED = 'Registration successful! You can now log in.'
export const PASSWORDS_DIFFER = 'Passwords do not match'
export const INVITE_CODE_MISSING = 'Invite code is required'
const FAILED = 'Registration failed'

/** The hub's own words, or the default where something else answered in its place. */
export function failureOf(error: unknown): string {
  return error instanceof ApiError && error.code !== 'unknown' ? error.message : FAILED
}
