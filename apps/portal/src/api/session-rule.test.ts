import { errorTable } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { createRedirectGate, endsSession, SESSION_EXPIRED_MESSAGE } from './session-rule.ts'

it.each([
  [401, 'session_ended', '/gateways', true],
  [401, undefined, '/dashboard', true],
  [403, 'account_inactive', '/gateways', true],
  [403, undefined, '/gateways', true],
  [403, 'role_required', '/gateways', false],
  [403, 'application_role_required', '/proxy/gateway/1', false],
  [401, 'role_required', '/gateways', true],
  [401, 'invalid_credentials', '/login', false],
  [403, 'account_inactive', '/login', false],
  [401, 'session_ended', '/register', false],
  [404, 'gateway_not_found', '/gateways', false],
  [429, 'claim_locked', '/gateways', false],
  [500, 'internal_error', '/gateways', false],
  [0, 'unreachable', '/gateways', false],
])('a %i with %s at %s ends the session: %s', (status, error, path, ends) => {
  expect(endsSession({ status, error, path })).toBe(ends)
})

it('lets one redirect through and suppresses others for a second', () => {
  let nowMs = 5_000
  const mayRedirect = createRedirectGate(() => nowMs)
  expect(mayRedirect()).toBe(true)
  nowMs += 999
  expect(mayRedirect()).toBe(false)
  nowMs += 1
  expect(mayRedirect()).toBe(true)
})

it('has the message of the hub', () => {
  expect(SESSION_EXPIRED_MESSAGE).toBe(errorTable.session_ended.message)
})
