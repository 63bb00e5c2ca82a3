/**
 * Which gateways have had a problem for so long that people are told: a hold-off keeps reboots and short outages to
 * themselves. Keeps no rows: the key of each announcement makes sure that, also after a restart of the hub, an outage is
 * told once and a warning once a day.
 */
import type { Announcement } from '../notifications/notifications.ts'
import type { FleetStatus } from './fleet.ts'

export const HOLD_OFF_MS = 5 * 60_000
const DAY_MS = 86_400_000
/** What has been silent for longer is no news to anybody. */
const NEWS_MS = 7 * DAY_MS

export type OutageAlerts = {
  /** What to tell of these statuses now; each problem comes up once. */
  observe(statuses: readonly FleetStatus[], now: number): Announcement[]
}

export function createOutageAlerts(): OutageAlerts {
  let problems = new Map<string, { status: FleetStatus['status']; since: number; isTold: boolean }>()

  return {
    observe(statuses, now) {
      const before = problems
      problems = new Map()
      const announcements: Announcement[] = []
      for (const gateway of statuses) {
        if (gateway.status === 'online') continue
        const known = before.get(gateway.id)
        const problem = known?.status === gateway.status ? known : { status: gateway.status, since: now, isTold: false }
        problems.set(gateway.id, problem)
        if (problem.isTold || now - problem.since < HOLD_OFF_MS) continue
        problem.isTold = true
        const announcement = announcementOf(gateway, now)
        if (announcement) announcements.push(announcement)
      }
      return announcements
    },
  }
}

function announcementOf({ id, name, status, reason, lastSeenAt }: FleetStatus, now: number): Announcement | undefined {
  const data = { gatewayId: id, name, status, reason }
  if (status === 'warning')
    return {
      key: `gateway.quiet ${id} warning ${Math.floor(now / DAY_MS)}`,
      kind: 'gateway.quiet',
      title: `Gateway "${name}" has a warning`,
      text: reason,
      data,
    }
  // One that was never there cannot have gone.
  if (lastSeenAt === undefined || now - lastSeenAt > NEWS_MS) return undefined
  return {
    key: `gateway.quiet ${id} offline ${Math.floor(lastSeenAt)}`,
    kind: 'gateway.quiet',
    title: `Gateway "${name}" is offline`,
    text: reason,
    data,
  }
}
