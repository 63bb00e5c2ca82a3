import { API_BASE, type EventTopic } from '@hedgerow/contract'
import type { FastifyRequest } from 'fastify'
import type { Change } from './events.ts'

const FLEET = ['gateways', 'stats', 'activity'] as const
const QUEUE = ['registrations', 'activity'] as const

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

  'POST /v1/hub/gateways': FLEET,
  'PUT /v1/hub/gateways/:id': FLEET,
  'DELETE /v1/hub/gateways/:id': FLEET,
  'POST /v1/gateway/validate-access': [],
  'POST /v1/gateway/claim': [...FLEET, 'registrations'],
  'POST /v1/gateway/:id/ui-ticket': [],

  'POST /v1/gateway/register/challenge': [],
  'POST /v1/gateway/register': [...QUEUE, ...FLEET],
  'POST /v1/gateway/register/:registrationId/status': [],
  'POST /v1/admin/gateway-requests/:registrationId/approve': [...QUEUE, ...FLEET],
  'POST /v1/admin/gateway-requests/:registrationId/reject': QUEUE,
  'POST /v1/admin/gateway-requests/reject-source': QUEUE,
  'POST /v1/admin/gateway-requests/:registrationId/lift': QUEUE,
  'POST /v1/admin/gateway-invitations': ['invitations', 'activity'],
  'DELETE /v1/admin/gateway-invitations/:id': ['invitations', 'activity'],
  'POST /v1/admin/auto-approval/settings': ['settings', 'activity'],
  'POST /v1/admin/auto-approval/test': [],
  'POST /v1/admin/notifications/test': [],

  'PUT /v1/hub/settings': ['settings', 'stats', 'activity'],
  'POST /v1/hub/certificates/:id/renew': ['certificates', 'activity'],

  // Told by hub.ts, which knows the gateway.
  'POST /v1/gateway/heartbeat': [],
  'POST /v1/gateway/detections': [],
}

/** Calls on one gateway that exists are told to who may see it; a deleted one's owner can no longer be looked up. */
const OF_ONE_GATEWAY = /^PUT \/v1\/hub\/gateways\/:id/

/** What a request that succeeded has changed. */
export function changesOf(request: FastifyRequest): Change[] {
  const key = `${request.method} ${(request.routeOptions.url ?? '').slice(API_BASE.length)}`
  const gatewayId = OF_ONE_GATEWAY.test(key) ? (request.params as { id: string }).id : undefined
  return (topicsByCall[key] ?? []).map((topic) => ({ topic, gatewayId }))
}
