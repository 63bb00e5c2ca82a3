/**
 * Refuses calls of gateways while more come than the hub can serve, such as when a large fleet returns from an outage.
 * It watches the delay of the event loop, because people's pages wait as long. A refusal costs a part of what the call
 * would, and its Retry-After spreads the fleet. What waits on a gateway's disk is refused earlier than heartbeats,
 * without which it counts as offline.
 */
import { onceAMinute } from '@hedgerow/http'
import type { Logger } from 'pino'
import { HubError } from '../kernel/hub-error.ts'
import { createTasks } from '../kernel/tasks.ts'

export type LoadShedding = {
  /** Throws `hub_busy` when the hub must shed load. */
  check(kind: 'heartbeat' | 'other'): void
  /** Measures the delay; called every `LOOK_EVERY_MS`. */
  look(): void
  stop(): Promise<void>
}

/** A hub with fewer calls is busy with something else, and refusing them would not help it. */
const CALLS_A_SECOND = 200
const DELAY_LIMITS_MS = { heartbeat: 200, other: 50 }
const RETRY_AFTER_MS = { least: 4_000, most: 16_000 }
const LOOK_EVERY_MS = 50
/** The weight of a new look: one long task alone is no sign of load. */
const NEW_WEIGHT = 0.2
/** A process that was stopped for minutes is no busier than that. */
const LATE_MAX_MS = 1_000
const SECOND_MS = 1_000

export function createLoadShedding({
  log,
  monotonic = () => performance.now(),
  random = Math.random,
}: {
  log: Pick<Logger, 'warn'>
  monotonic?: () => number
  random?: () => number
}): LoadShedding {
  let delayMs = 0
  let lookedAtMs = monotonic()
  let counted = { sinceMs: monotonic(), calls: 0, rateBefore: 0 }
  const report = onceAMinute((_first: undefined, refused) =>
    log.warn({ refused }, 'gateways call more than this hub can serve now: they were told to come later'),
  )

  function look(): void {
    const now = monotonic()
    const lateMs = Math.min(LATE_MAX_MS, Math.max(0, now - lookedAtMs - LOOK_EVERY_MS))
    lookedAtMs = now
    delayMs += (lateMs - delayMs) * NEW_WEIGHT
  }

  function callsASecond(): number {
    const now = monotonic()
    const ageMs = now - counted.sinceMs
    if (ageMs >= SECOND_MS) counted = { sinceMs: now, calls: 0, rateBefore: (counted.calls / ageMs) * SECOND_MS }
    counted.calls += 1
    return Math.max(counted.calls, counted.rateBefore)
  }

  const tasks = createTasks({ log, name: 'load-shedding', on: 'each hub', failure: 'could not measure the load' })
  tasks.every(LOOK_EVERY_MS, look)
  return {
    look,
    check(kind) {
      if (callsASecond() <= CALLS_A_SECOND || delayMs <= DELAY_LIMITS_MS[kind]) return
      report(undefined)
      const { least, most } = RETRY_AFTER_MS
      throw new HubError('hub_busy', { retryAfterMs: least + random() * (most - least) })
    },
    stop: () => tasks.stop(),
  }
}
