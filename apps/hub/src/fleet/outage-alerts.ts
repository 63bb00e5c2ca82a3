/**
 * Selects gateways whose problem has lasted long enough to notify people: a hold-off skips reboots and short outages.
 * It stores no rows: after a restart of the hub a problem appears again, but its notification's key makes sure that
 * people are notified once.
 */
import type { Fact } from '@hedgerow/contract'
import { HUB } from '../facts/facts.ts'
import type { FleetStatus } from './fleet.ts'

export const HOLD_OFF_MS = 5 * 60_000
/** Nobody is notified about gateways that have been silent for longer. */
const NEWS_MS = 7 * 86_400_000

export type OutageAlerts = {
  /** The gateways to notify people about now; each problem appears once. */
  observe(statuses: readonly FleetStatus[], now: number): Fact<'gateway.outage'>[]
}

export function createOutageAlerts(): OutageAlerts {
  let problems = new Map<string, { status: FleetStatus['status']; since: number; isTold: boolean }>()

  return {
    observe(statuses, now) {
      const before = problems
      problems = new Map()
      const told: Fact<'gateway.outage'>[] = []
      for (const gateway of statuses) {
        if (gateway.status === 'online') continue
        const known = before.get(gateway.id)
        const problem = known?.status === gateway.status ? known : { status: gateway.status, since: now, isTold: false }
        problems.set(gateway.id, problem)
        if (problem.isTold || Math.abs(now - problem.since) < HOLD_OFF_MS) continue
        problem.isTold = true
        if (isNews(gateway, now)) told.push(outageOf(gateway, now))
      }
      return told
    },
  }
}

/** A gateway that was never online cannot go offline. */
function isNews({ status, lastSeenAt }: FleetStatus, now: number): boolean {
  return status === 'warning' || (lastSeenAt !== undefined && now - lastSeenAt <= NEWS_MS)
}

function outageOf({ id, name, status, reason, lastSeenAt }: FleetStatus, at: number): Fact<'gateway.outage'> {
  const data = { name, status, reason, lastSeenAt: lastSeenAt ?? null }
  return { kind: 'gateway.outage', at, actor: HUB, target: id, gatewayId: id, data }
}
