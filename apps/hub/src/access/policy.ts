import type { Role } from '@hedgerow/contract'
import type { CallKey } from '@hedgerow/contract/calls'

/**
 * Who may make a call: `anyone`; a signed-in person of at least a role; anyone with a `session`, even one that may only
 * set up two-factor; a `gateway`, which proves its keys inside the call; or a `member`, an approved gateway: by its
 * source address on the tunnel's API, which has only these calls, and by its signature on the public one.
 */
export type Access = 'anyone' | SessionAccess | 'gateway' | 'member'
export type SessionAccess = 'session' | Role

/**
 * The access of every call of the hub, by `METHOD path`, the path relative to `/api` as in the contract. The compiler
 * refuses a call without a line, and a line without a call.
 */
export const policy: Readonly<Record<string, Access>> = {
  'POST /v1/auth/login': 'anyone',
  'POST /v1/auth/login/two-factor': 'anyone',
  'GET /v1/auth/validate': 'session',
  'POST /v1/auth/renew': 'session',
  'POST /v1/auth/logout': 'session',
  'GET /v1/auth/registration-info': 'anyone',
  'POST /v1/auth/register': 'anyone',
  'GET /v1/auth/profile': 'user',
  'PUT /v1/auth/profile': 'user',
  'POST /v1/auth/password': 'user',
  'GET /v1/auth/sessions': 'user',
  'DELETE /v1/auth/sessions/:id': 'user',
  'POST /v1/auth/two-factor/setup': 'session',
  'POST /v1/auth/two-factor/enable': 'session',
  'POST /v1/auth/two-factor/disable': 'user',
  'POST /v1/auth/two-factor/recovery-codes': 'user',

  'GET /v1/hub/users': 'manager',
  'POST /v1/hub/users': 'admin',
  'PUT /v1/hub/users/:id': 'admin',
  'DELETE /v1/hub/users/:id': 'admin',
  'DELETE /v1/hub/users/:id/two-factor': 'admin',
  'GET /v1/admin/user-invitations': 'manager',
  'POST /v1/admin/user-invitations': 'admin',
  'DELETE /v1/admin/user-invitations/:id': 'admin',

  'GET /v1/hub/stats': 'user',
  'GET /v1/hub/problems': 'user',
  'GET /v1/hub/activity/recent': 'user',
  'GET /v1/hub/timeline': 'user',
  'GET /v1/hub/events': 'user',
  'GET /v1/hub/certificates': 'user',
  'POST /v1/hub/certificates/:id/renew': 'admin',
  'GET /v1/admin/audit': 'manager',

  'GET /v1/hub/gateways': 'user',
  'POST /v1/hub/gateways': 'manager',
  'GET /v1/hub/gateways/:id': 'user',
  'PUT /v1/hub/gateways/:id': 'manager',
  'DELETE /v1/hub/gateways/:id': 'manager',
  'GET /v1/hub/versions': 'manager',
  'POST /v1/hub/updates': 'manager',
  'POST /v1/hub/updates/resume': 'manager',
  'GET /v1/hub/gateways/:id/history': 'user',
  'GET /v1/hub/gateways/:id/detections': 'user',
  'GET /v1/hub/gateways/:id/detections/:detectionId/thumbnail': 'user',
  'GET /v1/hub/gateways/:id/detections/:detectionId/snapshot': 'user',
  'GET /v1/hub/gateways/:id/detections/:detectionId/clip': 'user',
  'POST /v1/hub/gateways/:id/detections/:detectionId/clip-link': 'user',
  'GET /v1/hub/gateways/:id/reviews': 'user',
  'GET /v1/hub/saved-views': 'user',
  'POST /v1/hub/saved-views': 'user',
  'DELETE /v1/hub/saved-views/:id': 'user',
  'GET /v1/hub/clips/:link': 'anyone',
  'GET /v1/hub/cameras': 'user',
  'GET /v1/hub/gateways/:id/cameras/:camera/latest': 'user',
  'GET /v1/hub/alert-rules': 'manager',
  'POST /v1/hub/alert-rules': 'admin',
  'PUT /v1/hub/alert-rules/:id': 'admin',
  'DELETE /v1/hub/alert-rules/:id': 'admin',
  'POST /v1/hub/alert-rules/preview': 'manager',
  'GET /v1/hub/alerts': 'user',
  'POST /v1/hub/alerts/:id/acknowledge': 'user',
  'GET /v1/hub/notices': 'user',
  'POST /v1/hub/notices/read': 'user',
  'GET /v1/auth/alert-preferences': 'user',
  'PUT /v1/auth/alert-preferences': 'user',
  'GET /v1/auth/push': 'user',
  'POST /v1/auth/push': 'user',
  'DELETE /v1/auth/push/:id': 'user',
  'POST /v1/auth/push/:id/test': 'user',
  'GET /v1/alert-links/picture': 'anyone',
  'POST /v1/alert-links/read': 'anyone',
  'POST /v1/alert-links/acknowledge': 'anyone',
  'GET /v1/hub/incidents': 'user',
  'GET /v1/hub/incidents/counts': 'user',
  'GET /v1/hub/incidents/export': 'user',
  'GET /v1/hub/incidents/:id': 'user',
  'POST /v1/hub/incidents/review': 'user',
  'GET /v1/hub/gateways/:id/vpn-config': 'manager',
  'GET /v1/hub/gateways/:id/ledger': 'user',
  'GET /v1/hub/gateways/:id/commands': 'user',
  'POST /v1/hub/gateways/:id/commands/fire': 'manager',
  'POST /v1/hub/gateways/:id/commands/stop': 'user',
  'POST /v1/hub/gateways/:id/commands/arm': 'manager',
  'POST /v1/hub/gateways/:id/commands/disarm': 'user',
  'POST /v1/hub/gateways/:id/commands/undo-learning': 'manager',
  'GET /v1/hub/gateways/:id/learning': 'user',
  'POST /v1/gateway/validate-access': 'user',
  'POST /v1/gateway/claim': 'user',
  'POST /v1/gateway/:id/ui-ticket': 'user',

  'POST /v1/gateway/register/challenge': 'gateway',
  'POST /v1/gateway/register': 'gateway',
  'POST /v1/gateway/register/:registrationId/status': 'gateway',
  'GET /v1/admin/gateway-requests/pending': 'user',
  'POST /v1/admin/gateway-requests/:registrationId/approve': 'manager',
  'POST /v1/admin/gateway-requests/:registrationId/reject': 'manager',
  'GET /v1/admin/gateway-requests/sources': 'manager',
  'POST /v1/admin/gateway-requests/reject-source': 'manager',
  'GET /v1/admin/gateway-requests/rejected': 'manager',
  'POST /v1/admin/gateway-requests/:registrationId/lift': 'manager',
  'GET /v1/admin/gateway-invitations': 'manager',
  'POST /v1/admin/gateway-invitations': 'manager',
  'DELETE /v1/admin/gateway-invitations/:id': 'manager',
  'GET /v1/admin/auto-approval/settings': 'manager',
  'POST /v1/admin/auto-approval/settings': 'admin',
  'POST /v1/admin/auto-approval/test': 'manager',
  'GET /v1/admin/notifications': 'manager',
  'POST /v1/admin/notifications/test': 'admin',
  'GET /v1/admin/deliveries': 'manager',
  'GET /v1/admin/home-assistant': 'manager',
  'POST /v1/admin/deliveries/:id/send-again': 'admin',

  'GET /v1/hub/settings': 'user',
  'PUT /v1/hub/settings': 'admin',

  'POST /v1/gateway/heartbeat': 'member',
  'POST /v1/gateway/detections': 'member',
  'POST /v1/gateway/ledger': 'member',
  'POST /v1/gateway/reviews': 'member',
  'POST /v1/gateway/second-look': 'member',
} satisfies Record<CallKey, Access>

const RANK: Record<Role, number> = { user: 0, manager: 1, admin: 2 }

/** Whether `role` is at least `required`. */
export function hasRole(role: Role, required: Role): boolean {
  return RANK[role] >= RANK[required]
}
