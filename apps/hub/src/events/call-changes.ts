import { API_BASE, type EventTopic } from '@hedgerow/contract'
import type { FastifyRequest } from 'fastify'
import type { Change } from './events.ts'

/** What a call changes when it succeeds; a test holds every call that is no GET to having a line. */
export const topicsByCall: Readonly<Record<string, readonly EventTopic[]>> = {
  'POST /v1/auth/login': [],
  'POST /v1/auth/renew': [],
  'POST /v1/auth/logout': [],
  'POST /v1/auth/login/two-factor': [],
  'POST /v1/auth/register': ['users', 'stats', 'invitations', 'activity'],
  'PUT /v1/auth/profile': ['users', 'gateways'],
  'POST /v1/auth/password': [],
  'POST /v1/auth/two-factor/setup': [],
  'POST /v1/auth/two-factor/enable': ['users'],
  'POST /v1/auth/two-factor/disable': ['users'],
  'POST /v1/auth/two-factor/recovery-codes': [],
  'DELETE /v1/auth/sessions/:id': [],
  'POST /v1/hub/users': ['users', 'stats', 'activity'],
  'PUT /v1/hub/users/:id': ['users', 'stats', 'gateways', 'activity'],
  'DELETE /v1/hub/users/:id': ['users', 'stats', 'gateways', 'activity'],
  'DELETE /v1/hub/users/:id/two-factor': ['users', 'activity'],
  'POST /v1/admin/user-invitations': ['invitations', 'activity'],
  'DELETE /v1/admin/user-invitations/:id': ['invitations', 'activity'],

  'POST /v1/hub/gateways': [],
  'PUT /v1/hub/gateways/:id': [],
  'DELETE /v1/hub/gateways/:id': [],
  'POST /v1/gateway/validate-access': [],
  'POST /v1/gateway/claim': [],
  'POST /v1/gateway/:id/ui-ticket': [],

  'POST /v1/gateway/register/challenge': [],
  'POST /v1/gateway/register': [],
  'POST /v1/gateway/register/:registrationId/status': [],
  'POST /v1/admin/gateway-requests/:registrationId/approve': [],
  'POST /v1/admin/gateway-requests/:registrationId/reject': [],
  'POST /v1/admin/gateway-requests/reject-source': [],
  'POST /v1/admin/gateway-requests/:registrationId/lift': [],
  'POST /v1/admin/gateway-invitations': [],
  'DELETE /v1/admin/gateway-invitations/:id': [],
  'POST /v1/admin/auto-approval/settings': [],
  'POST /v1/admin/auto-approval/test': [],
  'POST /v1/admin/notifications/test': [],

  'PUT /v1/hub/settings': ['settings', 'stats', 'activity'],
  'POST /v1/hub/certificates/:id/renew': ['certificates', 'activity'],

  // Told by hub.ts, which knows the gateway.
  'POST /v1/gateway/heartbeat': [],
  'POST /v1/gateway/detections': [],
}

/** What a request that succeeded has changed. */
export function changesOf(request: FastifyRequest): Change[] {
  const key = `${request.method} ${(request.routeOptions.url ?? '').slice(API_BASE.length)}`
  return (topicsByCall[key] ?? []).map((topic) => ({ topic }))
}
