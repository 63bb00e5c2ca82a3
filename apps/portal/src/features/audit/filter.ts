/** The filter of the audit log. Pure. */
import type { listAudit, QueryOf } from '@hedgerow/contract'

/** `from` and `to` are days as a date field has them, `to` included. */
export type Filter = { search: string; action: string; from: string; to: string }

export const EVERYTHING: Filter = { search: '', action: '', from: '', to: '' }

/** The nouns that actions begin with, and their names for a person. */
export const ACTIONS: readonly (readonly [string, string])[] = [
  ['', 'Any action'],
  ['session', 'Sign-in'],
  ['two-factor', 'Two-factor'],
  ['identity', 'Wrong passwords and codes'],
  ['call', 'Calls not allowed'],
  ['user', 'Users'],
  ['user-invitation', 'User invitations'],
  ['profile', 'Profiles'],
  ['push', 'Push messages'],
  ['gateway', 'Gateways'],
  ['incident', 'Reviews'],
  ['alert', 'Alerts'],
  ['alert-rule', 'Alert rules'],
  ['registration', 'Registrations'],
  ['gateway-invitation', 'Gateway invitations'],
  ['auto-approval', 'Auto-approval'],
  ['settings', 'Settings'],
  ['certificate', 'Certificates'],
  ['notification', 'Notifications'],
]

type AuditQuery = NonNullable<QueryOf<typeof listAudit>>

/** Days begin at the browser's midnight. */
export function queryOf({ search, action, from, to }: Filter): AuditQuery {
  return {
    ...(search.trim() !== '' && { q: search.trim().slice(0, 100) }),
    ...(action !== '' && { action }),
    ...(from !== '' && { from: midnight(from, 0) }),
    ...(to !== '' && { to: midnight(to, 1) }),
  }
}

/** Midnight at the beginning of `day`, or `daysLater` days later. */
function midnight(day: string, daysLater: number): string {
  const date = new Date(`${day}T00:00:00`)
  // Calendar days, because a day with a change of the clock has 23 or 25 hours.
  date.setDate(date.getDate() + daysLater)
  return date.toISOString()
}
