import type { Call, ErrorCode } from '@hedgerow/contract'
import { audienceOf, type Access, type Audience } from '../access/policy.ts'
import { countsAsWrite } from '../access/write-limit.ts'

const OF_A_SESSION: readonly ErrorCode[] = [
  'session_required',
  'session_ended',
  'account_inactive',
  'token_not_allowed',
]

/** Refusals because of the caller or the caller's address. */
const OF_ACCESS: Readonly<Record<Audience, readonly ErrorCode[]>> = {
  anyone: ['origin_not_allowed'],
  session: OF_A_SESSION,
  user: [...OF_A_SESSION, 'two_factor_setup_required'],
  manager: [...OF_A_SESSION, 'two_factor_setup_required', 'role_required'],
  admin: [...OF_A_SESSION, 'two_factor_setup_required', 'role_required'],
  gateway: ['browser_refused'],
  member: ['browser_refused'],
}

/** A body is read for every method but GET, even where the call has none. */
const OF_A_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'json_too_complex',
  'payload_too_large',
  'unsupported_media_type',
]

/** Failures of the hub itself. */
const OF_EVERY_CALL: readonly ErrorCode[] = ['invalid_request', 'internal_error', 'storage_unavailable']

/** Every code that a call may answer with: those of its kind, and those that it declares in the contract. */
export function errorsOf(call: Call & { access: Access }): ErrorCode[] {
  const codes = [
    ...OF_EVERY_CALL,
    ...OF_ACCESS[audienceOf(call.access)],
    ...(call.method === 'GET' ? [] : OF_A_BODY),
    ...(typeof call.access !== 'string' && countsAsWrite(call) ? (['too_many_requests'] as const) : []),
    ...(call.errors ?? []),
  ]
  return [...new Set(codes)]
}
