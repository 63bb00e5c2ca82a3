/** The targets of the dashboard's figures, lines and points. Pure, except for `threatsToday`'s clock. */
import type { ActivityEntry } from '@hedgerow/contract'

/** The last midnight of this browser. */
export function midnight(now = new Date()): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate())
}

/** Alerts since midnight. */
export function threatsToday(now = new Date()): string {
  const day = [now.getFullYear(), pad(now.getMonth() + 1), pad(now.getDate())].join('-')
  return `/threats?severity=alert&from=${day}`
}

/** Alerts of one hour. */
export function threatsOfHour(hour: string): string {
  const from = new Date(hour)
  const to = new Date(from.getTime() + 3_600_000)
  const parameters = new URLSearchParams({ severity: 'alert', from: from.toISOString(), to: to.toISOString() })
  return `/threats?${parameters}`
}

/** By the fact's kind, or its first word. */
const PLACES: Readonly<Record<string, string>> = {
  user: '/users',
  'user-invitation': '/users',
  registration: '/gateway-approvals',
  'gateway-invitation': '/gateway-invitations',
  'auto-approval': '/auto-approval-settings',
  gateway: '/gateways',
  rollout: '/versions',
  alert: '/alert-rules',
  settings: '/settings',
  'settings.restored': '/settings?tab=network',
  storage: '/settings',
  certificate: '/settings?tab=certificates',
}

/** Undefined when the target no longer exists. */
export function targetOf({ detection, gatewayId, kind }: ActivityEntry): string | undefined {
  if (detection !== null) return `/threats?incident=${detection.incidentId}`
  if (gatewayId !== null)
    return kind === 'detection.reported' ? `/threats?gateway=${gatewayId}` : `/gateways/${gatewayId}`
  return kind === null ? undefined : (PLACES[kind] ?? PLACES[kind.split('.')[0] ?? ''])
}

function pad(part: number): string {
  return String(part).padStart(2, '0')
}
